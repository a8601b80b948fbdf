#!/usr/bin/env bash
# Makes .venv: the locked packages, this project, and (where apt-get may be used) Chromium for the browser tests.
# Run it through `make setup`. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/../.."

python="${PYTHON:-python3}"
ready=.venv/.ready
chromium_log=.venv/chromium.log

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

has_chromium() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
} >/dev/null 2>&1

# Ubuntu's chromium package is only a door to the snap store; it may hang where no snapd runs.
may_install_chromium() {
    command -v apt-get >/dev/null && ! grep -qi '^ID=ubuntu' /etc/os-release &&
        { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

install_chromium() {
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive timeout 240 \
            apt-get install -y -qq --no-install-recommends chromium
}

# uv is many times faster than pip but reads none of pip's settings; where it cannot reach an index, pip can.
install_packages() {
    if .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r ops/setup/installer.lock &&
        .venv/bin/uv pip install -q --python .venv/bin/python --require-hashes -r requirements.lock; then
        return
    fi
    echo 'setup: uv could not install; trying pip with its own settings'
    .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "Python 3.11 or newer is needed and '$python' is not; try: make setup PYTHON=python3.12"
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    fail "'$python' has no venv module; on Debian and Ubuntu: apt-get install python3-venv"

started=$SECONDS
[ -x .venv/bin/python ] || "$python" -m venv .venv
rm -f "$ready"

chromium_pid=
if has_chromium; then
    :
elif may_install_chromium; then
    install_chromium >"$chromium_log" 2>&1 </dev/null &
    chromium_pid=$!
else
    echo 'setup: no Chromium found and apt-get is not ours to use; the browser tests will be skipped'
fi

echo 'setup: installing the locked packages into .venv'
install_packages
.venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation --editable .

if [ -n "$chromium_pid" ] && ! wait "$chromium_pid"; then
    echo "setup: Chromium could not be installed (see $chromium_log); the browser tests will be skipped"
fi
touch "$ready"
echo "setup: ready after $((SECONDS - started)) s"

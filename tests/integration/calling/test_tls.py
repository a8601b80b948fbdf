"""TLS over a pinned address: the certificate is still checked against the host's name."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.calls import CallFailed, CallOutcome, CallSucceeded, FailureReason
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving
from workers.calling.client import ApiClient
from workers.calling.egress import AllowList, EgressGuard
from workers.calling.plan import place
from workers.calling.signing import Signer
from workers.calling.tokens import TokenStore
from workers.calling.vault import Vault
from workers.runtime.settings import CallingSettings


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for api.test and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=api.test", "-addext", "subjectAltName=DNS:api.test", "-days", "2"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, *subject],
        check=True,
        capture_output=True,
    )
    return cert, key


async def _to_loopback(_host: str, _port: int) -> tuple[str, ...]:
    return ("127.0.0.1",)


async def _call(
    host: str, certificate: tuple[Path, Path], settings: CallingSettings, make_call: MakeCall, *, is_trusted: bool
) -> tuple[CallOutcome, list[str | None], Misbehaving]:
    """Serve TLS on loopback, call it as `host`, and return the outcome, the names that TLS was asked for, the log."""
    asked: list[str | None] = []
    behaving = Misbehaving()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(*certificate)
    serving.sni_callback = lambda _socket, name, _context: asked.append(name)
    listener = await asyncio.start_server(behaving.serve, "127.0.0.1", 0, ssl=serving)
    behaving.port = listener.sockets[0].getsockname()[1]
    trust = ssl.create_default_context(cafile=str(certificate[0]) if is_trusted else None)
    guard = EgressGuard(AllowList.parse("127.0.0.1"), resolve=_to_loopback)
    client = ApiClient(settings, guard, tls=trust)
    call = make_call(f"https://{host}:{behaving.port}/fine/x")

    async def go() -> None:
        return None

    outcome = await client.send(call, place(call), timeout_s=2, before_leaving=go)
    await client.aclose()
    listener.close()
    await asyncio.sleep(0.05)
    return outcome, asked, behaving


async def test_the_hosts_name_is_asked_for_verified_and_sent(
    certificate: tuple[Path, Path], settings: CallingSettings, make_call: MakeCall
) -> None:
    outcome, asked, server = await _call("api.test", certificate, settings, make_call, is_trusted=True)

    assert isinstance(outcome, CallSucceeded)
    assert asked == ["api.test"]
    assert server.seen[0].headers["host"] == f"api.test:{server.port}"


@pytest.mark.parametrize(("host", "is_trusted"), [("other.test", True), ("api.test", False)])
async def test_a_certificate_of_another_name_or_of_nobody_we_trust_ends_the_call_before_it_is_sent(
    certificate: tuple[Path, Path],
    settings: CallingSettings,
    make_call: MakeCall,
    host: str,
    is_trusted: bool,  # noqa: FBT001
) -> None:
    outcome, _, server = await _call(host, certificate, settings, make_call, is_trusted=is_trusted)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.UNREACHABLE
    assert server.seen == []


@pytest.mark.parametrize("has_certificate", [True, False])
async def test_an_endpoints_own_certificate_is_presented_to_its_host_and_to_no_other(
    certificate: tuple[Path, Path],
    settings: CallingSettings,
    make_call: MakeCall,
    has_certificate: bool,  # noqa: FBT001
) -> None:
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(*certificate)
    serving.load_verify_locations(certificate[0])
    serving.verify_mode = ssl.CERT_REQUIRED
    behaving = Misbehaving()
    listener = await asyncio.start_server(behaving.serve, "127.0.0.1", 0, ssl=serving)
    behaving.port = listener.sockets[0].getsockname()[1]
    trusting = settings.model_copy(update={"ca_file": str(certificate[0]), "secrets_dir": certificate[0].parent})
    client = ApiClient(trusting, EgressGuard(AllowList.parse("127.0.0.1"), resolve=_to_loopback))
    vault = Vault.open(trusting)
    signer = Signer(
        vault=vault,
        tokens=TokenStore(client, None, vault, timeout_s=1, shared=None),  # type: ignore[arg-type] # no token is asked for
        user_token_hosts=AllowList(),
    )
    own = {"client_certificate": {"certificate": "file:cert.pem", "key": "file:key.pem"}} if has_certificate else {}
    call = make_call(f"https://api.test:{behaving.port}/fine/x", **own)

    async def go() -> None:
        return None

    signed = await signer.sign(place(call), call.endpoint, user_token=None)
    outcome = await client.send(call, signed, timeout_s=2, before_leaving=go)
    await client.aclose()
    listener.close()
    await asyncio.sleep(0.05)

    assert isinstance(outcome, CallSucceeded) is has_certificate
    assert len(behaving.seen) == has_certificate


@pytest.mark.parametrize("text", ["", "no certificate"])
async def test_a_certificate_that_cannot_be_read_sends_nothing(
    tmp_path: Path, settings: CallingSettings, make_call: MakeCall, server: Misbehaving, text: str
) -> None:
    (tmp_path / "broken.pem").write_text(text)
    client = ApiClient(settings, EgressGuard(AllowList.parse("127.0.0.1")))
    call = make_call("/fine/x")

    async def go() -> None:
        return None

    request = replace(place(call), certificate=(str(tmp_path / "broken.pem"), None))
    outcome = await client.send(call, request, timeout_s=1, before_leaving=go)
    await client.aclose()

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.AUTH_MISSING
    assert server.seen == []

from __future__ import annotations

import subprocess
import sys

import pytest

from tasks import names


def test_the_task_modules_register_every_name_and_load_no_room() -> None:
    script = (
        "import sys; from tasks.app import app; app.loader.import_default_modules(); app.finalize(); "
        "print(*(t for t in app.tasks if t.startswith('signalbox.'))); "
        "print(*(m for m in sys.modules if m.startswith(('workers.wiring', 'workers.turn', 'workers.llm'))))"
    )

    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    registered, loaded = found.stdout.split("\n")[:2]

    assert set(registered.split()) == {value for name, value in vars(names).items() if name.isupper()}
    assert loaded == ""


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_redis_is_reached_over_our_transport_and_still_called_by_its_scheme(scheme: str) -> None:
    script = (
        f"from tasks.app import app; connection = app.connection('{scheme}://127.0.0.1:6390/0'); "
        "print(connection.transport_cls, connection.get_transport_cls().__module__, connection.as_uri(True))"
    )

    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert found.stdout.split() == [scheme, "tasks.transport", f"{scheme}://127.0.0.1:6390/0"]

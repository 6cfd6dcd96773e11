"""The simulated org where the extra for Pub/Sub API is not installed."""

from __future__ import annotations

import sys

from org_simulator.__main__ import main


def test_pubsub_is_refused_by_its_option_where_it_cannot_be_served(monkeypatch, capsys):
    """One line that names the option and the way to install the extra, before a port is opened; exit code 2."""
    for name in [name for name in sys.modules if name == "grpc" or name.startswith("org_simulator.pubsub")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "grpc", None)
    assert main(["--port", "0", "--pubsub-port", "0"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("org_simulator: --pubsub-port needs the extra 'pubsub': .venv/bin/pip install")

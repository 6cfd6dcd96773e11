"""What a lead shows of its job, and what is told where the lead refuses even that."""

from __future__ import annotations

from structlog.testing import capture_logs

from support.worker_rig import Rig


def test_a_lead_that_refuses_its_note_too_is_named_in_the_log(tmp_path):
    """P32: a rule that refuses every save refuses the mark as well; then the log and the dead job alone tell of it."""
    rig = Rig(tmp_path)
    try:
        (lead,) = rig.leads(1, Company="Locked")
        rig.forbid('Company = "Locked"', "Nobody saves this")
        with capture_logs() as logs:
            rig.drain()
        (settled,) = [line for line in logs if line["event"] == "lead_settled"]
        (unmarked,) = [line for line in logs if line["event"] == "lead_not_marked"]
    finally:
        rig.close()
    assert (settled["lead"], settled["ending"], settled["log_level"]) == (lead, "bury", "warning")
    assert "Nobody saves this" in settled["error"]
    assert (unmarked["lead"], unmarked["log_level"]) == (lead, "warning")
    assert "Nobody saves this" in unmarked["error"]

"""What a failed call of apprise came to, by what it told its log: surely not sent, refused, or not to be known."""

from __future__ import annotations

import pytest

from lead_router.hops.apprised import judged
from lead_router.ports.notices import Declined, Down, Unclear


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("Failed to send to Slack: Invalid token, error=404.", Down),
        ("Failed to send JSON POST notification: Bad Request, error=400.", Declined),
        ("Failed to send to Slack: error=200.", Unclear),
        ("Socket Exception: HTTPSConnectionPool(...): Max retries exceeded (Caused by NewConnectionError(...))", Down),
        ("Socket Exception: HTTPConnectionPool(...): Read timed out. (read timeout=6.0)", Unclear),
        ("Socket Exception: ('Connection aborted.', RemoteDisconnected('closed without response'))", Unclear),
        ("Socket Exception: ('Connection aborted.', ConnectionResetError(104, 'reset by peer'))", Unclear),
        ("Socket Exception: [Errno 111] Connection refused", Down),
        ("Socket Exception: [Errno -2] Name or service not known", Down),
        ("Socket Exception: [SSL: CERTIFICATE_VERIFY_FAILED] self signed", Down),
        ("Socket Exception: (535, b'5.7.8 authentication failed')", Down),
        ("Socket Exception: (421, b'try again later')", Down),
        ("Socket Exception: (554, b'message refused')", Declined),
        ("Socket Exception: {'a@x.example': (550, b'no such user')}", Declined),
        ("Socket Exception: timed out", Unclear),
        ("", Unclear),
    ],
)
def test_each_text_is_judged(told, kind):
    """Only what says that nothing was sent counts as that."""
    found = judged(["noise", told])
    assert isinstance(found, kind)
    assert "x.example" not in found.text

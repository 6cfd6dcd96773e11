"""The witness: what the org itself shows, read past the API so that it costs no call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import requests

from lead_router.demo.form import ANSWER_S, local_session

LEAD_CHANGES = "/data/LeadChangeEvent"
COMETD = "/cometd/68.0"
USER_PREFIX = "005"


@dataclass(frozen=True, slots=True)
class Tally:
    """How far the play is: leads and ledger rows in the org, API calls of everyone."""

    leads: int
    ledger: int
    api_calls: int


class Witness:
    """Reads the simulated org through its control calls and its change events. For one thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = local_session()

    def tally(self) -> Tally:
        """Counts of this moment."""
        state = self._json(self._session.get(f"{self._url}/simulator/state", timeout=ANSWER_S))
        counts = state["counts"]
        return Tally(counts.get("Lead", 0), counts.get("Lead_Assignment__c", 0), state["api_calls"])

    def rows(self, sobject: str) -> list[dict[str, Any]]:
        """All rows of an object, with all fields."""
        asked = {"sobject": sobject}
        found: list[dict[str, Any]] = self._json(
            self._session.get(f"{self._url}/simulator/rows", params=asked, timeout=ANSWER_S)
        )
        return found

    def token(self, username: str | None = None) -> str:
        """A session of the org for a user, by default the administrator."""
        asked = {} if username is None else {"username": username}
        return str(
            self._json(self._session.post(f"{self._url}/simulator/login", json=asked, timeout=ANSWER_S))["access_token"]
        )

    def lead_changes(self) -> Iterator[Mapping[str, Any]]:
        """Payloads of every change of a lead so far, in commit order."""
        heads = {"Authorization": f"Bearer {self.token()}"}

        def said(channel: str, **members: Any) -> list[dict[str, Any]]:
            call = [{"channel": channel, "id": "1", **members}]
            answer = self._session.post(self._url + COMETD, json=call, headers=heads, timeout=ANSWER_S)
            told: list[dict[str, Any]] = self._json(answer)
            return told

        (hello,) = said(
            "/meta/handshake", version="1.0", minimumVersion="1.0", supportedConnectionTypes=["long-polling"]
        )
        client = {"clientId": hello["clientId"]}
        said("/meta/subscribe", **client, subscription=LEAD_CHANGES, ext={"replay": {LEAD_CHANGES: -2}})
        connect = {**client, "connectionType": "long-polling", "advice": {"timeout": 0}}
        while events := [one for one in said("/meta/connect", **connect) if one["channel"] == LEAD_CHANGES]:
            for event in events:
                yield event["data"]["payload"]
        said("/meta/disconnect", **client)

    def close(self) -> None:
        """Free the sockets."""
        self._session.close()

    @staticmethod
    def _json(answer: requests.Response) -> Any:
        answer.raise_for_status()
        return answer.json()


def waits_ms(changes: Iterable[Mapping[str, Any]]) -> list[int]:
    """From the commit that created a lead to the commit that first gave it to a person, in milliseconds of the org."""
    created: dict[str, int] = {}
    waits: dict[str, int] = {}
    for change in changes:
        header = change["ChangeEventHeader"]
        for lead_id in header["recordIds"]:
            if header["changeType"] == "CREATE":
                created[lead_id] = header["commitTimestamp"]
            elif str(change.get("OwnerId", "")).startswith(USER_PREFIX) and lead_id in created:
                waits.setdefault(lead_id, header["commitTimestamp"] - created[lead_id])
    return sorted(waits.values())

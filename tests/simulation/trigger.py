"""The other writer in the same org, as it is shipped: the trigger and its classes route within the saves of people.

Nobody can act in the midst of a save. What the Apex leaves behind commits (waves, the jobs of the scheduled sweep) runs
later, when the play lets it. Its writes are told apart from those of the person in whose transaction they stand, so
that every promise is asked of them as of a router's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from org_simulator.apex.automation import Automation
from org_simulator.apex.faults import ParserMissing, Thrown
from org_simulator.apex.invoking import construct, dispatch
from org_simulator.apex.program import Program, load
from org_simulator.changes import RowChange
from org_simulator.failures import Failure
from org_simulator.schema import default_metadata
from org_simulator.schema import load as load_schema

if TYPE_CHECKING:
    from org_simulator.apex.session import Session
    from simulation.play import Play

PROJECT = Path(__file__).parents[2] / "salesforce_metadata"
SETTING = "Lead_Routing_Setting__mdt"
ACTION = "RouteLeadAction"
MODES = ("In_CRM", "In_CRM", "Event", "Off")
SIZES = (1, 2, 200, 200)  # of what a transaction routes itself, and of a wave
ALARMS = ("failed", "could not start", "was ended")
"""Words of alerts that tell of a fault of the Apex itself."""


@lru_cache
def program() -> Program | None:
    """The shipped trigger and classes, read once a process; None where the parser is not installed."""
    try:
        return load(PROJECT, load_schema(default_metadata()), tests=False)
    except ParserMissing:
        return None


class _Watched(Automation):
    """Knows whether a transaction is Apex from its beginning, or a person's, with the trigger in its midst."""

    whole = False
    mails: tuple[dict[str, Any], ...] = ()

    def call(self, user_id: str, work: Callable[[Session], Any], *, asynchronous: bool = False) -> Any:
        before, self.whole = self.whole, True
        try:
            return super().call(user_id, lambda session: self._kept(session, work), asynchronous=asynchronous)
        finally:
            self.whole = before

    def _kept(self, session: Session, work: Callable[[Session], Any]) -> Any:
        try:
            return work(session)
        finally:
            self.mails += tuple(session.mails)


class Trigger:
    """The shipped Apex in the org of a play, by settings that the seed draws."""

    running: tuple[str, ...] = ()
    """Nothing of it is ever in mid step while others act."""

    def __init__(self, play: Play, shipped: Program) -> None:
        self.play, self.org = play, play.org
        self._shipped = shipped
        self.apex = self.org.automation = _Watched(self.org, shipped)
        dice, firm = play.dice, play.company
        self.mode = dice.choice(MODES)
        self._say(
            Mode__c=self.mode,
            Intake_Queues__c=",".join(firm.intake_names),
            Intake_Statuses__c=",".join(firm.intake_statuses) or None,
            Guard__c=dice.random() < 0.5,
            Max_Leads__c=dice.choice(SIZES),
            Wave_Size__c=dice.choice(SIZES),
            Beyond_Max__c=dice.choice(("Waves", "Waves", "Event")),
            Alert_Address__c="admin@sim.example",
        )

    def routes(self, leads: Sequence[str], *, new: bool) -> None:
        """Someone presses the button of these leads; `new` ones were routed when they were saved.

        Often it is turned on for that very moment: so both routers come to decide the same leads.
        """
        if self.mode != "In_CRM" and self.play.dice.random() < 0.5:
            self._turn("In_CRM")
        if new or not leads:
            return
        self.play.note(f"the action routes {' '.join(leads)}")
        try:
            self.apex.invoke_action(self.org.admin_user_id, ACTION, [{"leadId": lead} for lead in leads])
        except Failure as fault:
            self.play.surprises.append(f"the action: {fault}")
        self._hears()

    def works(self) -> None:
        """The scheduled sweep, and the jobs that it starts."""
        self.play.note("the sweep inside")
        sweep = self._shipped.classes["routingsweep"]
        [execute] = sweep.methods["execute"]
        try:
            self.apex.call(
                self.org.admin_user_id,
                lambda session: dispatch(session, execute, construct(session, sweep, ()), [None]),
            )
        except Thrown as fault:
            self.play.surprises.append(f"the sweep inside: {fault}")
        self.goes_on()

    def goes_on(self) -> None:
        """What was left behind commits."""
        if self.apex.waiting:
            self.play.note(f"{self.apex.waiting} jobs inside")
            self.apex.work()
        self._hears()

    def turns(self) -> None:
        """An administrator turns it off, or on again."""
        self._turn(self.play.dice.choice(MODES))

    def mends(self) -> None:
        """After the storm it is on; who waits is found."""
        if self.mode == "Off":
            self._turn("In_CRM")

    def _turn(self, mode: str) -> None:
        self.mode = mode
        self.play.note(f"the router inside is {mode}")
        self._say(Mode__c=mode)

    def parts(self, changes: Sequence[RowChange]) -> Iterator[tuple[list[RowChange], bool]]:
        """The changes of one commit of somebody who is no router, by who wrote them: the person, or the Apex (True).

        What a person saves comes first of each lead; all that is no lead, the Apex wrote beside one.
        """
        saved: set[str] = set()
        beside = any(change.sobject == "Lead" for change in changes)

        def inside(change: RowChange) -> bool:
            if self.apex.whole or change.sobject != "Lead" or change.id in saved:
                return self.apex.whole or beside
            saved.add(change.id)
            return False

        for by_apex, several in groupby(changes, inside):
            part = list(several)
            failed = [one.id for one in part if one.sobject == "Lead" and _fails(one)] if by_apex else []
            self.play.surprises += [f"{lead_id} failed inside" for lead_id in failed]
            yield part, by_apex

    def _say(self, **fields: Any) -> None:
        with self.org.system_transaction(self.org.admin_user_id) as opened:
            [found] = [row for row in opened.rows(SETTING) if row["DeveloperName"] == "Default"]
            opened.update(SETTING, found["Id"], fields)

    def _hears(self) -> None:
        """What jobs died of, and alerts of faults, are surprises."""
        faults, mails = list(self.apex.failures), self.apex.mails
        self.apex.failures.clear()
        self.apex.mails = ()
        self.play.surprises += [f"a job inside: {fault}" for fault in faults]
        subjects = [str(mail["Subject"]) for mail in mails]
        self.play.surprises += [f"an alert: {each}" for each in subjects if any(word in each for word in ALARMS)]


def _fails(change: RowChange) -> bool:
    """Whether the Apex gives the lead up; nothing in a play is a reason to."""
    before, after = change.before or {}, change.after or {}
    return after.get("Routing_Status__c") == "Failed" != before.get("Routing_Status__c")

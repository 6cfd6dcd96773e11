"""An org over REST: the one implementation of the port `Org` that production uses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lead_router.core.ids import to18
from lead_router.core.keys import lead_key
from lead_router.core.model import Batch, Configuration, Group, Lead, Match, Mode, Snapshot
from lead_router.errors import BadCriteria, ContractMismatch, Misconfigured
from lead_router.ports import MARKS_MAX, Fill, LeadMoved, Mark, Overridden, Receipt, Refusal, Unfilled
from lead_router.salesforce import activities, filling, marking, matching, queries, records, sweeping
from lead_router.salesforce.commit import receipt
from lead_router.salesforce.configuration import Found, Intake, configured, field_types
from lead_router.salesforce.glance import Whole, glanced, parts
from lead_router.salesforce.ledger import ledger_parts, rows_of
from lead_router.salesforce.names import LedgerFields, Objects, Permissions, Standard
from lead_router.salesforce.people import People, asking, people, reading, together, told, told_match
from lead_router.salesforce.reading import read
from lead_router.salesforce.records import Row
from lead_router.salesforce.rest import Rest, Subrequest
from lead_router.salesforce.writes import WRITES_MAX, compose

HOLIDAYS_SINCE = timedelta(days=2)  # what is over in every zone, and in the night that began on it


class SalesforceOrg:
    """The org behind `rest`. All threads may share one; `now` gives aware UTC times."""

    def __init__(self, rest: Rest, intake: Intake, *, now: Callable[[], datetime], lock_touch: bool = True) -> None:
        self._rest = rest
        self._intake = intake
        self._now = now
        self._lock_touch = lock_touch
        self._lock = threading.Lock()
        self._types: Mapping[str, str] = {}
        self._types_of = ""
        self._readable: frozenset[str] = frozenset()
        self._people = People()
        self._whole: Whole | None = None
        self._groups: Mapping[str, Group] = {}

    def configuration(self) -> Configuration:
        """Rules, groups, hours, absences and people in two calls, and the fields of Lead when they are first needed.

        A rule may use a field that is newer than what is known of Lead: then Lead is described again, once.
        """
        found, known = self._found()
        found, configuration = self._configured(found)
        self._refuse_hidden(matching.objects(matching.kinds(configuration)))
        with self._lock:
            self._people = known
            self._whole = Whole(self._rest.token().org_id, found, known)
            self._groups = {group.id: group for group in found.groups}
        return configuration

    def foreseen(self, change: Callable[[Sequence[Row]], Sequence[Row]]) -> Configuration:
        """What a load would answer, or raise, if `change` had been made to the active rules; nothing is put in force.

        Whether the router's own user may read what matched owners are found by is not asked: another one asks here.
        """
        found, _ = self._found()
        return self._configured(replace(found, rules=change(found.rules)))[1]

    def glance(self) -> Configuration:
        """Rules, groups with members, hours and absences in one call; all is read where that does not do."""
        with self._lock:
            whole = self._whole
        if whole is None or whole.org_id != self._rest.token().org_id:
            return self.configuration()
        now = self._now()
        found = glanced(read(self._rest, parts(now, now - HOLIDAYS_SINCE)), whole)
        try:
            if found is not None:
                configuration = configured(self._intake, found)
                self._refuse_hidden(matching.objects(matching.kinds(configuration)))
                self._groups = {group.id: group for group in found.groups}
                return configuration
        except Misconfigured:
            pass  # perhaps for want of what a glance does not see
        return self.configuration()

    def groups(self) -> Mapping[str, Group]:
        """All groups as they were last read, by id, without a call; none before the first read."""
        return self._groups

    def snapshot(
        self, configuration: Configuration, lead_ids: Sequence[str], submission_keys: Sequence[str]
    ) -> Snapshot:
        """Groups with their members, leads, then ledger: one call for at most 200 leads and 400 keys.

        A second call follows where a member has a cap on open leads, a rule asks for matching records, or a lead is
        not there. A count read after its group is never older than the turn that a commit rests on.
        """
        ids = list(dict.fromkeys(lead_ids))
        if len(ids) > WRITES_MAX:
            raise ValueError(f"a snapshot is of at most {WRITES_MAX} leads, not {len(ids)}")
        keys = sorted(set(submission_keys))
        with self._lock:
            known = self._people
        taken_at, ledger = self._now(), ledger_parts(ids, keys)
        try:
            rows = read(self._rest, [*_parts(configuration, ids), *ledger])
        except ContractMismatch:
            self._types_of = ""  # a field may be gone: it is described anew for the next configuration
            raise
        leads = {lead.id: lead for lead in (records.lead(row) for row in rows.get("leads", ()))}
        groups = records.groups(rows["groups"], rows["members"])
        self._groups = {group_id: told(group, known) for group_id, group in groups.items()}
        plain = Snapshot(
            taken_at=taken_at,
            groups=self._groups,
            leads=leads,
            ledger=rows_of(ledger, rows),
            submission_keys_read=frozenset(keys),
        )
        return self._completed(configuration, plain, [one for one in ids if one not in leads], known)

    def beside(self, configuration: Configuration, leads: Sequence[Lead], submission_keys: Sequence[str]) -> Snapshot:
        """Leads as they were read before, with their ledger rows and matches as they are now, and without any group."""
        with self._lock:
            known = self._people
        taken_at, ledger = self._now(), ledger_parts([lead.id for lead in leads], sorted(set(submission_keys)))
        found = rows_of(ledger, read(self._rest, ledger))
        plain = Snapshot(taken_at, {}, {lead.id: lead for lead in leads}, found, frozenset(submission_keys))
        return self._completed(configuration, plain, [], known)

    def commit(self, *batches: Batch) -> Receipt:
        """Write the batches in one call, all or nothing (DESIGN section 4)."""
        self._rest.begin()
        composed = compose(batches, self._now(), lock_touch=self._lock_touch)
        return receipt(composed, self._rest.composite(composed.parts, write=True))

    def committed(self, *batches: Batch) -> bool:
        """Whether every lead of the batches has its round in the ledger under its own idempotency key."""
        writes = (write for batch in batches for write in batch.writes)
        own = {lead_key(write.lead.id, write.round): write.ask.idempotency_key for write in writes}
        rows = self._rest.query(queries.committed(sorted(own)))
        return {row[LedgerFields.LEAD_KEY]: row[LedgerFields.IDEMPOTENCY_KEY] for row in rows} == own

    def mark(self, marks: Sequence[Mark | Overridden]) -> Mapping[str, LeadMoved | Refusal]:
        """Show it on each lead by itself, only if nobody changed it since it was read; answers those that do not.

        A rule of the org's own may refuse the note as it refused the owner: the lead is then left as it is.
        """
        found: dict[str, LeadMoved | Refusal] = {}
        for few in queries.chunks(sorted(marks, key=lambda one: one.lead.id), MARKS_MAX):
            found |= marking.faults(few, self._rest.composite(marking.parts(few), write=True, together=False))
        return found

    def fill(self, fills: Sequence[Fill]) -> Mapping[str, LeadMoved | Unfilled]:
        """Write values on each lead by itself, on the same condition."""
        found: dict[str, LeadMoved | Unfilled] = {}
        for few in queries.chunks(sorted(fills, key=lambda one: one.lead.id), MARKS_MAX):
            found |= filling.faults(few, self._rest.composite(filling.parts(few), write=True, together=False))
        return found

    def leads(self, configuration: Configuration, lead_ids: Sequence[str]) -> Mapping[str, Lead]:
        """Leads as they are now, in one call for at most 200."""
        parts = [queries.part("leads", queries.leads(configuration.lead_fields, lead_ids))] if lead_ids else []
        rows = read(self._rest, parts) if parts else {}
        return {lead.id: lead for lead in (records.lead(row) for row in rows.get("leads", ()))}

    def unassigned(self, configuration: Configuration, page: int) -> Iterator[Sequence[Lead]]:
        """All unassigned leads, oldest first, a page per call."""
        return sweeping.pages(self._rest, sweeping.unassigned, configuration, page)

    def queued(self, configuration: Configuration, page: int) -> Iterator[Sequence[Lead]]:
        """All leads that show Queued, in the same way."""
        return sweeping.pages(self._rest, sweeping.queued, configuration, page)

    def untouched(
        self, configuration: Configuration, keys: Sequence[str], since: datetime, page: int
    ) -> Iterator[Sequence[Lead]]:
        """Leads that these groups gave out since then and whose owners have not changed them, in the same way."""
        return sweeping.pages(self._rest, sweeping.untouched(keys, since), configuration, page)

    def _configured(self, found: Found) -> tuple[Found, Configuration]:
        try:
            return found, configured(self._intake, found)
        except BadCriteria:
            found = replace(found, field_types=self._describe())
            return found, configured(self._intake, found)

    def _found(self) -> tuple[Found, People]:
        token = self._rest.token()
        rows = read(
            self._rest,
            [
                queries.part("rules", queries.rules()),
                queries.part("groups", queries.groups()),
                queries.part("members", queries.members()),
                queries.part("queues", queries.queues()),
                queries.part("hours", queries.business_hours()),
            ],
        )
        plain = tuple(records.groups(rows["groups"], rows["members"]).values())
        more, known = self._of_people(sorted({member.user_id for group in plain for member in group.members}))
        groups = tuple(told(group, known) for group in plain)
        with self._lock:
            types = self._types if self._types_of == token.org_id else {}
        found = Found(
            rules=rows["rules"],
            groups=groups,
            members={group.id: group.members for group in groups},
            queues=rows["queues"],
            users=more.get("users", ()),
            integration_user_id=token.user_id,
            field_types=types or self._describe(),
            hours=rows["hours"],
            holidays=more["holidays"],
            absences=more["absences"],
        )
        return found, known

    def _of_people(self, users: Sequence[str]) -> tuple[Mapping[str, Sequence[Row]], People]:
        now = self._now()
        parts = [
            queries.part("holidays", queries.holidays(now - HOLIDAYS_SINCE)),
            queries.part("absences", queries.absences(now)),
            queries.part("frozen", queries.frozen()),
        ]
        if self._intake.usernames:
            parts.append(queries.part("users", queries.users(self._intake.usernames)))
        asked = asking(users)
        rows = read(self._rest, [*parts, *asked], {"frozen", *(part.reference for part in asked)})
        return rows, people(rows.get("frozen"), users, together(rows, asked))

    def _completed(
        self, configuration: Configuration, plain: Snapshot, missing: Sequence[str], known: People
    ) -> Snapshot:
        """The snapshot with what only some leads, members, groups and rules ask for."""
        wanted = matching.kinds(configuration)
        groups = (group for group in plain.groups.values() if group.mode is not Mode.OFF)
        capped = sorted({one.user_id for group in groups for one in group.members if one.open_cap is not None})
        parts = [
            queries.part(f"open{number}", queries.open_leads(few, self._intake.open_leads))
            for number, few in enumerate(queries.chunks(capped, queries.USERS_MAX))
        ]
        if missing:
            parts.append(queries.part("gone", queries.gone(missing), deleted=True))
        asked = {f"match{number}": one for number, one in enumerate(matching.asked_for(wanted, plain.leads.values()))}
        parts += [queries.part(name, one.soql()) for name, one in asked.items()]
        touched = activities.parts(configuration, plain)
        parts += touched
        if not parts:
            return plain
        rows = read(self._rest, parts, {part.reference for part in touched})
        counts = (row for name, found in rows.items() if name.startswith("open") for row in found)
        found = [pair for name, one in asked.items() for pair in self._to_the_end(one, rows[name])]
        return replace(
            plain,
            open_leads={str(row[Standard.OWNER]): int(row[queries.COUNTED]) for row in counts},
            gone={to18(row["Id"]): row[Standard.MERGED_INTO] for row in rows.get("gone", ())},
            matches=self._told(matching.matches(wanted, plain.leads.values(), found), known),
            touches=activities.touches(plain, rows),
            blind=any(part.reference not in rows for part in touched),
        )

    def _to_the_end(self, asked: matching.Asked, rows: Sequence[Row]) -> Iterator[tuple[matching.Asked, Row]]:
        """The rows; where they were too many, those of each value, so that no busy domain hides another."""
        if len(rows) < matching.ROWS_MAX or len(asked.values) == 1:
            yield from ((asked, row) for row in rows)
            return
        for half in asked.halves():
            yield from self._to_the_end(half, self._rest.query(half.soql()))

    def _told(self, matches: Mapping[str, Sequence[Match]], known: People) -> dict[str, tuple[Match, ...]]:
        owners = {match.owner_id for several in matches.values() for match in several if match.user_active}
        strangers = sorted(owners - known.readers.keys())
        if strangers:
            asked = asking(strangers)
            rows = read(self._rest, asked, {part.reference for part in asked})
            known = replace(known, readers={**known.readers, **reading(strangers, together(rows, asked))})
        return {lead_id: tuple(told_match(one, known) for one in several) for lead_id, several in matches.items()}

    def _refuse_hidden(self, objects: frozenset[str]) -> None:
        """Raises Misconfigured where rules ask for matches in objects that this user may not read."""
        new = sorted(objects - self._readable - {Objects.LEAD})
        parts = [queries.part(name, queries.select((Standard.ID,), name, "LIMIT 1")) for name in new]
        rows = read(self._rest, parts, new)
        for name in new:
            if name not in rows:
                told = f"rules ask for the owner of a matching {name}, which this user may not read"
                raise Misconfigured(f"{told}: assign it the permission set {Permissions.MATCHING_SET}")
        self._readable |= objects

    def _describe(self) -> Mapping[str, str]:
        types = field_types(self._rest.get(f"sobjects/{Objects.LEAD}/describe"))
        with self._lock:
            self._types, self._types_of = types, self._rest.token().org_id
        return types


def _parts(configuration: Configuration, ids: Sequence[str]) -> list[Subrequest]:
    parts = [queries.part("groups", queries.groups()), queries.part("members", queries.members())]
    return [*parts, queries.part("leads", queries.leads(configuration.lead_fields, ids))] if ids else parts

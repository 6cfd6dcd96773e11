"""What a router would make of rules that are not in the org yet: the load itself is asked before they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lead_router.app.orgrules import written
from lead_router.app.wiring import Wired
from lead_router.errors import BadRules, Misconfigured
from lead_router.rulefiles import Added, Altered, Difference, FileRule, Removed, Where
from lead_router.salesforce.names import Relations, RuleFields, Standard
from lead_router.salesforce.records import Row


def refuse_unloadable(
    wired: Wired, rules: Sequence[FileRule], changes: Sequence[Difference], ids: Mapping[Where, str]
) -> None:
    """Raises BadRules with file, line, rule and remedy where a load would refuse the org's records once changed.

    `rules` are those of the files, `ids` the changes' `targets`. The intake is that of the settings.
    """
    at = {rule.name: str(rule.at) for rule in rules}

    def changed(rows: Sequence[Row]) -> list[Row]:
        touched = {one.id for one in changes if not isinstance(one, Added)}
        kept = [{**row, Standard.ID: at.get(row[Standard.NAME], row[Standard.ID])} for row in rows]
        kept = [new for new, row in zip(kept, rows, strict=True) if row[Standard.ID] not in touched]
        made = [one.after if isinstance(one, Altered) else one.rule for one in changes if not isinstance(one, Removed)]
        new = [{**_BLANK, **written(rule, ids), Standard.ID: str(rule.at)} for rule in made if rule.active]
        return sorted([*kept, *new], key=lambda row: row[RuleFields.PRECEDENCE] or 0)

    try:
        wired.org.foreseen(changed)
    except Misconfigured as fault:
        told = str(fault)
        named = next((place for name, place in at.items() if f"rule '{name}'" in told), "")
        where = f"{named}: " if named not in told else ""
        raise BadRules(f"a router would not load this: {where}{told}; nothing was written") from None


_BLANK = {Relations.RULE_USER: None, RuleFields.MATCH_ON: None, RuleFields.MATCH_OFF_DUTY: None}

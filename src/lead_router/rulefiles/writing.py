"""Rules and what was seen of the org, as YAML that every reader understands alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from lead_router.rulefiles.nouns import FileRule, Pulled

_RULES_HEAD = """# Rules, in order of precedence: the first whose criteria a lead meets decides where it goes.
# criteria: a SOQL WHERE clause on Lead; leave it out for every lead. One target each: group, user, queue or matched.
"""
_ORG_HEAD = """# Written by `lead-router rules pull`; keep it with the rules and do not edit it. A push goes through
# only while the org's rules are as `pulled` says; check and test read fields, groups and queues from here.
"""
_WIDTH = 110


def rules_text(rules: Sequence[FileRule]) -> str:
    """The text of the rules file."""
    return _RULES_HEAD + _dump({"rules": [_rule(rule) for rule in rules]})


def org_text(pulled: Pulled) -> str:
    """The text of the file that keeps what was pulled."""
    return _ORG_HEAD + _dump(
        {
            "org": pulled.org_id,
            "pulled": [{"id": one.id, **_rule(one.rule)} for one in pulled.rules],
            "groups": dict(sorted(pulled.groups.items())),
            "queues": sorted(pulled.queues),
            "fields": dict(sorted(pulled.fields.items())),
        }
    )


def _rule(rule: FileRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "precedence": rule.precedence,
        **({"criteria": rule.criteria} if rule.criteria else {}),
        rule.where.kind.value: rule.where.name,
        **({"match_on": rule.where.match_on} if rule.where.match_on else {}),
        **({"off_duty": rule.where.off_duty} if rule.where.off_duty else {}),
        **({} if rule.active else {"active": False}),
    }


def _dump(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=_WIDTH)

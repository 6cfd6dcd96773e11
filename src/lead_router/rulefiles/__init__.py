"""Rules as files: read strictly, checked and tried without an org, and compared with what an org holds."""

from lead_router.rulefiles.cases import Tried, tried
from lead_router.rulefiles.check import Surroundings, check
from lead_router.rulefiles.compare import Added, Altered, Difference, Removed, differences, drift
from lead_router.rulefiles.folder import ORG_FILE, ORG_RULES_FILE, RULES_FILE, Folder, read_folder
from lead_router.rulefiles.nouns import Case, FileRule, Place, Pulled, PulledRule, Where, WhereKind
from lead_router.rulefiles.sheet import Sheet, read_sheet
from lead_router.rulefiles.writing import org_text, rules_text

__all__ = [
    "ORG_FILE",
    "ORG_RULES_FILE",
    "RULES_FILE",
    "Added",
    "Altered",
    "Case",
    "Difference",
    "FileRule",
    "Folder",
    "Place",
    "Pulled",
    "PulledRule",
    "Removed",
    "Sheet",
    "Surroundings",
    "Tried",
    "Where",
    "WhereKind",
    "check",
    "differences",
    "drift",
    "org_text",
    "read_folder",
    "read_sheet",
    "rules_text",
    "tried",
]

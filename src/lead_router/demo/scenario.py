"""The simulated company of the demo: three groups, twelve reps, three rules, and a form that logs in as itself."""

from __future__ import annotations

from typing import Any

QUEUE = "Lead_Intake"
FORM_USERNAME = "form@demo.example"

# group key -> (name, [(rep, weight), ...])
GROUPS: dict[str, tuple[str, tuple[tuple[str, int], ...]]] = {
    "enterprise": ("Enterprise", (("Ada", 3), ("Bo", 2), ("Cleo", 2), ("Dev", 1))),
    "emea": ("EMEA", (("Elif", 1), ("Femi", 1), ("Gus", 1), ("Hana", 1))),
    "smb": ("Small business", (("Ivo", 2), ("Jin", 2), ("Kai", 1), ("Lou", 1))),
}
# precedence, name, criteria, group key
RULES = (
    (10, "Large accounts", "AnnualRevenue >= 1000000", "enterprise"),
    (20, "Europe", "Country IN ('France', 'Belgium', 'Germany')", "emea"),
    (90, "Everyone else", "", "smb"),
)


def records() -> dict[str, Any]:
    """The company in the simulator's scenario form: a list of records, `@ref` naming an earlier one."""
    form = {"Username": FORM_USERNAME, "LastName": "Web form", "Alias": "form", "Email": FORM_USERNAME}
    made: list[dict[str, Any]] = [{"sobject": "User", "fields": {**form, "IsActive": True}}]
    for key, (name, reps) in GROUPS.items():
        made.append(
            {
                "sobject": "Round_Robin_Group__c",
                "ref": key,
                "fields": {"Name": name, "Key__c": key, "Mode__c": "Live", "Epoch__c": 0, "Turn__c": 0, "Clock__c": 0},
            }
        )
        for order, (rep, weight) in enumerate(reps, start=1):
            user = {"Username": f"{rep.lower()}@demo.example", "LastName": rep, "Alias": rep.lower(), "IsActive": True}
            user["Email"] = user["Username"]
            made.append({"sobject": "User", "ref": rep, "fields": user})
            member = {"Group__c": f"@{key}", "User__c": f"@{rep}", "Weight__c": weight, "Sort_Order__c": order}
            made.append({"sobject": "Round_Robin_Member__c", "fields": {**member, "Active__c": True}})
    for precedence, name, criteria, key in RULES:
        rule = {"Name": name, "Precedence__c": precedence, "Criteria__c": criteria or None, "Active__c": True}
        made.append({"sobject": "Routing_Rule__c", "fields": {**rule, "Target_Group__c": f"@{key}"}})
    return {"records": made}

"""Every name that an org must know, written once; the metadata in `salesforce_metadata/` holds the same names."""

from __future__ import annotations

from typing import Final

API_VERSION: Final = "68.0"
CLIENT: Final = "lead-router"
"""Sent as `Sforce-Call-Options: client=…`; comes back in `changeOrigin`, by which own changes are known."""


class Objects:
    """Objects and the change event that the router reads or writes."""

    LEAD: Final = "Lead"
    GROUP: Final = "Round_Robin_Group__c"
    MEMBER: Final = "Round_Robin_Member__c"
    ABSENCE: Final = "Member_Absence__c"
    RULE: Final = "Routing_Rule__c"
    LEDGER: Final = "Lead_Assignment__c"
    REQUEST: Final = "Lead_Routing_Requested__e"
    LEAD_CHANGE: Final = "LeadChangeEvent"
    USER: Final = "User"
    QUEUE: Final = "Group"
    QUEUE_OBJECT: Final = "QueueSobject"
    BUSINESS_HOURS: Final = "BusinessHours"
    HOLIDAY: Final = "Holiday"
    USER_LOGIN: Final = "UserLogin"
    SET_ASSIGNMENT: Final = "PermissionSetAssignment"
    OBJECT_RIGHTS: Final = "ObjectPermissions"
    ACCOUNT: Final = "Account"
    CONTACT: Final = "Contact"
    ACTIVITY_TASK: Final = "Task"
    ACTIVITY_EVENT: Final = "Event"


class Standard:
    """Fields that every org has, on Lead, User, Group, Account or Contact."""

    ID: Final = "Id"
    NAME: Final = "Name"
    OWNER: Final = "OwnerId"
    OWNER_TYPE: Final = "Owner.Type"
    CREATED_AT: Final = "CreatedDate"
    CHANGED_AT: Final = "SystemModstamp"
    CHANGED_BY: Final = "LastModifiedById"
    CREATED_BY: Final = "CreatedById"
    MODIFIED_AT: Final = "LastModifiedDate"
    STATUS: Final = "Status"
    IS_CONVERTED: Final = "IsConverted"
    EMAIL: Final = "Email"
    PHONE: Final = "Phone"
    IS_ACTIVE: Final = "IsActive"
    DEVELOPER_NAME: Final = "DeveloperName"
    TYPE: Final = "Type"
    TIME_ZONE: Final = "TimeZoneSidKey"
    IS_DELETED: Final = "IsDeleted"
    MERGED_INTO: Final = "MasterRecordId"
    ACCOUNT: Final = "AccountId"
    WEBSITE: Final = "Website"
    USER: Final = "UserId"
    IS_FROZEN: Final = "IsFrozen"


class Weekly:
    """BusinessHours: an opening and a closing time for each day of the week, Monday first."""

    DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    START: Final = tuple(f"{day}StartTime" for day in DAYS)
    END: Final = tuple(f"{day}EndTime" for day in DAYS)


class HolidayFields:
    """Holiday; its link to BusinessHours is in no object that a query can read."""

    DESCRIPTION: Final = "Description"
    DAY: Final = "ActivityDate"
    ALL_DAY: Final = "IsAllDay"
    START: Final = "StartTimeInMinutes"
    END: Final = "EndTimeInMinutes"
    RECURS: Final = "IsRecurrence"
    KIND: Final = "RecurrenceType"
    FIRST_DAY: Final = "RecurrenceStartDate"
    LAST_DAY: Final = "RecurrenceEndDateOnly"
    INTERVAL: Final = "RecurrenceInterval"
    DAY_OF_MONTH: Final = "RecurrenceDayOfMonth"
    WEEKDAYS: Final = "RecurrenceDayOfWeekMask"
    INSTANCE: Final = "RecurrenceInstance"
    MONTH: Final = "RecurrenceMonthOfYear"


class RightsFields:
    """PermissionSetAssignment and ObjectPermissions: who may read leads."""

    ASSIGNEE: Final = "AssigneeId"
    SET: Final = "PermissionSetId"
    PARENT: Final = "ParentId"
    SOBJECT: Final = "SobjectType"
    READS: Final = "PermissionsRead"


class ActivityFields:
    """Task and Event."""

    WHO: Final = "WhoId"
    IS_CLOSED: Final = "IsClosed"
    COMPLETED_AT: Final = "CompletedDateTime"
    LAST_ON_LEAD: Final = "LastActivityDate"


class LeadFields:
    """What the router writes on a lead beside the owner."""

    STAMP: Final = "Routing_Idem_Key__c"
    ROUND: Final = "Routing_Round__c"
    EXPECTED_OWNER: Final = "Routing_Expected_Owner__c"
    GROUP: Final = "Routing_Group__c"
    STATUS: Final = "Routing_Status__c"
    ERROR: Final = "Routing_Error__c"
    ROUTED_AT: Final = "Routed_At__c"
    DUPLICATE_OF: Final = "Routing_Duplicate_Of__c"
    OVERRIDDEN_BY: Final = "Routing_Overridden_By__c"
    OVERRIDDEN_AT: Final = "Routing_Overridden_At__c"


class GroupFields:
    """`Round_Robin_Group__c`."""

    KEY: Final = "Key__c"
    MODE: Final = "Mode__c"
    EPOCH: Final = "Epoch__c"
    TURN: Final = "Turn__c"
    CLOCK: Final = "Clock__c"
    EXPECTED_TURN: Final = "Expected_Turn__c"
    FALLBACK_GROUP: Final = "Fallback_Group__c"
    FALLBACK_QUEUE: Final = "Fallback_Queue__c"
    MANAGER: Final = "Manager__c"
    REROUTE: Final = "Reroute__c"
    COUNT_MANUAL: Final = "Count_Manual__c"
    ACCEPT_WITHIN: Final = "Accept_Within__c"
    ACCEPT_CHAIN_MAX: Final = "Accept_Chain_Max__c"
    BUSINESS_HOURS: Final = "Business_Hours__c"


class MemberFields:
    """`Round_Robin_Member__c`."""

    GROUP: Final = "Group__c"
    USER: Final = "User__c"
    WEIGHT: Final = "Weight__c"
    SORT_ORDER: Final = "Sort_Order__c"
    ACTIVE: Final = "Active__c"
    NEXT_TURN: Final = "Next_Turn__c"
    LAST_TURN: Final = "Last_Turn__c"
    LEADS_RECEIVED: Final = "Leads_Received__c"
    DAILY_CAP: Final = "Daily_Cap__c"
    OPEN_LEAD_CAP: Final = "Open_Lead_Cap__c"
    CAP_DAY: Final = "Cap_Day__c"
    CAP_COUNT: Final = "Cap_Count__c"
    ACCEPTS: Final = "Accepts__c"
    BUSINESS_HOURS: Final = "Business_Hours__c"


class AbsenceFields:
    """`Member_Absence__c`."""

    USER: Final = "User__c"
    START: Final = "Start__c"
    END: Final = "End__c"
    REASON: Final = "Reason__c"


class RuleFields:
    """`Routing_Rule__c`."""

    PRECEDENCE: Final = "Precedence__c"
    ACTIVE: Final = "Active__c"
    CRITERIA: Final = "Criteria__c"
    TARGET_GROUP: Final = "Target_Group__c"
    TARGET_USER: Final = "Target_User__c"
    TARGET_QUEUE: Final = "Target_Queue__c"
    TARGET_MATCH: Final = "Target_Match__c"
    MATCH_ON: Final = "Match_On__c"
    MATCH_OFF_DUTY: Final = "Match_Off_Duty__c"


class RuleWords:
    """Words of picklists of `Routing_Rule__c` that the core has no noun for."""

    ANY: Final = "Any"
    NEXT_RULE: Final = "Next Rule"
    WAIT: Final = "Wait"


class LedgerFields:
    """`Lead_Assignment__c`."""

    LEAD: Final = "Lead__c"
    GROUP: Final = "Group__c"
    MEMBER: Final = "Member__c"
    ASSIGNED_TO: Final = "Assigned_To__c"
    ASSIGNED_FROM: Final = "Assigned_From__c"
    EPOCH: Final = "Epoch__c"
    TURN: Final = "Turn__c"
    ROUND: Final = "Round__c"
    RULE: Final = "Rule__c"
    OUTCOME: Final = "Outcome__c"
    EXPLANATION: Final = "Explanation__c"
    PASSED_OVER: Final = "Passed_Over__c"
    EVENT_AT: Final = "Event_At__c"
    COMMITTED_AT: Final = "Committed_At__c"
    LATENCY_MS: Final = "Latency_Ms__c"
    IDEMPOTENCY_KEY: Final = "Idempotency_Key__c"
    TURN_KEY: Final = "Turn_Key__c"
    LEAD_KEY: Final = "Lead_Key__c"
    SUBMISSION_EVEN: Final = "Submission_Even__c"
    SUBMISSION_ODD: Final = "Submission_Odd__c"


class RequestFields:
    """`Lead_Routing_Requested__e`."""

    LEAD_ID: Final = "Lead_Id__c"


class Relations:
    """How a query reaches from a record to another: parents by field, children by their relationship."""

    MEMBER_USER: Final = "User__r"
    MEMBER_GROUP: Final = "Group__r"
    LEDGER_LEAD: Final = "Lead__r"
    LEDGER_GROUP: Final = "Group__r"
    RULE_GROUP: Final = "Target_Group__r"
    RULE_USER: Final = "Target_User__r"
    GROUP_MANAGER: Final = "Manager__r"
    GROUP_MEMBERS: Final = "Members__r"
    LEAD_LEDGER: Final = "Lead_Assignments__r"


class ValidationRules:
    """Rules that refuse a commit which decided on an outdated sight of the org, and records that mean nothing."""

    OWNER_MOVED: Final = "Routing_Owner_Moved"
    TURN_MOVED: Final = "Turn_Moved"
    WEIGHT_RANGE: Final = "Weight_Range"
    ABSENCE_ORDER: Final = "Absence_Order"


class Markers:
    """How the text of a refusal begins, by the rule that refused."""

    OWNER_MOVED: Final = f"{ValidationRules.OWNER_MOVED}:"
    TURN_MOVED: Final = f"{ValidationRules.TURN_MOVED}:"
    WEIGHT_RANGE: Final = f"{ValidationRules.WEIGHT_RANGE}:"
    ABSENCE_ORDER: Final = f"{ValidationRules.ABSENCE_ORDER}:"


class Channels:
    """What a stream source subscribes to, and the selections by which an org publishes changes."""

    LEAD_CHANGES: Final = f"/data/{Objects.LEAD_CHANGE}"
    REQUESTS: Final = f"/event/{Objects.REQUEST}"
    SELECTION: Final = f"ChangeEvents_{Objects.LEAD_CHANGE}"
    CONFIGURATION: Final = tuple(name.removesuffix("__c") + "__ChangeEvent" for name in (Objects.RULE, Objects.ABSENCE))
    """The change events of configuration that people alone change; groups and members change with every turn."""
    CONFIGURATION_CHANGES: Final = tuple(map("/data/{}".format, CONFIGURATION))


class Permissions:
    """The custom permission that marks the router's user, and the permission sets."""

    ROUTER: Final = "Lead_Router"
    INTEGRATION_SET: Final = "Lead_Router_Integration"
    ADMIN_SET: Final = "Lead_Router_Admin"
    REP_SET: Final = "Lead_Router_Rep"
    MATCHING_SET: Final = "Lead_Router_Matching"
    NOTICES_SET: Final = "Lead_Router_Notices"
    ACTIVITIES_SET: Final = "Lead_Router_Activities"


class Queues:
    """Queues that come with the metadata, by developer name."""

    INTAKE: Final = "Lead_Intake"


class Lengths:
    """Most characters that a text field takes; longer values are refused, so the router cuts prose and never keys."""

    ERROR: Final = 255
    EXPLANATION: Final = 32768
    RULE: Final = 80
    PASSED_OVER: Final = 255
    GROUP_KEY: Final = 40
    IDEMPOTENCY_KEY: Final = 120
    TURN_KEY: Final = 100
    LEAD_KEY: Final = 40
    SUBMISSION_KEY: Final = 64

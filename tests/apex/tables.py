"""Words, lengths and parts of metadata by kind, as the Metadata API Developer Guide has them.

That every field has a description and a help text, and every value and every part that an admin meets a description, is
this project's own rule.
"""

from __future__ import annotations

OPERATIONS = frozenset(
    [
        "equals",
        "notEqual",
        "lessThan",
        "greaterThan",
        "lessOrEqual",
        "greaterOrEqual",
        "contains",
        "notContain",
        "startsWith",
        "includes",
        "excludes",
        "within",
    ]
)
FIELD_TYPES = frozenset(
    [
        "AutoNumber",
        "Checkbox",
        "Currency",
        "Date",
        "DateTime",
        "Email",
        "EncryptedText",
        "ExternalLookup",
        "File",
        "Hierarchy",
        "Html",
        "IndirectLookup",
        "Location",
        "LongTextArea",
        "Lookup",
        "MasterDetail",
        "MetadataRelationship",
        "MultiselectPicklist",
        "Number",
        "Percent",
        "Phone",
        "Picklist",
        "Summary",
        "Text",
        "TextArea",
        "Time",
        "Url",
    ]
)
CHARTS = frozenset(
    [
        "Bar",
        "BarGrouped",
        "BarStacked",
        "BarStacked100",
        "Column",
        "ColumnGrouped",
        "ColumnLine",
        "ColumnLineGrouped",
        "ColumnLineStacked",
        "ColumnLineStacked100",
        "ColumnStacked",
        "ColumnStacked100",
        "Donut",
        "FlexTable",
        "Funnel",
        "Gauge",
        "Line",
        "LineCumulative",
        "LineGrouped",
        "LineGroupedCumulative",
        "Metric",
        "Pie",
        "Scatter",
        "ScatterGrouped",
        "Table",
    ]
)
GRAINS = frozenset(
    [
        "None",
        "Day",
        "Week",
        "Month",
        "Quarter",
        "Year",
        "FiscalQuarter",
        "FiscalYear",
        "MonthInYear",
        "DayInMonth",
        "DayInWeek",
        "HourInDay",
    ]
)
CATEGORIES = frozenset(
    [
        "accounts",
        "opportunities",
        "forecasts",
        "cases",
        "leads",
        "campaigns",
        "activities",
        "busop",
        "products",
        "admin",
        "territory",
        "other",
        "content",
        "usage_entitlement",
        "wdc",
        "calibration",
    ]
)
SCOPES = frozenset(
    [
        "Everything",
        "Mine",
        "MineAndMyGroups",
        "Queue",
        "Delegated",
        "MyTerritory",
        "MyTeamTerritory",
        "Team",
        "AssignedToMe",
    ]
)
WORDS: dict[str, dict[str, frozenset[str]]] = {
    "ApexClass": {"status": frozenset({"Active", "Inactive", "Deleted"})},
    "ApexTrigger": {"status": frozenset({"Active", "Inactive", "Deleted"})},
    "CustomApplication": {
        "formFactors": frozenset({"Small", "Medium", "Large"}),
        "navType": frozenset({"Standard", "Console"}),
        "uiType": frozenset({"Aloha", "Lightning"}),
    },
    "CustomField": {
        "type": FIELD_TYPES,
        "deleteConstraint": frozenset({"Cascade", "Restrict", "SetNull"}),
        "formulaTreatBlanksAs": frozenset({"BlankAsBlank", "BlankAsZero"}),
        "summaryOperation": frozenset({"count", "max", "min", "sum"}),
    },
    "CustomObject": {
        "deploymentStatus": frozenset({"InDevelopment", "Deployed"}),
        "sharingModel": frozenset({"Private", "Read", "ReadWrite", "ReadWriteTransfer", "ControlledByParent"}),
        "externalSharingModel": frozenset({"Private", "Read", "ReadWrite", "ControlledByParent"}),
        "visibility": frozenset({"Public", "Protected", "PackageProtected"}),
        "customSettingsType": frozenset({"Hierarchy", "List"}),
        "eventType": frozenset({"HighVolume", "StandardVolume"}),
        "publishBehavior": frozenset({"PublishAfterCommit", "PublishImmediately"}),
        "nameField/type": frozenset({"Text", "AutoNumber"}),
    },
    "Dashboard": {
        "dashboardType": frozenset({"SpecifiedUser", "LoggedInUser", "MyTeamUser"}),
        "leftSection/components/componentType": CHARTS,
        "middleSection/components/componentType": CHARTS,
        "rightSection/components/componentType": CHARTS,
        "dashboardGridLayout/dashboardGridComponents/dashboardComponent/componentType": CHARTS,
    },
    "ExtlClntAppOauthConfigurablePolicies": {
        "ipRelaxationPolicyType": frozenset({"Enforce", "Bypass", "Bypass_2factor", "Enforce_RelaxRefresh"}),
        "permittedUsersPolicyType": frozenset({"AdminApprovedPreAuthorized", "AllSelfAuthorized"}),
    },
    "Layout": {
        "layoutSections/style": frozenset(
            {"OneColumn", "TwoColumnsLeftToRight", "TwoColumnsTopToBottom", "CustomLinks"}
        ),
        "layoutSections/layoutColumns/layoutItems/behavior": frozenset({"Edit", "Required", "Readonly"}),
        "relatedLists/sortOrder": frozenset({"Asc", "Desc"}),
    },
    "ListView": {"filterScope": SCOPES, "filters/operation": OPERATIONS},
    "PermissionSet": {"tabSettings/visibility": frozenset({"Available", "None", "Visible"})},
    "Report": {
        "format": frozenset({"Tabular", "Summary", "Matrix", "MultiBlock"}),
        "filter/criteriaItems/operator": OPERATIONS,
        "columns/aggregateTypes": frozenset({"Sum", "Average", "Maximum", "Minimum", "Unique", "Median"}),
        "groupingsDown/dateGranularity": GRAINS,
        "groupingsAcross/dateGranularity": GRAINS,
        "groupingsDown/sortOrder": frozenset({"Asc", "Desc"}),
        "groupingsAcross/sortOrder": frozenset({"Asc", "Desc"}),
    },
    "ReportType": {"category": CATEGORIES},
    "StaticResource": {"cacheControl": frozenset({"Private", "Public"})},
}
NEEDED: dict[str, tuple[str, ...]] = {
    "ApexClass": ("apiVersion", "status"),
    "ApexTrigger": ("apiVersion", "status"),
    "CompactLayout": ("fullName", "label", "fields"),
    "CustomApplication": ("label", "description", "tabs"),
    "CustomField": ("fullName", "label", "type", "description", "inlineHelpText"),
    "CustomNotificationType": ("customNotifTypeName", "masterLabel", "description", "desktop", "mobile"),
    "CustomObject": ("label", "pluralLabel", "description"),
    "CustomPermission": ("label", "description"),
    "CustomTab": ("motif",),
    "Dashboard": ("title", "dashboardType"),
    "ExternalClientApplication": ("contactEmail", "description", "distributionState", "label"),
    "ExtlClntAppGlobalOauthSettings": ("callbackUrl", "certificate", "externalClientApplication", "label"),
    "ExtlClntAppOauthConfigurablePolicies": ("externalClientApplication", "label", "permittedUsersPolicyType"),
    "ExtlClntAppOauthSettings": ("commaSeparatedOauthScopes", "externalClientApplication", "label"),
    "Flow": ("description", "label", "processType", "start", "status"),
    "Layout": ("layoutSections",),
    "ListView": ("fullName", "label", "filterScope", "columns"),
    "PathAssistant": ("active", "masterLabel", "entityName", "fieldName", "recordTypeName"),
    "PermissionSet": ("label", "description"),
    "Queue": ("name", "queueSobject"),
    "QuickAction": ("description", "label", "optionsCreateFeedItem", "type"),
    "Report": ("name", "description", "reportType", "format"),
    "ReportType": ("label", "description", "baseObject", "sections"),
    "StaticResource": ("contentType", "cacheControl"),
    "ValidationRule": ("fullName", "active", "description", "errorConditionFormula", "errorMessage"),
}
NEEDED_BY_TYPE: dict[str, tuple[str, ...]] = {
    "Checkbox": ("defaultValue",),
    "LongTextArea": ("length", "visibleLines"),
    "Lookup": ("referenceTo", "relationshipName"),
    "MasterDetail": ("referenceTo", "relationshipName", "relationshipOrder"),
    "Number": ("precision", "scale"),
    "Picklist": ("valueSet",),
    "Text": ("length",),
}
LENGTHS: dict[str, dict[str, int]] = {
    "CompactLayout": {"label": 80},
    "CustomApplication": {"label": 40, "description": 255},
    "CustomField": {
        "label": 40,
        "description": 1000,
        "inlineHelpText": 510,
        "relationshipLabel": 80,
        "valueSet/valueSetDefinition/value/description": 255,
    },
    "CustomLabels": {"labels/shortDescription": 80, "labels/value": 1000},
    "CustomNotificationType": {"masterLabel": 80, "description": 255},
    "CustomObject": {"label": 40, "pluralLabel": 40, "description": 1000, "nameField/label": 40},
    "CustomPermission": {"label": 80, "description": 255},
    "Dashboard": {"title": 80, "description": 255},
    "Layout": {"layoutSections/label": 80},
    "ListView": {"label": 40},
    "PathAssistant": {"masterLabel": 80, "pathAssistantSteps/info": 1000},
    "PermissionSet": {"label": 80, "description": 255},
    "Queue": {"name": 40},
    "Report": {"name": 40, "description": 255},
    "ReportType": {"label": 50, "description": 255},
    "ValidationRule": {"description": 255, "errorMessage": 255},
}
# Kinds that the published copy of the Metadata API's schema is too old to know: the elements that are known here.
ELEMENTS: dict[str, frozenset[str]] = {
    "ExternalClientApplication": frozenset(
        {"contactEmail", "description", "distributionState", "isProtected", "label"}
    ),
    "ExtlClntAppGlobalOauthSettings": frozenset(
        {
            "callbackUrl",
            "certificate",
            "externalClientApplication",
            "isConsumerSecretOptional",
            "isIntrospectAllTokens",
            "isPkceRequired",
            "isSecretRequiredForRefreshToken",
            "label",
            "shouldRotateConsumerKey",
            "shouldRotateConsumerSecret",
        }
    ),
    "ExtlClntAppOauthConfigurablePolicies": frozenset(
        {
            "commaSeparatedPermissionSet",
            "externalClientApplication",
            "ipRelaxationPolicyType",
            "label",
            "permittedUsersPolicyType",
        }
    ),
    "ExtlClntAppOauthSettings": frozenset({"commaSeparatedOauthScopes", "externalClientApplication", "label"}),
}

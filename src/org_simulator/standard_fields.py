"""Salesforce's own objects, as far as routing and its checks ask for them.

# Object prefix owned|unowned | label | plural label
Name type[(length or precision.scale)] [required] [readonly] [unique] [restricted] [->Target] [="default"]
"""

FIELDS = """# Lead 00Q owned | Lead | Leads
Name string(121) readonly
Salutation picklist(40)
FirstName string(40)
LastName string(80) required
Title string(128)
Company string(255) required
Street textarea(255)
City string(40)
State string(80)
PostalCode string(20)
Country string(80)
Latitude double(18.15)
Longitude double(18.15)
Phone phone(40)
MobilePhone phone(40)
Fax phone(40)
Email email(80)
Website url(255)
Description textarea(32000)
LeadSource picklist(255)
Status picklist(255) required restricted ="Open - Not Contacted"
Industry picklist(255)
Rating picklist(255) restricted
AnnualRevenue currency(18.0)
NumberOfEmployees int(8.0)
HasOptedOutOfEmail boolean
HasOptedOutOfFax boolean
DoNotCall boolean
IsConverted boolean readonly
ConvertedDate date readonly
ConvertedAccountId reference readonly ->Account
ConvertedContactId reference readonly ->Contact
ConvertedOpportunityId reference readonly ->Opportunity
IsUnreadByOwner boolean ="true"
LastTransferDate date readonly
LastActivityDate date readonly
MasterRecordId reference readonly ->Lead
Jigsaw string(20)
JigsawContactId string(20) readonly
EmailBouncedReason string(255) readonly
EmailBouncedDate datetime readonly

# User 005 unowned | User | Users
Name string(121) readonly
Username string(80) required unique
FirstName string(40)
LastName string(80) required
Email email(128)
Alias string(8)
Title string(80)
Department string(80)
Phone phone(40)
Street textarea(255)
City string(40)
State string(80)
PostalCode string(20)
Country string(80)
Latitude double(18.15)
Longitude double(18.15)
IsActive boolean ="true"
UserType picklist(40) readonly ="Standard"
ProfileId reference ->Profile
UserRoleId reference ->UserRole
ManagerId reference ->User
TimeZoneSidKey picklist(40) ="America/Los_Angeles"
LocaleSidKey picklist(40) ="en_US"
LanguageLocaleKey picklist(40) ="en_US"
EmailEncodingKey picklist(40) ="UTF-8"

# Profile 00e unowned | Profile | Profiles
Name string(255) required unique

# UserRole 00E unowned | Role | Roles
Name string(80) required
DeveloperName string(80)

# UserLogin 0Yw unowned | User Login | User Logins
UserId reference required ->User
IsFrozen boolean
IsPasswordLocked boolean

# Group 00G unowned | Group | Groups
Name string(40) required
DeveloperName string(80) unique
Type picklist(40) required restricted
Email email(255)
DoesSendEmailToMembers boolean
RelatedId reference ->UserRole

# GroupMember 011 unowned | Group Member | Group Members
GroupId reference required ->Group
UserOrGroupId reference required ->User

# QueueSobject 03g unowned | Queue Sobject | Queue Sobjects
QueueId reference required ->Group
SobjectType picklist(40) required

# CustomNotificationType 0ML unowned | Custom Notification Type | Custom Notification Types
DeveloperName string(80) required
CustomNotifTypeName string(80) required
MasterLabel string(80)
Description string(255)
Desktop boolean
Mobile boolean

# BusinessHours 01m unowned | Business Hours | Business Hours
Name string(80) required
IsActive boolean ="true"
IsDefault boolean
TimeZoneSidKey picklist(40) required ="America/Los_Angeles"
MondayStartTime time
MondayEndTime time
TuesdayStartTime time
TuesdayEndTime time
WednesdayStartTime time
WednesdayEndTime time
ThursdayStartTime time
ThursdayEndTime time
FridayStartTime time
FridayEndTime time
SaturdayStartTime time
SaturdayEndTime time
SundayStartTime time
SundayEndTime time

# Holiday 0C0 unowned | Holiday | Holidays
Name string(80) required
Description string(100)
IsAllDay boolean ="true"
ActivityDate date
StartTimeInMinutes int(8.0)
EndTimeInMinutes int(8.0)
IsRecurrence boolean
NextOccurrenceDate date readonly
RecurrenceType picklist(40) restricted
RecurrenceStartDate date
RecurrenceEndDateOnly date
RecurrenceInterval int(9.0)
RecurrenceDayOfMonth int(9.0)
RecurrenceDayOfWeekMask int(9.0)
RecurrenceInstance picklist(40) restricted
RecurrenceMonthOfYear picklist(40) restricted

# Account 001 owned | Account | Accounts
Name string(255) required
Phone phone(40)
Website url(255)
Industry picklist(255)
AnnualRevenue currency(18.0)
NumberOfEmployees int(8.0)
Description textarea(32000)

# Contact 003 owned | Contact | Contacts
Name string(121) readonly
FirstName string(40)
LastName string(80) required
AccountId reference ->Account
Email email(80)
Phone phone(40)
Title string(128)

# Opportunity 006 owned | Opportunity | Opportunities
Name string(120) required
AccountId reference ->Account
StageName picklist(255) required
CloseDate date required
Amount currency(18.2)
LeadSource picklist(255)

# Task 00T owned | Task | Tasks
WhoId reference ->Lead
Subject string(255)
Status picklist(255) required restricted ="Not Started"
Priority picklist(255) required restricted ="Normal"
TaskSubtype picklist(40) restricted ="Task"
ActivityDate date
Description textarea(32000)
IsClosed boolean readonly
CompletedDateTime datetime readonly

# Event 00U owned | Event | Events
WhoId reference ->Lead
Subject string(255)
StartDateTime datetime required
EndDateTime datetime
DurationInMinutes int(8.0)
Description textarea(32000)

# Organization 00D unowned | Organization | Organizations
Name string(80) required
OrganizationType picklist(40) readonly
InstanceName string(5) readonly
IsSandbox boolean readonly
TimeZoneSidKey picklist(40)
LanguageLocaleKey picklist(40)

# LeadStatus 01J unowned | Lead Status Value | Lead Status Values
MasterLabel string(255)
ApiName string(255)
SortOrder int(8.0)
IsDefault boolean
IsConverted boolean

# PermissionSet 0PS unowned | Permission Set | Permission Sets
Name string(80) required unique
Label string(80)
IsOwnedByProfile boolean
ProfileId reference ->Profile

# ObjectPermissions 110 unowned | Object Permissions | Object Permissions
ParentId reference required ->PermissionSet
SobjectType picklist(40) required
PermissionsCreate boolean
PermissionsRead boolean
PermissionsEdit boolean
PermissionsDelete boolean
PermissionsViewAllRecords boolean
PermissionsModifyAllRecords boolean

# PermissionSetAssignment 0Pa unowned | Permission Set Assignment | Permission Set Assignments
AssigneeId reference required ->User
PermissionSetId reference required ->PermissionSet

# CustomPermission 0CP unowned | Custom Permission | Custom Permissions
DeveloperName string(80) required unique
MasterLabel string(80)
IsLicensed boolean

# StaticResource 081 unowned | Static Resource | Static Resources
Name string(255) required unique
ContentType string(120)
Body base64

# SetupEntityAccess 0J0 unowned | Setup Entity Access | Setup Entity Access
ParentId reference required ->PermissionSet
SetupEntityId reference required ->CustomPermission
SetupEntityType picklist(40)
"""

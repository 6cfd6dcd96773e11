from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Switches:
    """Behaviours that are disputed or undocumented; each default is the best documented reading.

    A client of Salesforce must keep its promises under `Switches()` and under `Switches.pessimistic()`.
    """

    stale_load: bool = False
    """The original record (PRIORVALUE, ISCHANGED) is loaded before its lock is waited for."""

    outer_header_reaches_subrequests: bool = False
    """`Sforce-Auto-Assign` on a composite request reaches its subrequests."""

    outer_call_options_reach_subrequests: bool = True
    """`Sforce-Call-Options` on a composite request names the client in `changeOrigin`."""

    duplicate_value_names_record: bool = True
    """DUPLICATE_VALUE names field and record; otherwise both read `<unknown>`."""

    inner_success_true_when_rolled_back: bool = True
    """A collection in a rolled-back composite still reports `success: true` for the records before the failure."""

    only_first_error_reported: bool = False
    """A record's failure bears only its first error."""

    lookup_insert_locks_parent: bool = False
    """Setting a lookup locks the record it names; master-detail always does."""

    deadlock_detected_at_once: bool = False
    """The transaction that closes a circle of waiters fails at once; otherwise the time limit ends it."""

    changed_fields_present: bool = True
    """CometD change events bear `changedFields`."""

    lock_error_http_status: int = 400
    """HTTP status of UNABLE_TO_LOCK_ROW on a single row."""

    access_error_http_status: int = 403
    """HTTP status of INSUFFICIENT_ACCESS_OR_READONLY on a single row."""

    created_date_whole_seconds: bool = True
    """Date-times are kept to the second; otherwise to the millisecond."""

    merged_events: bool = True
    """Equal changes of one transaction within a second come as one event with several record ids."""

    subrequest_uri_limit: int | None = 16_384
    """Characters that a composite subrequest's URL may have; None for no limit."""

    mixed_type_collections_atomic: bool = True
    """`allOrNone` of a collection of several types rolls back every chunk; otherwise each chunk is committed."""

    recycle_bin_keeps_unique_keys: bool = False
    """A deleted record's unique values stay taken until it is purged."""

    undelete_restores_lookups: bool = True
    """Lookups that went blank as their record was deleted name it again when it is undeleted."""

    apex_update_writes_queried_fields: bool = False
    """An update in Apex writes back the fields that were only queried, and so undoes what others changed meanwhile."""

    after_triggers_run_before_undo: bool = True
    """Where all or none is asked for and a record fails, after-triggers run for the good ones before all is undone."""

    for_update_locks_by_id: bool = True
    """`FOR UPDATE` locks rows with ids ascending; otherwise in any order, and two queries may meet crosswise."""

    composite_shares_limits: bool = True
    """Governor limits are those of the whole composite; otherwise each subrequest has its own."""

    composite_shares_statics: bool = True
    """Statics of Apex live as long as the composite; otherwise each subrequest finds them as at first use."""

    apex_insert_fills_defaults: bool = False
    """A record that Apex inserted holds defaults and formulas at once; otherwise only its id and what was set."""

    apex_sorts_texts_by_code_point: bool = True
    """`List.sort()` puts upper case before lower; otherwise case decides only between texts that are else equal."""

    apex_mail_refusal: str | None = None
    """The code with which mails of Apex are refused, as where deliverability is "System email only"; None: they go."""

    holidays_close_dates: bool = False
    """A holiday closes its date, midnight to midnight, of BusinessHours; otherwise the windows begun on it, whole."""

    unmodified_since_compares_system_modstamp: bool = False
    """`If-Unmodified-Since` compares SystemModstamp, and so refuses what only the platform touched since; otherwise
    LastModifiedDate."""

    others_activities_shown: bool = True
    """Who may read a lead and has the right "Access Activities" sees all its tasks and events; else only their own.

    No client can tell a lead that was touched unseen, so `pessimistic` leaves it; a doctor can see that it is so.
    """

    activities_touch_leads: bool = True
    """A completed task, and an event, moves its lead's SystemModstamp (as LastActivityDate changes), and nothing else.
    """

    notifications_need_right: bool = True
    """Custom notifications need the right "Send Custom Notifications"; not so in orgs of before Winter '21."""

    notification_refused_as: Literal["request", "answer", "good answer"] = "request"
    """How an action that may not notify says so: status 403 and an error of the request, or an answer of the action
    with `isSuccess` false, with status 400 or (as composites and collections have it) 200."""

    notifications_beyond_limit_refused: bool = False
    """Custom notifications beyond those of an hour are refused; otherwise they are lost, and answered as if sent."""

    history_tells_first_owner: bool = False
    """A lead that its creator does not own as its creation ends, as by an assignment rule, has a change of owner in
    LeadHistory for that; otherwise `created` alone."""

    pubsub_stream_ends_with_token: bool = True
    """A running subscription of Pub/Sub API ends when its token dies; otherwise only new calls are refused."""

    pubsub_refuses_after_s: float = 0.0
    """Real seconds until Pub/Sub API refuses a subscription. It acknowledges none, so a client takes it for granted."""

    @classmethod
    def pessimistic(cls) -> Switches:
        """Every dispute settled against the client."""
        return cls(
            stale_load=True,
            outer_header_reaches_subrequests=False,
            outer_call_options_reach_subrequests=False,
            duplicate_value_names_record=False,
            inner_success_true_when_rolled_back=True,
            only_first_error_reported=True,
            lookup_insert_locks_parent=True,
            deadlock_detected_at_once=False,
            changed_fields_present=False,
            lock_error_http_status=400,
            access_error_http_status=400,
            created_date_whole_seconds=True,
            merged_events=True,
            subrequest_uri_limit=16_384,
            mixed_type_collections_atomic=False,
            recycle_bin_keeps_unique_keys=True,
            undelete_restores_lookups=False,
            apex_update_writes_queried_fields=True,
            after_triggers_run_before_undo=True,
            for_update_locks_by_id=False,
            composite_shares_limits=True,
            composite_shares_statics=False,
            apex_insert_fills_defaults=False,
            apex_sorts_texts_by_code_point=False,
            apex_mail_refusal="NO_MASS_MAIL_PERMISSION",
            holidays_close_dates=True,
            unmodified_since_compares_system_modstamp=True,
            others_activities_shown=True,
            activities_touch_leads=True,
            notifications_need_right=True,
            notification_refused_as="good answer",
            notifications_beyond_limit_refused=True,
            history_tells_first_owner=True,
            pubsub_stream_ends_with_token=True,
            pubsub_refuses_after_s=3.0,
        )

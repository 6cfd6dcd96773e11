"""Settings from the environment and an optional .env file: every variable is named LEAD_ROUTER_<FIELD>."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

from lead_router.core.rollout import BY_DEFAULT, Switch
from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria

PREFIX = "LEAD_ROUTER_"
_ENDPOINT = re.compile(r"(?:http://(?:localhost|127\.0\.0\.1|\[::1\])|[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}")
LEASE_SLACK_S = 10.0
PORT_MAX = 65_535
WIDTH = 110  # of the example's comments, in characters


def _split(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _strip(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
Text = Annotated[str, BeforeValidator(_strip)]
Seconds = Annotated[float, Field(gt=0, le=7 * 86400)]


class Settings(BaseModel):
    """What an operator decides; each field's description stands in `.env.example`. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    login_url: Text = Field("https://login.salesforce.com", description="Where to log in: your My Domain address.")
    client_id: Text = Field("", description="Consumer key of the external client app.")
    client_secret: SecretStr | None = Field(None, description="Its secret, for the client-credentials flow.")
    client_secret_file: Path | None = Field(None, description="A file that holds the secret, instead of the secret.")
    private_key_file: Path | None = Field(None, description="PEM private key, for the JWT bearer flow.")
    private_key: SecretStr | None = Field(
        None, description=r"The key, instead of its file; its line ends may be written as \n, or all of it as base64."
    )
    username: Text = Field("", description="Integration user's username, for the JWT bearer flow.")
    audience: Text = Field("", description="JWT audience; empty: login or test.salesforce.com, from the login URL.")

    ca_file: Path | None = Field(
        None, description="PEM certificates to trust instead of the usual ones, where a proxy has its own authority."
    )

    database: Text = Field(
        "sqlite:///lead-router.db", description="Job database: sqlite:///path or postgresql://user:secret@host/name."
    )
    database_file: Path | None = Field(
        None, description="A file that holds this address, instead of the address, where a password stands in it."
    )

    intake_queues: Names = Field(("Lead_Intake",), description="Developer names of queues whose leads are unassigned.")
    intake_users: Names = Field((), description="Usernames whose leads are unassigned (a form's own user).")
    intake_statuses: Names = Field(
        (), description="Lead statuses that make a lead unassigned until its first routing, whoever owns it."
    )
    unassigned: Text = Field("", description="SOQL WHERE clause that narrows which of those leads are routed.")
    open_leads: Text = Field(
        "(NOT Status LIKE 'Closed%')",
        description="SOQL WHERE clause: which of a rep's leads count towards a cap on open leads; converted never do.",
    )
    form_field: Text = Field("", description="API name of the Lead field that names the form; empty: none.")
    submission_window_s: int = Field(
        600,
        ge=0,
        le=86400,
        description="Two leads made this close, with the same Email (where it is blank: the same digits of Phone) and "
        "the same form, are one submission; time is counted in steps of this, so up to twice as long may pass for one. "
        "0: never.",
    )
    follow_wait_s: int = Field(600, ge=0, le=86400, description="How long a second lead waits for the first's owner.")
    duplicates: Switch = Field(
        Switch.LIVE,
        description="Later leads of one submission. live: they follow the first; observe: they are routed by "
        "themselves, with a note of whom they would follow; off: not looked for.",
    )
    matched_owner: Switch = Field(
        Switch.LIVE,
        description="Rules that give leads to a matching record's owner. live: followed; observe: passed over, with a "
        "note of whom they would choose; off: passed over, and no record is read.",
    )
    reroutes: Switch = Field(
        Switch.LIVE,
        description="Leads that, once routed, are returned to an intake owner, set back to a status of "
        "LEAD_ROUTER_INTAKE_STATUSES, or changed so that they match another group (where the group's When Group "
        "Changes, Reroute__c, is Reroute). live: routed anew; observe: left where they are, and the log says who would "
        "get them; off: left where they are.",
    )
    first_touch: Switch = Field(
        Switch.OFF,
        description="Leads that a group with Accept Within (Accept_Within__c) gave to a rep who does not touch them in "
        "that many minutes of the group's hours. live: the rep is reminded, then the next member has the lead, at last "
        "the group's manager; observe: the log says what would be done; off: no clock runs.",
    )
    untouched: Text = Field(
        BY_DEFAULT.untouched,
        description="SOQL WHERE clause: as long as a lead meets it, and has no completed task and no event, nobody has "
        "touched it.",
    )
    first_touch_reminder: float = Field(
        BY_DEFAULT.reminder,
        ge=0,
        lt=1,
        description="Share of that time after which the rep is reminded, once an assignment; 0: never.",
    )
    first_touch_reroutes: int = Field(
        BY_DEFAULT.reroutes,
        ge=0,
        le=20,
        description="How often in a row such a lead goes to another member, where its group does not say (Most "
        "Re-routes, Accept_Chain_Max__c); then the manager has it.",
    )
    first_touch_every_s: Seconds = Field(30.0, description="How often to look for such leads; a look is a call or two.")
    reroutes_max: int = Field(3, ge=1, le=100, description="Re-routes of one lead within an hour; then it is held.")
    lock_touch: bool = Field(default=True, description="Take the leads' locks before their owners are compared.")

    enrichment_file: Path | None = Field(
        None, description="YAML file that says which provider is asked about each lead; empty: none."
    )
    enrichment_secret: SecretStr | None = Field(
        None, description="The provider's secret, for {secret} in a header of that file."
    )
    enrichment_secret_file: Path | None = Field(None, description="A file that holds it, instead of the secret.")
    scoring_file: Path | None = Field(
        None, description="YAML file with criteria and their points, for rules to use their sum; empty: no score."
    )

    stream: Literal["auto", "pubsub", "cometd"] = Field(
        "auto",
        description="How events come: pubsub (Pub/Sub API), cometd, or auto: Pub/Sub API where it is installed "
        "(the extra 'pubsub') and reached, else CometD.",
    )
    pubsub_endpoint: Text = Field(
        "",
        description="Where Pub/Sub API is, as host:port (http:// before it: without TLS, on this machine only). Empty: "
        "Salesforce's own, and none for an org on this machine.",
    )
    stream_channel: Text = Field("/data/LeadChangeEvent", description="Channel to listen to.")
    stream_start: Literal["new", "retained"] = Field(
        "new", description="Where a channel without a stored position starts; either way a sweep runs first."
    )

    workers: int = Field(1, ge=1, le=16, description="Worker threads; more than one only with PostgreSQL helps.")
    batch_max: int = Field(200, ge=1, le=200, description="Leads per commit.")
    lease_s: Seconds = Field(60.0, description="How long a claimed job is one worker's.")
    attempts_max: int = Field(8, ge=1, le=100, description="Attempts before a job is dead.")
    backoff_first_s: Seconds = Field(2.0, description="Wait after the first failed attempt; doubles each time.")
    backoff_cap_s: Seconds = Field(300.0, description="Longest wait between two attempts.")
    poll_s: Seconds = Field(0.5, description="How often an idle worker looks for jobs of other processes.")
    sweep_every_s: Seconds = Field(300.0, description="How often to look for leads that no event brought.")
    silent_after_s: Seconds = Field(
        60.0,
        description="A lead that a sweep finds this long after it came, while the stream was subscribed and brought "
        "nothing: the stream is silent. The log warns and it is subscribed anew.",
    )
    configuration_events: bool = Field(
        default=True, description="Reload at once when a rule or an absence changes; needs their change events."
    )
    configuration_every_s: Seconds = Field(30.0, description="How often to reload rules, groups and hours in any case.")
    verify_every_s: float = Field(
        3600.0,
        ge=0,
        le=7 * 86400,
        description="How often to hold the rotations against the ledger, in a call or a few; 0: never. The log warns "
        "of drift, and `lead-router verify` shows it.",
    )
    ledger_since: AwareDatetime | None = Field(
        None,
        description="Rows of the ledger before this instant (2026-01-31T00:00:00Z) may have been archived or deleted: "
        "that they are missing is no drift. Empty: only the first turns of a group's oldest epoch may be missing.",
    )
    keep_done_days: int = Field(30, ge=4, le=3650, description="Days to keep finished jobs (replays last three).")
    connect_timeout_s: Seconds = Field(5.0, description="Longest wait for a connection.")
    read_timeout_s: Seconds = Field(30.0, description="Longest wait for an answer.")
    notice_file: Path | None = Field(
        None,
        description="YAML file of channels that are told of each assignment: Slack, Teams, e-mail and others by "
        "apprise (the extra 'operations'), and Salesforce's own notifications; deploy/RUNBOOK.md shows one. Empty: "
        "nobody is told.",
    )
    health_address: Text = Field(
        "",
        description="Where the running router answers /healthz, /readyz and /metrics over HTTP: a port of the loopback "
        "address (9466) or an address with its port (127.0.0.1:9466, 0.0.0.0:9466, [::1]:9466); port 0 takes a free "
        "one, which the log names; empty: nowhere. No login is asked for, so let only those reach it who may.",
    )
    console_token: SecretStr | None = Field(
        None, description="What signs in to the console, 16 characters or more; on the loopback address none is needed."
    )
    console_token_file: Path | None = Field(None, description="A file that holds it, instead of the token.")
    console_hosts: Names = Field(
        (),
        description="Names by which browsers reach the console, as behind a proxy: console.example.com. Addresses and "
        "localhost need none; a name needs a token.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        least = self.connect_timeout_s + self.read_timeout_s + LEASE_SLACK_S
        if self.lease_s < least:
            raise ValueError(f"{PREFIX}LEASE_S must be at least {least:g}: one call may take that long")
        for name in ("client_secret", "private_key", "database", "enrichment_secret", "console_token"):
            if name in self.model_fields_set and getattr(self, name) and getattr(self, f"{name}_file"):
                raise ValueError(f"set {named(name)} or {named(name)}_FILE, not both")
        if (self.private_key or self.private_key_file) and not self.username:
            raise ValueError(f"{PREFIX}PRIVATE_KEY{'_FILE' * bool(self.private_key_file)} needs {PREFIX}USERNAME")
        if not self.stream_channel.startswith(("/data/", "/event/")):
            raise ValueError(f"{PREFIX}STREAM_CHANNEL must start with /data/ or /event/")
        if self.health_address:
            host_and_port(self.health_address)
        if self.pubsub_endpoint and not _ENDPOINT.fullmatch(self.pubsub_endpoint):
            raise ValueError(f"{PREFIX}PUBSUB_ENDPOINT must look like host:7443 (http:// is for this machine only)")
        for name in ("unassigned", "open_leads", "untouched"):
            try:
                compile_where(getattr(self, name))
            except BadCriteria as fault:
                raise ValueError(f"{named(name)}: {fault}") from None
        return self


def host_and_port(address: str) -> tuple[str, int]:
    """`9466`, `127.0.0.1:9466` or `[::1]:9466`; a port alone is of the loopback address. Raises ValueError."""
    host, _, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not port.isdecimal() or int(port) > PORT_MAX or (":" in bare and bare == host) or not (bare or address == port):
        raise ValueError(f"{named('health_address')} must be a port, or an address and a port: 127.0.0.1:9466")
    return bare or "127.0.0.1", int(port)


def named(name: str) -> str:
    """A field's variable."""
    return PREFIX + name.upper()

"""Settings from the environment and an optional .env file: every variable is named LEAD_ROUTER_<FIELD>."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Literal, Self

from dotenv import dotenv_values
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails

from lead_router.core.rollout import Switch
from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria, Misconfigured

PREFIX = "LEAD_ROUTER_"
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
    reroutes_max: int = Field(3, ge=1, le=100, description="Re-routes of one lead within an hour; then it is held.")
    lock_touch: bool = Field(default=True, description="Take the leads' locks before their owners are compared.")

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
    keep_done_days: int = Field(30, ge=4, le=3650, description="Days to keep finished jobs (replays last three).")
    connect_timeout_s: Seconds = Field(5.0, description="Longest wait for a connection.")
    read_timeout_s: Seconds = Field(30.0, description="Longest wait for an answer.")
    health_address: Text = Field(
        "",
        description="Where the running router answers /healthz and /readyz over HTTP: a port of the loopback address "
        "(9466) or an address with its port (127.0.0.1:9466, 0.0.0.0:9466, [::1]:9466); port 0 takes a free one, which "
        "the log names; empty: nowhere. No login is asked for, so let only those reach it who may.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        least = self.connect_timeout_s + self.read_timeout_s + LEASE_SLACK_S
        if self.lease_s < least:
            raise ValueError(f"{PREFIX}LEASE_S must be at least {least:g}: one call may take that long")
        if self.client_secret and self.client_secret_file:
            raise ValueError(f"set {PREFIX}CLIENT_SECRET or {PREFIX}CLIENT_SECRET_FILE, not both")
        if self.private_key and self.private_key_file:
            raise ValueError(f"set {PREFIX}PRIVATE_KEY or {PREFIX}PRIVATE_KEY_FILE, not both")
        if (self.private_key or self.private_key_file) and not self.username:
            raise ValueError(f"{PREFIX}PRIVATE_KEY{'_FILE' * bool(self.private_key_file)} needs {PREFIX}USERNAME")
        if not self.stream_channel.startswith(("/data/", "/event/")):
            raise ValueError(f"{PREFIX}STREAM_CHANNEL must start with /data/ or /event/")
        if self.health_address:
            host_and_port(self.health_address)
        for name in ("unassigned", "open_leads"):
            try:
                compile_where(getattr(self, name))
            except BadCriteria as fault:
                raise ValueError(f"{_named(name)}: {fault}") from None
        return self


def host_and_port(address: str) -> tuple[str, int]:
    """`9466`, `127.0.0.1:9466` or `[::1]:9466`; a port alone is of the loopback address. Raises ValueError."""
    host, _, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not port.isdecimal() or int(port) > PORT_MAX or (":" in bare and bare == host) or not (bare or address == port):
        raise ValueError(f"{_named('health_address')} must be a port, or an address and a port: 127.0.0.1:9466")
    return bare or "127.0.0.1", int(port)


_WORDED = {
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "bool_parsing": "must be true or false",
    "int_parsing": "must be a whole number",
    "float_parsing": "must be a number",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
}


def _worded(fault: ErrorDetails) -> str:
    """What the value must be; pydantic's own words where ours say nothing of the kind of fault."""
    ours = _WORDED.get(fault["type"])
    return fault["msg"].removeprefix("Value error, ") if ours is None else ours.format(**fault.get("ctx", {}))


def _named(name: str) -> str:
    return PREFIX + name.upper()


def _refuse_unknown(names: Mapping[str, str]) -> None:
    known = {_named(name) for name in Settings.model_fields}
    for name in sorted(names.keys() - known):
        near = difflib.get_close_matches(name, sorted(known), n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `lead-router init` writes a file with all there are"
        raise Misconfigured(f"{names[name]} is not a setting{hint}")


def _quoted(value: str) -> bool:
    return len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"


def _refuse_quotes(values: Mapping[str, str], told: Mapping[str, str]) -> None:
    for name, value in values.items():
        if _quoted(value.strip()):
            raise Misconfigured(f"{told[name]} has quotes in its value: remove them")


def load(environment: Mapping[str, str], env_file: Path | None = None) -> Settings:
    """Settings from `environment`, which wins over `env_file`; raises Misconfigured naming the setting and remedy."""
    values = _filed(env_file) if env_file is not None else {}
    told = {name: f"{name} (in {env_file})" for name in values}
    set_here = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    values |= set_here
    told |= {name: name for name in set_here}
    _refuse_unknown(told)
    _refuse_quotes(values, told)
    fields = {name.removeprefix(PREFIX).lower(): value for name, value in values.items() if value.strip()}
    try:
        return Settings.model_validate(fields)
    except ValidationError as refused:
        fault = refused.errors(include_input=False, include_url=False)[0]
        name = _named(str(fault["loc"][0])) if fault["loc"] else ""
        where = told.get(name, name) + ": " if name else ""
        raise Misconfigured(where + _worded(fault)) from None


def _filed(env_file: Path) -> dict[str, str]:
    try:
        if env_file.is_dir():
            raise Misconfigured(f"{env_file} is a folder: name a settings file")
        if not env_file.exists():
            raise Misconfigured(f"{env_file} does not exist: run `lead-router init` to write one")
        filed = dotenv_values(env_file, interpolate=False)
    except UnicodeDecodeError:
        raise Misconfigured(f"{env_file} is not a text in UTF-8: save it as one") from None
    except OSError as fault:
        raise Misconfigured(f"{env_file} cannot be read: {fault.strerror}") from None
    return {name: value or "" for name, value in filed.items() if name.startswith(PREFIX)}


def secret_text(path: Path, setting: str) -> str:
    """The text of a secret's file, without the newline an editor adds; raises Misconfigured without showing it."""
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise Misconfigured(f"{setting}: cannot read {path}: {type(fault).__name__}") from None
    if not text:
        raise Misconfigured(f"{setting}: {path} is empty")
    if _quoted(text):
        raise Misconfigured(f"{setting}: what {path} holds is in quotes: remove them")
    return text


def exposed(settings: Settings, env_file: Path | None = None) -> list[str]:
    """For each file with a secret that others than its owner may read: its setting, its path and the remedy."""
    files = {
        f"{PREFIX}CLIENT_SECRET_FILE": settings.client_secret_file,
        f"{PREFIX}PRIVATE_KEY_FILE": settings.private_key_file,
        "--env-file": env_file if env_file is not None and _secrets(_filed(env_file)) else None,
    }
    found = ((setting, path, _others(path)) for setting, path in files.items() if path is not None)
    return [
        f"{setting}: {path} may be read by others than its owner (mode {mode:04o}): chmod 600 {path}"
        for setting, path, mode in found
        if mode is not None
    ]


def _secrets(filed: Mapping[str, str]) -> bool:
    words = (_named("client_secret"), _named("private_key"))
    return any(filed.get(name) for name in words) or "@" in filed.get(_named("database"), "")


def _others(path: Path) -> int | None:
    """The mode of a file that its group or all others may read, None for one that they may not."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None
    return mode if mode & (stat.S_IRGRP | stat.S_IROTH) else None


def example() -> str:
    """The text of `.env.example`: every setting with its description and default, commented out."""
    lines = ["# lead-router settings. Remove the `# ` before a line to set it; the values shown are the defaults.", ""]
    for name, field in Settings.model_fields.items():
        default = field.default
        if isinstance(default, tuple):
            shown = ",".join(default)
        elif isinstance(default, bool):
            shown = str(default).lower()
        else:
            shown = "" if default is None else f"{default:g}" if isinstance(default, float) else str(default)
        lines += wrap(field.description or "", WIDTH, initial_indent="# ", subsequent_indent="# ")
        lines += [f"# {_named(name)}={shown}", ""]
    return "\n".join(lines)

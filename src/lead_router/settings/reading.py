"""Settings read from the environment and a file, the files of secrets, and the file that shows them all."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap

from dotenv import dotenv_values
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from lead_router.errors import Misconfigured
from lead_router.settings.fields import PREFIX, WIDTH, Settings, named

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


def _refuse_unknown(names: Mapping[str, str]) -> None:
    known = {named(name) for name in Settings.model_fields}
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
        settings = Settings.model_validate(fields)
    except ValidationError as refused:
        fault = refused.errors(include_input=False, include_url=False)[0]
        name = named(str(fault["loc"][0])) if fault["loc"] else ""
        where = told.get(name, name) + ": " if name else ""
        raise Misconfigured(where + _worded(fault)) from None
    if settings.database_file is None:
        return settings
    return settings.model_copy(update={"database": secret_text(settings.database_file, named("database_file"))})


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
        f"{PREFIX}DATABASE_FILE": settings.database_file,
        f"{PREFIX}ENRICHMENT_SECRET_FILE": settings.enrichment_secret_file,
        f"{PREFIX}CONSOLE_TOKEN_FILE": settings.console_token_file,
        "--env-file": env_file if env_file is not None and _secrets(_filed(env_file)) else None,
    }
    return readable_by_others({setting: path for setting, path in files.items() if path is not None})


def readable_by_others(files: Mapping[str, Path]) -> list[str]:
    """The same of these files, by what names each."""
    found = ((setting, path, _others(path)) for setting, path in files.items())
    return [
        f"{setting}: {path} may be read by others than its owner (mode {mode:04o}): chmod 600 {path}"
        for setting, path, mode in found
        if mode is not None
    ]


def _secrets(filed: Mapping[str, str]) -> bool:
    words = (named("client_secret"), named("private_key"), named("enrichment_secret"), named("console_token"))
    return any(filed.get(name) for name in words) or "@" in filed.get(named("database"), "")


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
        lines += [f"# {named(name)}={shown}", ""]
    return "\n".join(lines)

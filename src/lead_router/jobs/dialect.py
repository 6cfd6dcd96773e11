"""What differs between the two databases in SQL text, and the one translation of a statement into either."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_PARAMETER = re.compile(r"('[^']*'|--[^\n]*)|:([a-z_]+)")
_FIELD = re.compile(r"r\.value ->> '([a-z_]+)'")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The fragments that a statement names in braces.

    `now` is the database's time in milliseconds since 1970; `rows` turns the JSON list `:rows` into `r(key, value)`;
    `skip_locked` passes over rows that another transaction is claiming; `line_up` waits for an org's other recorders;
    `tables` lists the tables already there; `payload_odd` is the second of a payload's submission keys.
    """

    parameter: str
    field: str
    now: str
    rows: str
    skip_locked: str
    line_up: str
    id: str
    text: str
    bytes: str
    payload_odd: str
    tables: str


SQLITE = Dialect(
    parameter=":{}",
    field="json_extract(r.value, '$.{}')",  # the arrow came with SQLite 3.38, later than some systems have
    now=":now",  # the engine's clock, read once the write lock is held
    rows="json_each(:rows) AS r",
    skip_locked="",  # BEGIN IMMEDIATE lets one writer in at a time
    line_up="SELECT 1",  # the same
    id="INTEGER PRIMARY KEY AUTOINCREMENT",  # never reuses an id, so ids tell the order of arrival
    text="TEXT",  # compares byte by byte: Salesforce ids differ in case alone
    bytes="BLOB",
    payload_odd="json_extract(payload, '$.submission[1]')",
    tables="SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
)

POSTGRES = Dialect(
    parameter="%({})s",
    field="(r.value ->> '{}')",
    now="CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT)",  # stable, so that an index can be used
    rows="jsonb_array_elements(CAST(:rows AS jsonb)) WITH ORDINALITY AS r(value, key)",
    skip_locked="FOR UPDATE OF j SKIP LOCKED",
    line_up="SELECT pg_advisory_xact_lock(hashtextextended(:org_id, 727561033))",
    id="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    text='TEXT COLLATE "C"',  # compares byte by byte: Salesforce ids differ in case alone
    bytes="BYTEA",
    payload_odd="""substring(payload FROM '"submission": .".{32}", "(.{32})".')""",  # a cast would refuse NUL
    tables="SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()",
)


@cache
def translate(sql: str, dialect: Dialect) -> str:
    """The statement in the database's own spelling; `:name` inside quotes and comments stays as it is."""
    for fragment in ("now", "rows", "skip_locked", "line_up", "id", "text", "bytes", "payload_odd"):
        sql = sql.replace("{" + fragment + "}", getattr(dialect, fragment))
    sql = _FIELD.sub(lambda found: dialect.field.format(found[1]), sql)
    return _PARAMETER.sub(lambda found: found[1] or dialect.parameter.format(found[2]), sql)

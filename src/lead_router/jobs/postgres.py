"""The shared engine: PostgreSQL, for several routers at a time.

Nothing is kept in the session between two transactions, so that a pool in transaction mode may stand in between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow, dict_row

from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs.dialect import POSTGRES, translate
from lead_router.jobs.engine import SETTING, Row, Run, Step, T
from lead_router.jobs.migrations import TABLES
from lead_router.jobs.patience import Bounded

TRIES: Final = 5
"""How often a transaction is begun again after the database broke it off in favour of another one."""

LOCK_WAIT_S: Final = 10.0
"""How long a statement waits for a lock before its verb fails."""

STATEMENT_S: Final = 60.0
"""How long the server works on one statement."""

ANSWER_S: Final = 75.0
"""How long a silent server is waited for: longer than it works on a statement."""

STALL_S: Final = 4.0
"""How long a transaction may rest in mid-way: a router that stalls or vanishes there must not hold up the others."""

CONNECTION: Final = {
    "application_name": "lead-router",
    "connect_timeout": 5,  # seconds
    "keepalives_idle": 10,  # seconds; a vanished server is noticed within half a minute
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,  # milliseconds
}
"""What applies where the address does not say otherwise."""

ENCODINGS: Final = frozenset({"UTF8", "SQL_ASCII"})
"""Encodings of a database that keep every text: the second, that of a server set up in no language, takes any bytes."""

# Waiting is bounded, and a database that confirms before it has written is told not to. Every statement has its index:
# statistics taken while the queue was short must not have a table of a million finished jobs read through. No plan is
# worth compiling, however dear a table without an index of use makes it look.
_BEFORE: Final = """
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SET LOCAL lock_timeout = {lock_ms:.0f};
    SET LOCAL statement_timeout = {statement_ms:.0f};
    SET LOCAL idle_in_transaction_session_timeout = {stall_ms:.0f};
    SET LOCAL enable_seqscan = off;
    SET LOCAL jit = off;
"""
_SYNCED: Final = """
    SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END
"""
_NOT_SYNCED: Final = "SET LOCAL synchronous_commit = off"
_MIGRATION_LOCK: Final = "SELECT pg_advisory_xact_lock(727561032)"
_ONE_WORKING: Final = "routing_job_one_working"
_REFUSED_SINCE: Final = (
    "refuses the login that it accepted before: nothing is lost, and routing goes on once it accepts it again; set "
    "user, password and database right there, or change the setting and restart this router"
)
_RIGHT_TAKEN: Final = (
    "nothing is lost, and routing goes on once it has that again; grant it all rights on the tables of that database."
)


class PostgresEngine:
    """See Engine. Once `admitted`, by an earlier engine or itself, a refused login is an outage that a person ends.

    So is, where an earlier one was, a right that its user lacks.
    """

    dialect = POSTGRES

    def __init__(
        self, url: str, *, lock_wait_s: float = LOCK_WAIT_S, answer_s: float = ANSWER_S, admitted: bool = False
    ) -> None:
        self._answer_s = answer_s
        self._started = self._admitted = admitted
        self._before = _BEFORE.format(
            lock_ms=lock_wait_s * 1000, statement_ms=STATEMENT_S * 1000, stall_ms=STALL_S * 1000
        )
        self._address = _address(url)
        self._connection: Bounded | None = self._connect()

    def write(self, steps: Sequence[Step], *, synced: bool = True, tidies: bool = False) -> list[list[Row]]:
        """All steps travel together, so that a transaction costs one round trip. The server tidies by itself."""
        del tidies
        before = self._before + (_SYNCED if synced else _NOT_SYNCED)
        return self._guarded(lambda connection: _sent(connection, before, steps), self._answer_s)

    def read(self, steps: Sequence[Step]) -> list[list[Row]]:
        """As write."""
        return self.write(steps)

    def exclusively(self, body: Callable[[Run], T]) -> T:
        """The lock ends with the transaction, whoever dies in between. A migration may take as long as it takes."""

        def locked(connection: Bounded) -> T:
            with connection.transaction():
                connection.execute(_MIGRATION_LOCK)
                return body(lambda sql, values: _fetched(connection.execute(translate(sql, POSTGRES), values)))

        return self._guarded(locked, None)

    def close(self) -> None:
        """May be called again; the next call of another verb connects anew."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _guarded(self, transaction: Callable[[Bounded], T], silence_s: float | None) -> T:
        for left in reversed(range(TRIES)):
            connection = self._connection = self._connection or self._connect()
            connection.silence_s = silence_s
            try:
                return transaction(connection)
            except psycopg.Error as fault:
                if _broken_off(fault) and left:
                    continue
                self.close()
                self._refuse(fault)
        raise AssertionError

    def _connect(self) -> Bounded:
        try:
            # Never prepared: plans are made for the values at hand, and no statement outlives its transaction.
            connection = Bounded.connect(
                make_conninfo(**self._address), autocommit=True, prepare_threshold=None, row_factory=dict_row
            )
        except psycopg.Error as fault:
            self._refuse(fault)
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        encoding = connection.info.parameter_status("server_encoding") or "UTF8"  # a pool may not tell it
        if encoding not in ENCODINGS:
            connection.close()
            raise Misconfigured(
                f"The job database {self._place()} ({SETTING}) has the encoding {encoding}, which lacks most letters: "
                "make one by `createdb --encoding=UTF8 --locale=C --template=template0` and name that."
            )
        self._admitted = True
        return connection

    def _refuse(self, fault: psycopg.Error) -> NoReturn:
        """Name the remedy. A fault's own text is told only where it speaks of the connection, without the password."""
        where = f"The job database {self._place()} ({SETTING})"
        text = self._without_password(str(fault).strip().splitlines()[0]) if str(fault).strip() else ""
        match fault:
            case pg.InsufficientPrivilege() if self._started:
                raise StoreUnavailable(f"{where} refuses this user a right on {_named(text)}: {_RIGHT_TAKEN}") from None
            case pg.InsufficientPrivilege():
                raise Misconfigured(
                    f"{where} refuses this user: grant CREATE on the schema and all rights on its tables."
                ) from None
            case pg.ReadOnlySqlTransaction():
                raise StoreUnavailable(f"{where} is read-only: name the primary server.") from None
            case psycopg.OperationalError() if _hopeless(fault, text) and self._admitted:
                raise StoreUnavailable(f"{where} {_REFUSED_SINCE}: {text}") from None
            case psycopg.OperationalError() if _hopeless(fault, text):
                raise Misconfigured(f"{where} refuses the connection, check user, password and name: {text}") from None
            case psycopg.OperationalError() | psycopg.InterfaceError():
                raise StoreUnavailable(f"{where} did not answer, check that it runs: {text}") from None
            case _:
                raise StoreUnavailable(
                    f"{where} refused a statement: {type(fault).__name__}, {fault.sqlstate}."
                ) from None

    def _place(self) -> str:
        host = self._address.get("host") or self._address.get("hostaddr") or "local socket"
        return f"{self._address.get('dbname', '')} at {host}:{self._address.get('port', 5432)}"

    def _without_password(self, text: str) -> str:
        password = self._address.get("password")
        return text.replace(str(password), "***") if password else text


def _address(url: str) -> dict[str, Any]:
    """What the url says, over what applies where it does not."""
    try:
        # Whatever the server, the address or PGCLIENTENCODING would have: texts of an org hold any letter.
        address = {**CONNECTION, **conninfo_to_dict(url), "client_encoding": "UTF8"}
    except psycopg.ProgrammingError:
        address = {"host": "@"}  # the fault itself may quote the password
    # A password with an unescaped sign ends early, and its rest is read as host, port or database.
    if "@" in f"{address.get('host')}{address.get('dbname')}" or not re.fullmatch(
        r"[\d,]*", str(address.get("port", ""))
    ):
        raise Misconfigured(
            f"{SETTING} is not a PostgreSQL address: write postgresql://<user>:<secret>@host:5432/database, "
            "and in it %40 for @, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %."
        )
    return address


def _sent(connection: Bounded, before: str, steps: Sequence[Step]) -> list[list[Row]]:
    """Several statements in one simple query are one transaction, which the server itself begins and commits."""
    cursor = psycopg.ClientCursor(connection)
    texts = [cursor.mogrify(translate(sql, POSTGRES), values) for sql, values in steps]
    cursor.execute("\n;\n".join((before, *texts)))
    answers = [_fetched(cursor)]
    while cursor.nextset():
        answers.append(_fetched(cursor))
    return answers[-len(steps) :]


def _fetched(cursor: psycopg.Cursor[DictRow]) -> list[Row]:
    return list(cursor) if cursor.description else []


def _broken_off(fault: psycopg.Error) -> bool:
    """Another transaction went first: this one left no trace, and sees the other's work when begun again."""
    match fault:
        case pg.DeadlockDetected() | pg.SerializationFailure():
            return True
        case pg.UniqueViolation():
            return fault.diag.constraint_name == _ONE_WORKING
        case _:
            return False


def _named(text: str) -> str:
    """The tables of ours that a refusal speaks of, in whatever language, and nothing else of it."""
    return ", ".join(sorted({"schema_version", *TABLES} & set(re.findall(r"\w+", text)))) or "what it works on"


def _hopeless(fault: psycopg.OperationalError, text: str) -> bool:
    """Whether a refused connection stays refused until a person acts; libpq tells these by their text alone."""
    return isinstance(fault, pg.InvalidPassword | pg.InvalidCatalogName | pg.InvalidAuthorizationSpecification) or any(
        words in text
        for words in ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied")
    )

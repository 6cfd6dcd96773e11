"""Where an SQLite file lies: its locks and its write-ahead log hold on one machine's own disk."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Final

from lead_router.jobs.engine import SETTING

NETWORKED: Final = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "glusterfs", "lustre", "nfs", "nfs4", "smb3", "smbfs"}
    | {"fuse.grpcfuse", "fuse.osxfs", "fakeowner", "vboxsf", "virtiofs", "prl_fs"}
)
"""File systems, as Linux names them, that other machines share: the network's, and a container's view of its host's."""


def doubt(url: str, *, mounts: Path = Path("/proc/self/mountinfo")) -> str | None:
    """Why the database file at `url` may be damaged or lock for ever, if the file system gives a reason to think so.

    `mounts` is Linux's table of mounts (proc(5)); where there is none, nothing is known and nothing is said.
    """
    if not url.startswith("sqlite:///") or not mounts.exists():
        return None
    folder = Path(url.removeprefix("sqlite:///")).resolve().parent
    kind = _file_system(folder, mounts.read_text("utf-8", "surrogateescape"))
    if kind not in NETWORKED:
        return None
    return (
        f"{folder} is on {kind}, which other machines may share: SQLite's locks do not hold there. "
        f"Name a file on a local disk in {SETTING}, or a PostgreSQL database."
    )


@contextmanager
def alone(url: str) -> Iterator[bool]:
    """Whether no other router of this machine runs on the same SQLite file; True where that cannot be known.

    Held by a lock on a file of its own beside the database's: SQLite's own must not be opened and closed by others. The
    system lets go of it when the process ends, however it ends.
    """
    if not url.startswith("sqlite:///"):
        yield True
        return
    path = Path(url.removeprefix("sqlite:///")).absolute()
    try:
        descriptor = os.open(path.with_name(path.name + ".running"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield True
        return
    try:
        yield _locked(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _file_system(folder: PurePath, mountinfo: str) -> str | None:
    """The type of the deepest mount above the folder; of two at one place the later covers the earlier."""
    found: tuple[int, str] | None = None
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        point = PurePath(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), left.split(" ")[4]))
        if folder.is_relative_to(point) and (found is None or len(point.parts) >= found[0]):
            found = (len(point.parts), right.split(" ")[0])
    return found[1] if found else None

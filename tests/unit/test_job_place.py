"""Which file systems an SQLite file should not lie on."""

from __future__ import annotations

import pytest

from lead_router.jobs import doubt

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:5 / /srv rw - nfs4 files:/srv rw
24 23 8:2 / /srv/local rw - xfs /dev/sdb1 rw
25 22 0:6 / /my\040share rw - cifs //files/share rw
26 22 8:3 / /data rw - nfs files:/data rw
27 22 8:3 / /data rw - ext4 /dev/sdc1 rw
"""


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("/jobs.db", None),
        ("/srv/jobs.db", "nfs4"),
        ("/srv/deep/er/jobs.db", "nfs4"),
        ("/srv/local/jobs.db", None),
        ("/srvice/jobs.db", None),
        ("/my share/jobs.db", "cifs"),
        ("/data/jobs.db", None),
    ],
)
def test_a_shared_file_system_is_doubted(tmp_path, file, kind):
    """The deepest and latest mount decides; the text names folder, setting and PostgreSQL (F11)."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    text = doubt(f"sqlite:///{file}", mounts=mounts)
    if kind is None:
        assert text is None
    else:
        assert f"{file.removesuffix('/jobs.db')} is on {kind}" in text
        assert "LEAD_ROUTER_DATABASE" in text
        assert "PostgreSQL" in text


def test_nothing_is_said_where_nothing_is_known(tmp_path):
    """No table of mounts, or no file at all."""
    assert doubt("sqlite:////srv/jobs.db", mounts=tmp_path / "absent") is None
    assert doubt("postgresql://host/jobs") is None


def test_this_machines_table_is_read(tmp_path):
    """Whatever it holds."""
    assert doubt(f"sqlite:///{tmp_path}/jobs.db") in {None, doubt(f"sqlite:///{tmp_path}/other.db")}

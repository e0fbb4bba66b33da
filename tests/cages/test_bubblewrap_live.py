"""The cage by bubblewrap, with a real agent process, as on a kernel without Landlock."""

import os
import shutil
from pathlib import Path

import pytest
from tests.cages.caged import caged

from bascule.daemon.cages import bubblewrap
from bascule.daemon.cages.detection import Cage
from bascule.model.errors import Refused

# Codex brings a bubblewrap of its own, which will do where none is installed.
CODEX = "codex/node_modules/@openai/codex-linux-*/vendor/*/codex-resources/bwrap"


def _program() -> str:
    scratch = os.environ.get("BASCULE_SCRATCH", "")
    brought = sorted(Path(scratch).glob(CODEX)) if scratch else []
    return shutil.which("bwrap") or (str(brought[0]) if brought else "")


PROGRAM = _program()
REASON = "no bubblewrap that works: neither on the PATH nor below BASCULE_SCRATCH"
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not PROGRAM or not bubblewrap.usable(PROGRAM), reason=REASON),
]
REFUSED = {"read outside", "list outside", "write outside", "empty outside", "rename outside"} | {
    "link into the project",
    "go through a link",
    "make outside",
    "reach the keeper",
    "signal outside",
}


@pytest.mark.row("R18")
async def test_bubblewrap_keeps_what_is_outside_out_of_sight_for_children_and_orphans_too(short_dir):
    async with caged(short_dir, look=lambda _: Cage("bubblewrap", program=PROGRAM)) as machine:
        report = await machine.tries("s1", "project_scoped")
        assert report["child"] == report["itself"] == report["orphan"]
        assert {name for name, came in report["itself"].items() if came != "done"} == REFUSED
        assert machine.secret.read_text() == "secret"
        with pytest.raises(Refused, match="TCP ports needs Landlock"):
            await machine.tries("s2", "read_only")
        assert await machine.daemon.store.session("s2") is None

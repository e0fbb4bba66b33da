"""The page folds events exactly as the server does: both are held to the same fixtures."""

import subprocess
from pathlib import Path

import pytest
from tests.waiting import PATIENCE
from tests.web.fold_fixtures import FOLDER, SCENES, scene
from tests.web.node import NODE, needs_node

CHECKS = Path(__file__).parent / "reduce_checks.mjs"


@pytest.mark.parametrize("name", SCENES)
def test_python_folds_the_fixture_as_it_is_written(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_bytes() == scene(SCENES[name])


@needs_node
def test_the_page_folds_every_fixture_to_the_same_entries() -> None:
    done = subprocess.run(
        [str(NODE), "--test", str(CHECKS)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr

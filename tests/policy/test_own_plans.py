"""`policy/own_plans.py`, held to the same cases as the page."""

import json
from pathlib import Path

import pytest

from bascule.policy.own_plans import is_own_plan

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "own_plans.json").read_text())


@pytest.mark.parametrize(("path", "cwd", "own"), CASES)
def test_a_plan_outside_the_folder_is_the_agents_own(path: str, cwd: str, own: bool) -> None:
    assert is_own_plan(path, cwd) is own

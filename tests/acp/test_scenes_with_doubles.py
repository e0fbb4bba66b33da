"""Scenes of the conformance run, played by scripted agents: that the scene itself holds, without any CLI."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.conformance.candidates import CANDIDATES
from tests.conformance.every_agent import SCENES
from tests.conformance.playing import played
from tests.conformance.talk import Talk
from tests.live import LiveServer
from tests.modelapi.server import ScriptedModel
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

FAKES = Path(__file__).parents[1] / "fakes"


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    for driver in ("acp", "codex"):
        double = f'args = ["{FAKES / driver}_agent.py"]'
        text = f'name = "double-{driver}"\ntitle = "Double"\nsearch = ["{{python}}"]\n'
        made.add_agent_file(driver, f'{text}[[drivers]]\nname = "{driver}"\n{double}\n')
    async with made:
        yield made


@pytest.mark.row("B8")
@pytest.mark.parametrize("driver", ["acp", "codex"])
async def test_a_model_that_refuses_the_key_fails_the_turn_in_words(server: LiveServer, driver: str) -> None:
    candidate = next(one for one in CANDIDATES if one.driver == driver)
    talk = Talk(server, ScriptedModel(), driver, agent=f"double-{driver}", driver=driver, patience=PATIENCE)
    outcome = await played("model fails", talk, SCENES[driver]["model fails"](talk, candidate))
    assert outcome.fault is None


@pytest.mark.row("B8")
async def test_a_turn_that_ends_well_is_not_taken_for_a_failed_one(server: LiveServer) -> None:
    """The double echoes what it does not know: the scene must notice that nothing failed."""
    candidate = next(one for one in CANDIDATES if one.driver == "acp")
    talk = Talk(server, ScriptedModel(), "well", agent="double-acp", driver="acp", patience=PATIENCE)
    opened = talk.open

    async def without_error(_prompt: str | None = None, **body: object) -> None:
        await opened("hello", **body)

    talk.open = without_error
    outcome = await played("model fails", talk, SCENES["acp"]["model fails"](talk, candidate))
    assert outcome.fault is not None
    assert "the turn ended end_turn, not error" in outcome.fault

"""A model the agent does not have: refused where it lists all of them, else shown only when it answered."""

import pytest
from tests.drivers import acp_lines as acp
from tests.drivers import test_codex_driver as codex
from tests.drivers.test_stream_json_driver import lines

from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.errors import InvalidInput
from bascule.model.events import AnyEvent, ModelChanged, ModelsChanged, Note, SessionReady

OFFERED = [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}]


def shown(events: list[AnyEvent]) -> list[str | None]:
    return [one.model for one in events if isinstance(one, ModelChanged | SessionReady)]


@pytest.mark.row("B10")
def test_an_acp_agent_is_not_switched_to_a_model_it_does_not_list() -> None:
    driver = acp.opened(result={"models": {"availableModels": OFFERED, "currentModelId": "small"}})
    with pytest.raises(InvalidInput, match=r"no model 'nonsense'. It offers small, large\."):
        driver.set_model("model:1", "nonsense")
    (sent,) = acp.sent_by(driver.set_model("model:2", "large"))
    assert sent["params"]["modelId"] == "large"


def codex_with_models() -> codex.CodexDriver:
    driver = codex.opened()
    events = driver.receive(codex.line(id=2, result={"data": [{"model": "small"}, {"model": "large"}]}))
    assert [type(one) for one in events] == [ModelsChanged]
    return driver


def end(driver: codex.CodexDriver, status: str) -> list[AnyEvent]:
    return driver.receive(codex.told("turn/completed", turn={"id": "t1", "status": status}))


@pytest.mark.row("B10")
def test_codex_shows_a_model_it_does_not_name_only_after_a_turn_with_it_went_well() -> None:
    driver = codex_with_models()
    driver.set_model("model:1", "large")
    assert driver.settled() == [ModelChanged("large")]
    driver.set_model("model:2", "nonsense")
    (note,) = driver.settled()
    assert isinstance(note, Note)
    assert note.code == "model_unlisted"
    assert codex.turn(driver)["params"]["model"] == "nonsense"
    assert not shown(end(driver, "failed"))
    driver.set_model("model:3", "mine")
    driver.settled()
    assert codex.turn(driver)["params"]["model"] == "mine"
    assert shown(end(driver, "completed")) == ["mine"]


INIT = {"type": "system", "subtype": "init", "session_id": "s", "permissionMode": "default"}
CHOICES = {"models": [{"value": "default"}, {"value": "sonnet"}]}


def told_of(subtype: str, response: object) -> bytes:
    answer = {"subtype": "success", "request_id": f"bascule:{subtype}:x", "response": response}
    return lines({"type": "control_response", "response": answer})


def claude() -> StreamJsonDriver:
    driver = StreamJsonDriver()
    driver.receive(told_of("initialize", CHOICES) + lines({**INIT, "model": "claude-sonnet"}))
    return driver


def result(*, failed: bool = False) -> bytes:
    return lines({"type": "result", "is_error": failed, "stop_reason": "end_turn", "result": "no such model"})


@pytest.mark.row("B10")
def test_claude_shows_a_model_it_does_not_name_only_after_a_turn_with_it_went_well() -> None:
    """It takes any word, and repeats it at the start of each turn."""
    driver = claude()
    driver.set_model("model:1", "nonsense")
    (note,) = driver.settled()
    assert isinstance(note, Note)
    events = driver.receive(told_of("set_model", {"model": "nonsense"}) + result())
    assert not shown(events), "the turn that ran meanwhile had another one"
    events = driver.receive(lines({**INIT, "model": "nonsense"}) + result(failed=True))
    assert not shown(events)
    events = driver.receive(lines({**INIT, "model": "nonsense"}) + result())
    assert shown(events) == ["nonsense"]


def test_claude_is_switched_to_a_model_it_names_at_once() -> None:
    driver = claude()
    driver.set_model("model:1", "sonnet")
    assert not driver.settled()
    assert shown(driver.receive(told_of("set_model", {"model": "claude-sonnet-9"}))) == ["claude-sonnet-9"]

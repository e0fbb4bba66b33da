"""The official ACP SDK as an oracle: its messages are understood, ours are valid, its agents are driven."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import PATIENCE

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.base import DriverLaunch
from bascule.model.events import (
    AnyEvent,
    CommandsChanged,
    EntryOpened,
    Image,
    ModeChanged,
    ModelChanged,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    SessionReady,
    TextAppended,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
    UsageChanged,
)
from bascule.model.records import Write

AGENT = Path(__file__).parents[1] / "fakes" / "sdk_agent.py"
PROMPT = PromptSent("p1", "do it", "ana")


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def dumped(model: Any) -> Any:
    return json.loads(model.model_dump_json(by_alias=True, exclude_none=True))


def opened_driver() -> AcpDriver:
    """A driver whose session exists."""
    from acp import schema

    driver = AcpDriver(DriverLaunch("/home/dev/project", "r"))
    driver.start()
    about = schema.InitializeResponse(
        protocol_version=1,
        agent_capabilities=schema.AgentCapabilities(
            load_session=True, prompt_capabilities=schema.PromptCapabilities(image=True)
        ),
    )
    driver.receive(line(id=0, result=dumped(about)))
    driver.receive(line(id=1, result=dumped(schema.NewSessionResponse(session_id="s1"))))
    driver.data_to_send()
    return driver


# Made when a test asks for them: to import the SDK takes half a second, which each worker would spend.
UPDATES: list[tuple[Callable[[Any, Any], Any], list[type[AnyEvent]]]] = [
    (lambda acp, schema: acp.update_agent_message_text("hi"), [EntryOpened, TextAppended]),
    (lambda acp, schema: acp.update_agent_thought_text("hm"), [EntryOpened, TextAppended]),
    (
        lambda acp, schema: acp.update_agent_message(acp.image_block("aGk=", "image/png")),
        [EntryOpened, TextAppended],
    ),
    (
        lambda acp, schema: acp.update_agent_message(acp.resource_link_block("notes", "file:///n")),
        [EntryOpened, TextAppended],
    ),
    (lambda acp, schema: acp.update_plan([acp.plan_entry("One")]), [PlanChanged]),
    (
        lambda acp, schema: schema.AgentPlanContentUpdate(
            session_update="plan_update",
            plan=schema.PlanUpdateItems(plan_id="1", type="items", entries=[acp.plan_entry("One")]),
        ),
        [PlanChanged],
    ),
    (
        lambda acp, schema: schema.AgentPlanRemovedUpdate(session_update="plan_removed", plan_id="1"),
        [PlanChanged],
    ),
    (
        lambda acp, schema: acp.start_tool_call(
            "t", "Run", kind="execute", status="in_progress", raw_input={"command": "ls"}
        ),
        [ToolStarted],
    ),
    (lambda acp, schema: acp.start_read_tool_call("t", "Read a", "/a"), [ToolStarted, ToolChanged]),
    (
        lambda acp, schema: acp.update_tool_call(
            "t", status="completed", content=[acp.tool_content(acp.text_block("done"))]
        ),
        [ToolStarted, ToolChanged],
    ),
    (
        lambda acp, schema: schema.CurrentModeUpdate(
            session_update="current_mode_update", current_mode_id="plan"
        ),
        [ModeChanged],
    ),
    (
        lambda acp, schema: schema.SessionInfoUpdate(session_update="session_info_update", title="A title"),
        [TitleChanged],
    ),
    (lambda acp, schema: schema.UsageUpdate(session_update="usage_update", used=1, size=10), [UsageChanged]),
    (
        lambda acp, schema: schema.AvailableCommandsUpdate(
            session_update="available_commands_update",
            available_commands=[schema.AvailableCommand(name="help", description="Help")],
        ),
        [CommandsChanged],
    ),
]


@pytest.mark.parametrize(("update", "kinds"), UPDATES, ids=map(str, range(len(UPDATES))))
def test_an_update_made_with_the_sdk_is_understood(
    update: Callable[[Any, Any], Any], kinds: list[type[AnyEvent]]
) -> None:
    import acp
    from acp import schema

    told = dumped(schema.SessionNotification(session_id="s1", update=update(acp, schema)))
    driver = opened_driver()
    events = driver.receive(line(method="session/update", params=told))
    # A call is told of once nothing more can follow about its beginning.
    events += driver.receive(line(method="session/update", params=_silent())) if not events else []
    assert [type(event) for event in events][: len(kinds)] == kinds
    assert not any(isinstance(event, Unrecognised) for event in events)


def _silent() -> dict[str, Any]:
    return {"sessionId": "s1", "update": {"sessionUpdate": "session_info_update"}}


def test_a_choice_of_models_made_with_the_sdk_is_understood() -> None:
    from acp import schema

    options = [schema.SessionConfigSelectOption(value=one, name=one.title()) for one in ("small", "large")]
    option = schema.SessionConfigOptionSelect(
        id="m", name="Model", category="model", type="select", current_value="large", options=options
    )
    update = schema.ConfigOptionUpdate(session_update="config_option_update", config_options=[option])
    driver = opened_driver()
    told = dumped(schema.SessionNotification(session_id="s1", update=update))
    assert ModelChanged("large") in driver.receive(line(method="session/update", params=told))
    sent = json.loads(driver.set_model("model:1", "small").data)
    schema.SetSessionConfigOptionSelectRequest.model_validate(sent["params"])
    assert (sent["method"], sent["params"]["configId"]) == ("session/set_config_option", "m")


def test_what_the_driver_writes_is_valid_for_the_sdk() -> None:
    from acp import schema

    driver = AcpDriver(DriverLaunch("/home/dev/project", "r"))
    schema.InitializeRequest.model_validate(json.loads(driver.start()[0].data)["params"])
    driver.receive(line(id=0, result={"protocolVersion": 1}))
    (opening,) = driver.data_to_send()
    schema.NewSessionRequest.model_validate(json.loads(opening.data)["params"])
    driver = opened_driver()
    picture = PromptSent("p2", "look", "ana", images=(Image("image/png", "aGk="),))
    asked = schema.PromptRequest.model_validate(json.loads(driver.prompt(picture).data)["params"])
    assert [one.type for one in asked.prompt] == ["text", "image"]
    schema.SetSessionModeRequest.model_validate(json.loads(driver.set_mode("mode:1", "plan").data)["params"])
    schema.CancelNotification.model_validate(json.loads(driver.interrupt("interrupt:1").data)["params"])


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_taking_up_a_session_is_valid_for_the_sdk(method: str) -> None:
    from acp import schema

    driver = AcpDriver(DriverLaunch("/home/dev/project", "r", resume="old"))
    driver.start()
    can = {"loadSession": True} if method == "session/load" else {"sessionCapabilities": {"resume": {}}}
    driver.receive(line(id=0, result={"protocolVersion": 1, "agentCapabilities": can}))
    sent = json.loads(driver.data_to_send()[0].data)
    assert sent["method"] == method
    model = schema.LoadSessionRequest if method == "session/load" else schema.ResumeSessionRequest
    model.model_validate(sent["params"])


def test_a_form_made_with_the_sdk_is_asked_and_its_answer_is_valid() -> None:
    from acp import schema

    choice = schema.ElicitationStringPropertySchema(type="string", title="Colour", enum=["Blue", "Green"])
    form = schema.ElicitationSchema(
        type="object",
        properties={
            "colour": choice,
            "sure": schema.ElicitationBooleanPropertySchema(type="boolean", title="Sure?"),
            "many": schema.ElicitationIntegerPropertySchema(type="integer", title="How many?"),
        },
    )
    driver = opened_driver()
    params = {"sessionId": "s1", "mode": "form", "message": "Please say.", "requestedSchema": dumped(form)}
    (asked,) = driver.receive(line(id=7, method="elicitation/create", params=params))
    assert isinstance(asked, QuestionAsked)
    answers = {"Colour": "Green", "Sure?": "Yes", "How many?": "3"}
    write = driver.answer_question(asked, QuestionAnswered(asked.request_id, "ana", answers))
    given = json.loads(write.data)
    assert given["result"] == {"action": "accept", "content": {"colour": "Green", "sure": True, "many": 3}}
    schema.AcceptElicitationResponse.model_validate(given["result"])


# An agent of its own -------------------------------------------------------------------------------------


class Talk:
    """Our driver and a process, joined by pipes and nothing else."""

    def __init__(self, launch: DriverLaunch) -> None:
        self.driver = AcpDriver(launch)
        self.events: list[AnyEvent] = []
        self.process = subprocess.Popen(
            [sys.executable, str(AGENT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.write(*self.driver.start())

    def write(self, *writes: Write) -> None:
        assert self.process.stdin is not None
        for write in writes:
            self.process.stdin.write(write.data)
        self.process.stdin.flush()

    def until(self, wanted: type[AnyEvent] | Callable[[AnyEvent], bool]) -> Any:
        """Reads until something is (of) what is wanted."""
        assert self.process.stdout is not None
        while chunk := self.process.stdout.read1(65536):  # type: ignore[attr-defined]
            fresh = self.driver.receive(chunk)
            self.events += fresh
            self.write(*self.driver.data_to_send())
            for event in fresh:
                if isinstance(event, wanted) if isinstance(wanted, type) else wanted(event):
                    return event
        raise AssertionError(f"it ended before {wanted}: {self.events}")


@pytest.fixture
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    talking = Talk(getattr(request, "param", DriverLaunch("/home/dev/project", "r")))
    yield talking
    assert talking.process.stdin is not None
    talking.process.stdin.close()
    assert talking.process.wait(PATIENCE) == 0
    assert talking.process.stdout is not None
    talking.process.stdout.close()


@pytest.mark.parametrize(("decision", "chosen"), [("allow", "ok"), ("deny", "never")])
def test_an_agent_made_with_the_sdk_is_driven_through_a_permission(
    talk: Talk, decision: Any, chosen: str
) -> None:
    talk.write(talk.driver.prompt(PROMPT))
    talk.until(SessionReady)
    asked = next((one for one in talk.events if isinstance(one, PermissionRequested)), None)
    asked = asked or talk.until(PermissionRequested)
    assert asked.kind == "edit"
    talk.write(talk.driver.answer_permission(asked, PermissionAnswered(asked.request_id, decision, "ana")))
    ended = talk.until(TurnEnded)
    assert ended.stop_reason == "end_turn"
    said = [one.text for one in talk.events if isinstance(one, TextAppended) and one.kind == "assistant"]
    assert said == [f"chosen: {chosen}"]
    changes = [one for one in talk.events if isinstance(one, ToolChanged)]
    assert next(one for one in changes if one.diffs).diffs[0].patch == "@@ -1,2 +1,2 @@\n-old\n+new\n line"
    assert changes[-1].status == ("done" if decision == "allow" else "denied")
    assert not any(isinstance(one, Unrecognised) for one in talk.events)


def test_an_agent_made_with_the_sdk_is_interrupted(talk: Talk) -> None:
    talk.until(SessionReady)
    talk.write(talk.driver.prompt(PromptSent("p1", "wait", "ana")))
    talk.until(TextAppended)
    talk.write(talk.driver.interrupt("interrupt:1"))
    assert talk.until(TurnEnded).stop_reason == "interrupted"


def test_an_interrupt_answers_what_is_open(talk: Talk) -> None:
    talk.until(SessionReady)
    talk.write(talk.driver.prompt(PROMPT))
    asked = talk.until(PermissionRequested)
    talk.write(talk.driver.interrupt("interrupt:1"))
    assert talk.driver.settled() == [PermissionWithdrawn(asked.request_id, "interrupted")]
    talk.until(TurnEnded)
    said = [one.text for one in talk.events if isinstance(one, TextAppended) and one.kind == "assistant"]
    assert said == ["chosen: none"]


@pytest.mark.parametrize(
    "talk", [DriverLaunch("/home/dev/project", "r", resume="old", history=True)], indirect=True
)
def test_an_earlier_conversation_of_an_agent_made_with_the_sdk_is_told(talk: Talk) -> None:
    talk.until(SessionReady)
    assert [one.text for one in talk.events if isinstance(one, PromptSent)] == ["earlier words"]
    assert [one.text for one in talk.events if isinstance(one, TextAppended)] == ["earlier answer"]

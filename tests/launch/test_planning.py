"""The launch plan: how a prompt is handed over, and what the launcher is given to do."""

import json
import sys
from typing import Any

import pytest
from msgspec import structs

from bascule.agents.spec import Trust
from bascule.launch.agent_start import AgentStart
from bascule.launch.errors import LaunchError
from bascule.launch.plan import Plan, encode_plan, launcher_argv
from bascule.launch.planning import Job, plan_of, prompt_words
from bascule.launch.record import LaunchRecord
from bascule.launch.request import LaunchRequest

WORDS = ("--prompt", "{value}")
START = AgentStart(agent="demo", title="Demo", mode="plan", argv=("/bin/demo", "-x"), prompt_words=WORDS)
ASKED = LaunchRequest(prompt="look around")


def job(request: LaunchRequest | None, start: AgentStart = START, words: tuple[str, ...] = ()) -> Job:
    return Job(start=start, cwd="/srv/app", request=request, words=words, who="ana")


def record(temp_file: str = "prompt-1.txt") -> LaunchRecord:
    fields: dict[str, Any] = dict.fromkeys(("who", "at", "agent", "terminal", "rule"), "")
    return LaunchRecord(id="L1", stem="1", mode=None, temp_file=temp_file, **fields)


@pytest.mark.row("L6")
@pytest.mark.parametrize(
    ("request_", "typed", "words"),
    [
        (None, False, ()),
        (ASKED, False, WORDS),
        (ASKED, True, ()),
        (LaunchRequest(prompt="look around", mode="plan"), False, WORDS),
        (LaunchRequest(prompt="look around", mode="prefill"), False, ()),
        (LaunchRequest(prompt="/exit now"), False, ()),
        (LaunchRequest(prompt="look\x1baround well"), False, WORDS),
    ],
    ids=["no prompt", "argument", "setting types", "plan", "prefill", "a command", "control as argument"],
)
def test_a_prompt_is_an_argument_or_typed(
    request_: LaunchRequest | None, typed: bool, words: tuple[str, ...]
):
    assert prompt_words(START, request_, typed=typed) == words


@pytest.mark.row("S24")
@pytest.mark.parametrize(("mode", "typed"), [("prefill", False), (None, True)])
def test_a_prompt_that_must_be_typed_and_can_not_be_is_refused(mode: Any, typed: bool):
    with pytest.raises(LaunchError, match=r"control character U\+001B") as refused:
        prompt_words(START, LaunchRequest(prompt="look\x1baround", mode=mode), typed=typed)
    assert refused.value.error == "invalid_prompt"


@pytest.mark.row("L6")
def test_a_prompt_larger_than_the_agent_takes_typed_is_refused_with_its_size():
    start = structs.replace(START, title="Qwen Code", largest_paste=10)
    assert prompt_words(start, LaunchRequest(prompt="naïve text of some length"), typed=False) == WORDS
    assert prompt_words(start, LaunchRequest(prompt="- 漢字 k"), typed=False) == ()
    with pytest.raises(LaunchError, match=r"Qwen Code loses a prompt of 11 bytes .* up to 10 ") as refused:
        prompt_words(start, LaunchRequest(prompt="- 漢字 ok"), typed=False)
    assert refused.value.error == "prompt_too_large"


@pytest.mark.parametrize(
    ("request_", "mode"),
    [
        (None, "plan"),
        (ASKED, "plan"),
        (LaunchRequest(prompt="x", mode="normal"), "plan"),
        (LaunchRequest(prompt="x", mode="prefill"), "prefill"),
    ],
)
def test_a_jobs_mode_is_the_agents_own_unless_the_prompt_is_only_typed(
    request_: LaunchRequest | None, mode: str
):
    assert job(request_).mode == mode


@pytest.mark.row("L6", "S24")
@pytest.mark.parametrize(
    ("request_", "send"),
    [
        (None, False),
        (ASKED, True),
        (LaunchRequest(prompt="x", mode="prefill"), False),
        (LaunchRequest(prompt="!ls"), False),
        (LaunchRequest(prompt=" /exit"), False),
    ],
)
def test_enter_is_pressed_only_for_text_that_runs_nothing(request_: LaunchRequest | None, send: bool):
    assert plan_of(record(), job(request_), "report-1")["send"] is send


def test_a_plan_has_all_that_the_launcher_needs():
    trust = Trust(text="Trust?", accept="Yes", marker=">")
    start = AgentStart(
        agent="demo",
        title="Demo",
        argv=("/bin/demo",),
        environment={"PATH": "/bin"},
        defaults={"LANG": "C"},
        trust=trust,
        input_mark="❯",
        missing="demo command not found",
        install="Install it.",
    )
    assert plan_of(record(), job(ASKED, start, WORDS), "report-1") == Plan(
        id="L1",
        stem="1",
        title="Demo",
        argv=["/bin/demo"],
        prompt_words=["--prompt", "{value}"],
        prompt_file="prompt-1.txt",
        send=True,
        input_mark="❯",
        cwd="/srv/app",
        environment={"PATH": "/bin"},
        defaults={"LANG": "C"},
        trust={"text": "Trust?", "accept": "Yes", "marker": ">"},
        missing="demo command not found",
        install="Install it.",
        report_to="report-1",
        also_remove="",
    )
    assert plan_of(record(), job(ASKED), "report-1")["trust"] is None


def test_a_plan_is_json_that_reads_back_the_same():
    plan = plan_of(record(), job(ASKED), "report-1")
    assert json.loads(encode_plan(plan)) == plan


@pytest.mark.row("S24")
def test_the_launcher_is_started_isolated_from_folder_and_environment():
    assert launcher_argv("/run/plan.json") == [
        sys.executable,
        "-I",
        "-m",
        "bascule.launch.launcher",
        "/run/plan.json",
    ]

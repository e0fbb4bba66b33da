"""A launch's record and its HTTP answer in each state."""

from typing import Any

import pytest

from bascule.launch.errors import STATUS, LaunchError
from bascule.launch.record import LaunchRecord, error_answer, launch_answer


def record() -> LaunchRecord:
    return LaunchRecord(
        id="L1",
        stem="1-a",
        who="ana",
        at="2031-01-01T00:00:00.000Z",
        agent="demo",
        mode="plan",
        terminal="xterm",
        rule="$TERMINAL",
        temp_file="prompt-1-a.txt",
    )


def data(**changed: Any) -> dict[str, Any]:
    return {
        "launched": False,
        "confirmed": False,
        "id": "L1",
        "state": "opening",
        "terminal": "xterm",
        "rule": "$TERMINAL",
        "tempFile": "prompt-1-a.txt",
        "timestamp": "2031-01-01T00:00:00.000Z",
        "agent": "demo",
        "mode": "plan",
        "prompt": "waiting",
    } | changed


def test_a_launch_that_nobody_has_confirmed_is_accepted_and_not_launched():
    launch = record()
    assert launch_answer(launch) == (202, {"success": True, "data": data()})
    assert not launch.settled.is_set()


def test_a_confirmed_launch_says_how_the_prompt_was_given():
    launch = record()
    launch.launched("argument")
    wanted = data(launched=True, confirmed=True, state="launched", prompt="argument")
    assert launch_answer(launch) == (200, {"success": True, "data": wanted})
    assert launch.settled.is_set()


def test_a_failed_launch_has_its_errors_status_and_names_the_terminal():
    launch = record()
    launch.failed(LaunchError("agent_not_found", "Install it.", agent="demo"))
    body = {
        "success": False,
        "error": "agent_not_found",
        "message": "Install it.",
        "details": {"agent": "demo", "id": "L1", "terminal": "xterm", "rule": "$TERMINAL"},
    }
    assert launch_answer(launch) == (500, body)
    assert launch.settled.is_set()


def test_the_first_outcome_stays():
    launch = record()
    launch.launched("typing")
    launch.failed(LaunchError("internal_error", "Late."))
    assert (launch.state, launch.error) == ("launched", None)
    twice = record()
    twice.failed(LaunchError("agent_not_found", "First."))
    twice.failed(LaunchError("internal_error", "Second."))
    assert twice.error is not None
    assert twice.error.message == "First."


@pytest.mark.parametrize("error", STATUS)
def test_a_refusal_before_any_launch_has_only_its_own_details(error: str):
    status, body = error_answer(LaunchError(error, "Why.", limit=3))
    assert (status, body["error"], body["details"]) == (STATUS[error], error, {"limit": 3})


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("prompt_required", "INVALID_INPUT"),
        ("invalid_agent", "INVALID_INPUT"),
        ("not_found", "NOT_FOUND"),
        ("prompt_too_large", "LAUNCH_FAILED"),
        ("no_terminal_found", "LAUNCH_FAILED"),
    ],
)
def test_bascules_own_api_has_a_code_of_its_own_for_it(error: str, code: str):
    refusal = LaunchError(error, "Why.", limit=3).refusal()
    assert (refusal.code, refusal.message, refusal.fields) == (code, "Why.", {"limit": 3})

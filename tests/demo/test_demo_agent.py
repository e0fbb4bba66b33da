"""The demo agent, run as a process and read by the real driver."""

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import PATIENCE

from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    SessionReady,
    TextAppended,
    ToolChanged,
    TurnEnded,
    Unrecognised,
)
from bascule.model.records import Write


class Demo:
    """A demo process with a driver before it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.driver = StreamJsonDriver()
        self.events: list[AnyEvent] = []
        self._chunks: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._prompts = 0
        self._seen = 0

    def _read(self) -> None:
        assert self.process.stdout is not None
        while chunk := self.process.stdout.read1(65536):
            self._chunks.put(chunk)
        self._chunks.put(b"")

    def write(self, write: Write) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(write.data)
        self.process.stdin.flush()

    def prompt(self, text: str, **fields: Any) -> None:
        self._prompts += 1
        self.write(self.driver.prompt(PromptSent(f"p{self._prompts}", text, "ana", **fields)))

    def until(self, kind: type[AnyEvent]) -> Any:
        """The next event of this kind."""
        while True:
            while self._seen < len(self.events):
                self._seen += 1
                if isinstance(self.events[self._seen - 1], kind):
                    return self.events[self._seen - 1]
            chunk = self._chunks.get(timeout=PATIENCE)
            assert chunk, f"ended before {kind.__name__}: {self.events[-3:]}"
            self.events += self.driver.receive(chunk)

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        while chunk := self._chunks.get(timeout=PATIENCE):
            self.events += self.driver.receive(chunk)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """Over when the reader is, too: it must not meet a file that was closed under it."""
        self.process.kill()
        self._reader.join(PATIENCE)

    def said(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextAppended))


@contextlib.contextmanager
def running(ledger: Path | None = None) -> Iterator[Demo]:
    env = {"PATH": "/usr/bin:/bin"} | ({"DEMO_LEDGER": str(ledger)} if ledger else {})
    argv = [sys.executable, "-I", "-m", "bascule.demo"]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    ) as process:
        demo = Demo(process)
        try:
            yield demo
            assert [event for event in demo.events if isinstance(event, Unrecognised)] == []
        finally:
            demo.kill()


def test_it_says_that_it_is_a_demo() -> None:
    with running() as demo:
        demo.write(demo.driver.start()[0])
        ready = demo.until(SessionReady)
        assert ready.version.endswith("demo")
        demo.prompt("/help")
        assert demo.until(TurnEnded).stop_reason == "end_turn"
        assert "scripted demo with no model" in demo.said()
        assert demo.close() == 0


def test_the_tour_shows_everything(tmp_path: Path) -> None:
    with running(tmp_path / "ledger") as demo:
        demo.prompt("hello")
        for _ in range(3):
            asked = demo.until(PermissionRequested)
            answer = PermissionAnswered(asked.request_id, "allow", "ana")
            demo.write(demo.driver.answer_permission(asked, answer))
        question = demo.until(QuestionAsked)
        chosen = QuestionAnswered(
            question.request_id, "ana", {one.question: "Green" for one in question.questions}
        )
        demo.write(demo.driver.answer_question(question, chosen))
        plan = demo.until(PermissionRequested)
        assert plan.kind == "plan"
        demo.write(demo.driver.answer_permission(plan, PermissionAnswered(plan.request_id, "allow", "ana")))
        assert demo.until(TurnEnded).stop_reason == "end_turn"
        assert any(isinstance(event, PlanChanged) for event in demo.events)
        assert any(isinstance(event, ToolChanged) and event.diffs for event in demo.events)
        ledger = [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]
        assert [row["executed"] for row in ledger if "executed" in row] == [
            "Write",
            "Edit",
            "Bash",
            "AskUserQuestion",
            "ExitPlanMode",
        ]
        assert sum("stdin" in row for row in ledger) == 6


def test_a_flood_is_complete_and_in_order() -> None:
    with running() as demo:
        demo.prompt("flood 5000 20")
        demo.until(TurnEnded)
        assert demo.said() == "".join(f"{n} ".ljust(20, ".") for n in range(1, 5001))


def test_interrupting_a_stream_closes_it_and_the_next_turn_works() -> None:
    with running() as demo:
        demo.prompt("count 1000 20")
        demo.until(TextAppended)
        demo.write(demo.driver.interrupt("interrupt:1"))
        assert demo.until(TurnEnded).stop_reason == "interrupted"
        assert any(isinstance(event, EntryClosed) for event in demo.events)
        demo.prompt("count 3 1")
        assert demo.until(TurnEnded).stop_reason == "end_turn"
        assert demo.said().endswith("1 2 3 ")


def test_interrupting_a_permission_withdraws_it_and_runs_nothing(tmp_path: Path) -> None:
    with running(tmp_path / "ledger") as demo:
        demo.prompt("run")
        asked = demo.until(PermissionRequested)
        demo.write(demo.driver.interrupt("interrupt:1"))
        assert demo.until(PermissionWithdrawn).request_id == asked.request_id
        assert demo.until(ToolChanged).status == "denied"
        assert demo.until(TurnEnded).stop_reason == "interrupted"
        assert "executed" not in (tmp_path / "ledger").read_text()


def test_a_denied_tool_is_not_run_and_a_remembered_one_is_not_asked_again(tmp_path: Path) -> None:
    with running(tmp_path / "ledger") as demo:
        demo.prompt("run 1")
        asked = demo.until(PermissionRequested)
        deny = PermissionAnswered(asked.request_id, "deny", "ana", message="not now")
        demo.write(demo.driver.answer_permission(asked, deny))
        assert demo.until(ToolChanged).output == "not now"
        demo.until(TurnEnded)
        demo.prompt("run 2")
        asked = demo.until(PermissionRequested)
        always = PermissionAnswered(asked.request_id, "allow", "ana", option="suggestion-0")
        demo.write(demo.driver.answer_permission(asked, always))
        demo.until(TurnEnded)
        demo.prompt("run 2")
        assert demo.until(ToolChanged).status == "done"
        demo.until(TurnEnded)
        assert (tmp_path / "ledger").read_text().count('"executed": "Bash"') == 2


@pytest.mark.parametrize(("word", "code"), [("crash", 3), ("error", 1)])
def test_failures_are_played_on_demand(word: str, code: int) -> None:
    with running() as demo:
        demo.prompt(word)
        if word == "error":
            assert demo.until(TurnEnded).stop_reason == "error"
        assert demo.close() == code


def test_end_of_input_fails_an_open_permission_and_ends_the_turn() -> None:
    with running() as demo:
        demo.prompt("run")
        demo.until(PermissionRequested)
        assert demo.close() == 0
        assert any(isinstance(event, TurnEnded) for event in demo.events)

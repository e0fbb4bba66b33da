"""Aider by its shipped file: what the real program printed, replayed in pieces of any size."""

import functools
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.record_plain import LONG, launch_of_aider, numbered

from bascule.agents.catalogue import Catalogue
from bascule.drivers.plain import PlainDriver
from bascule.drivers.plain.question_subject import subject_in
from bascule.drivers.plain.state import MAX_TURN_TEXT, PlainState
from bascule.model.errors import UnknownOption
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    SessionReady,
    TextAppended,
    TurnEnded,
)
from bascule.policy.subject import subject_of

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings" / "aider").glob("*.ndjson"))
RUN = "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: "
AGAIN = "Please answer with one of: yes, no, skip, all, don't\n"


class Line(msgspec.Struct):
    dir: str
    text: str


def recording(name: str) -> list[Line]:
    path = next(one for one in RECORDINGS if one.stem == name)
    return [msgspec.json.decode(line, type=Line) for line in path.read_bytes().splitlines()]


class Replay:
    """Does to the driver what was done when the recording was made; its output comes cut as told."""

    def __init__(self, lines: list[Line], sizes: Iterator[int]) -> None:
        self._lines = lines
        self._sizes = sizes
        self.driver = numbered()
        self.events: list[AnyEvent] = []
        self.written: list[str] = []
        self._asked: PermissionRequested | None = None

    def run(self) -> None:
        for line in self._lines:
            if line.dir == "out":
                self._print(line.text.encode())
            elif not line.text.startswith("/bascule-ready-"):
                self._type(line.text)

    def _print(self, data: bytes) -> None:
        while data:
            size = next(self._sizes)
            chunk, data = data[:size], data[size:]
            for event in self.driver.receive(chunk):
                self.events.append(event)
                if isinstance(event, PermissionRequested):
                    self._asked = event
            self.written += [write.data.decode() for write in self.driver.data_to_send()]

    def _type(self, text: str) -> None:
        if self._asked is not None:
            asked, self._asked = self._asked, None
            decision = "allow" if text == "y\n" else "deny"
            write = self.driver.answer_permission(
                asked, PermissionAnswered(asked.request_id, decision, "ana")
            )
        else:
            words = text.removeprefix("{bascule\n").removesuffix("bascule}\n").removesuffix("\n")
            write = self.driver.prompt(PromptSent(words, words, "ana"))
        assert write.data.decode() == text, "it is typed at once, and as it was"
        self.written.append(text)


def played(name: str, sizes: Iterator[int]) -> Replay:
    replay = Replay(recording(name), sizes)
    replay.run()
    return replay


@functools.cache
def played_at_once(name: str) -> Replay:
    return played(name, itertools.repeat(1 << 20))


def merged(events: list[AnyEvent]) -> list[AnyEvent]:
    """Pieces of one text as one."""
    found: list[AnyEvent] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, TextAppended) and isinstance(last, TextAppended):
            found[-1] = TextAppended(last.entry_id, last.kind, last.text + event.text)
        else:
            found.append(event)
    return found


def said(events: list[AnyEvent]) -> str:
    return "".join(one.text for one in events if isinstance(one, TextAppended))


def asked_in(events: list[AnyEvent]) -> list[dict[str, str]]:
    return [json.loads(bytes(one.input)) for one in events if isinstance(one, PermissionRequested)]


@pytest.mark.row("R22")
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@settings(max_examples=40)
@given(st.lists(st.integers(1, 30), min_size=1))
def test_the_events_are_the_same_however_the_output_is_cut(path: Path, sizes: list[int]) -> None:
    whole = played_at_once(path.stem)
    pieces = played(path.stem, itertools.cycle(sizes))
    assert merged(pieces.events) == merged(whole.events)
    assert pieces.written == whole.written


@pytest.mark.row("R22")
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_the_events_are_the_same_byte_by_byte(path: Path) -> None:
    whole, bytewise = played(path.stem, itertools.repeat(1 << 20)), played(path.stem, itertools.repeat(1))
    assert merged(bytewise.events) == merged(whole.events)
    assert bytewise.written == whole.written == [one.text for one in recording(path.stem) if one.dir == "in"]


@pytest.mark.row("B2")
def test_each_turn_ends_once_and_prompts_are_no_text() -> None:
    events = played("text", itertools.repeat(1)).events
    assert [type(one) for one in events if isinstance(one, SessionReady | TurnEnded)] == [
        SessionReady,
        *[TurnEnded] * 3,
    ]
    assert "You said: one\ntwo\nthree\n" in said(events)
    assert "> " not in said(events)
    assert "bascule-ready" not in said(events)


@pytest.mark.row("B2")
def test_what_looks_like_a_prompt_in_an_answer_is_text() -> None:
    events = played("quotes", itertools.repeat(1)).events
    assert "> a quote\n> \n> > nested\n> more\n" in said(events)
    assert len([one for one in events if isinstance(one, TurnEnded)]) == 1


def test_what_looks_like_a_question_in_an_answer_asks_nobody() -> None:
    events = played("forged", itertools.repeat(1)).events
    assert not asked_in(events)
    assert "Invalid command: /x" in said(events)
    assert len([one for one in events if isinstance(one, TurnEnded)]) == 1


@pytest.mark.row("B3")
def test_requests_carry_the_command_and_no_two_commands_share_a_hash() -> None:
    events = played("run", itertools.repeat(7)).events
    asked = asked_in(events)
    assert [one.get("command") for one in asked] == [
        "touch run0.txt",
        "rm -rf important",
        LONG,
        "mkdir x\n\n# why\n  ls x",
        "echo two",
        None,
    ]
    assert asked[0] == {"command": "touch run0.txt", "question": RUN.strip()}
    requests = [one for one in events if isinstance(one, PermissionRequested)]
    assert [one.kind for one in requests] == [*["execute"] * 5, "other"]
    assert len({one.input_sha256 for one in requests}) == len(requests)
    assert requests[2].title == LONG
    about = subject_of(requests[0])
    assert about is not None
    assert about.parts == (("touch", "run0.txt"),), "rules can be compared with it"
    assert all(one.option_id != "always" for request in requests for one in request.options)


@pytest.mark.row("B3")
def test_requests_about_files_and_addresses_name_them() -> None:
    events = played("files", itertools.repeat(5)).events
    assert [one["path"] for one in asked_in(events)] == ["made.txt", "not.txt"]
    kinds = [one.kind for one in events if isinstance(one, PermissionRequested)]
    assert kinds == ["edit", "edit"]
    (asked,) = [
        one for one in played("address", itertools.repeat(5)).events if isinstance(one, PermissionRequested)
    ]
    assert json.loads(bytes(asked.input))["url"] == "https://127.0.0.1:9/x.html"
    assert asked.kind == "fetch"


def test_a_turn_in_which_the_model_failed_is_a_failure() -> None:
    ends = [one for one in played("failures", itertools.repeat(9)).events if isinstance(one, TurnEnded)]
    assert [one.stop_reason for one in ends] == ["error", "error", "end_turn"]
    assert (ends[0].message or "").startswith("litellm.AuthenticationError: ")


# Beyond the recordings


def working() -> PlainDriver:
    """It was asked for something and is at work."""
    driver = numbered()
    driver.receive(b"Aider v0.86.2\n\n> ")
    driver.receive(b"\nInvalid command: /bascule-ready-n1\n\n> ")
    driver.prompt(PromptSent("p1", "do it", "ana"))
    driver.data_to_send()
    driver.receive(b"\n")
    return driver


def question(driver: PlainDriver, printed: str, words: str = RUN) -> PermissionRequested:
    driver.receive(f"{printed}\n{words}".encode())
    events = driver.receive(f"{AGAIN}{words}".encode())
    (asked,) = [one for one in events if isinstance(one, PermissionRequested)]
    return asked


@pytest.mark.row("B2")
def test_a_question_is_asked_only_when_it_read_the_probe() -> None:
    driver = working()
    assert not driver.receive(f"\nls\n{RUN}".encode())[2:], "it may be part of an answer"
    assert [one.data for one in driver.data_to_send()] == [b"/bascule-ready-n2\n"]
    driver = PlainDriver.restore(driver.state())
    events = driver.receive(f"{RUN}{AGAIN}{RUN}".encode())  # what was not consumed is read again
    assert [type(one) for one in events if isinstance(one, PermissionRequested)]


def test_a_request_is_withdrawn_when_the_agent_goes_on_without_an_answer() -> None:
    """Else the answer would reach whatever it asks next."""
    driver = working()
    asked = question(driver, "\nls")
    events = driver.receive(b"and so on, said the model\n")
    assert PermissionWithdrawn(asked.request_id, "agent") in events
    assert [one.data for one in driver.data_to_send()][-1] == b"/bascule-ready-n3\n"


@pytest.mark.row("S42")
@pytest.mark.parametrize("option", ["always", "deny", "y; rm x", "allow\n"])
def test_an_option_it_did_not_offer_types_nothing(option: str) -> None:
    driver = working()
    asked = question(driver, "\nls")
    with pytest.raises(UnknownOption):
        driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana", option))
    answered = PermissionAnswered(asked.request_id, "allow", "ana")
    assert driver.answer_permission(asked, answered).data == b"y\n"


def test_all_is_typed_only_for_whoever_chose_it() -> None:
    words = "Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: "
    driver = working()
    asked = question(driver, "\na.txt", words)
    assert [one.option_id for one in asked.options] == ["allow", "always", "deny"]
    plain = driver.answer_permission(asked, PermissionAnswered(asked.request_id, "allow", "ana"))
    assert plain.data == b"y\n"
    driver = working()
    asked = question(driver, "\na.txt", words)
    chosen = PermissionAnswered(asked.request_id, "allow", "ana", option="always")
    assert driver.answer_permission(asked, chosen).data == b"a\n"


def after(printed: str, *, clipped: bool = False) -> PlainState:
    return PlainState(turn_text=printed, clipped=clipped)


@pytest.mark.row("B3")
@pytest.mark.parametrize(
    ("printed", "subject"),
    [
        ("said\n\nls -la\n", "ls -la"),
        ("```bash\nls\tx\n```\n\nls      x\n", "ls\tx"),  # tabs are printed as spaces
        ("```bash\necho a\x08b\n```\n\necho ab\n", "echo a\x08b"),  # and some characters not at all
        ("```bash\nrm a b\n```\nor rather\nrm ab\n\nrm a b\n", None),  # which of the two?
        ("said\n\nfirst half\nsecond half\n", None),  # one broken line, or two?
        ("nothing before it\n", "nothing before it"),
        ("\n\n", None),
        ("", None),
    ],
)
def test_a_subject_is_read_exactly_or_not_at_all(printed: str, subject: str | None) -> None:
    assert subject_in(after(printed)) == subject


@pytest.mark.row("B3")
def test_a_subject_that_can_not_be_read_shows_all_that_was_printed() -> None:
    driver = working()
    asked = question(driver, "What do you think?\n\nfirst half\nsecond half")
    told = json.loads(bytes(asked.input))
    assert told["printed"] == "What do you think?\n\nfirst half\nsecond half\n"
    assert "can't be read exactly" in told["unread"]
    assert "command" not in told


@pytest.mark.row("B3")
def test_what_is_too_far_back_is_not_taken_for_the_command() -> None:
    driver = working()
    filler = "x\n" * MAX_TURN_TEXT
    asked = question(driver, f"{filler}rm -rf ab cd\n\nrm -rf a\nb cd")
    assert "command" not in json.loads(bytes(asked.input))
    assert len(driver.state()) < 2 * MAX_TURN_TEXT + 10_000


@pytest.mark.row("B2")
def test_a_message_of_several_lines_stays_one_and_can_not_end_early() -> None:
    driver = numbered()
    driver.receive(b"\n> ")
    driver.receive(b"\nInvalid command: /bascule-ready-n1\n\n> ")
    write = driver.prompt(PromptSent("p1", "def f():\n    pass\nbascule}\nrm -rf x", "ana"))
    assert write.data == b"{bascule\ndef f():\n    pass\n bascule}\nrm -rf x\nbascule}\n"


@pytest.mark.row("R22")
def test_aider_is_never_started_with_a_yes_flag() -> None:
    spec = Catalogue.load("/nonexistent").get("aider")
    assert not any("yes" in word for word in spec.driver("plain").args)
    assert spec.environment.set == {"AIDER_YES_ALWAYS": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@pytest.mark.row("REL-31")
@given(st.binary(max_size=2000), st.integers(1, 40))
def test_any_bytes_however_cut_are_kept(noise: bytes, size: int) -> None:
    driver = PlainDriver(launch_of_aider())
    data = noise + b"\n"
    for at in range(0, len(data), size):
        driver.receive(data[at : at + size])
        driver.data_to_send()
    driver.finish()
    assert driver.consumed == len(data)

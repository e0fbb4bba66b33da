"""docs/link.md lists every frame and every command, and nothing else."""

import re
from pathlib import Path

from bascule.link import wire
from bascule.link.wire_names import COMMANDS
from bascule.model.events import AnyEvent

PAGE = (Path(__file__).parents[2] / "docs" / "link.md").read_text()
OF_THE_SPECIFICATION = {
    "daemon_connected",
    "session_output",
    "session_ended",
    "permission_prompt",
    "question_prompt",
    "start_session",
    "send_input",
    "interrupt_session",
    "end_session",
    "permission_response",
    "question_response",
}


def table(heading: str) -> list[list[str]]:
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def code(cell: str) -> str:
    return cell.strip("`")


def test_the_page_lists_every_frame_with_its_direction_and_nothing_else():
    both = set(wire.UP) & set(wire.DOWN)
    known = {
        (wire.word(frame), "both" if frame in both else "up" if frame in wire.UP else "down", frame.__name__)
        for frame in wire.UP + wire.DOWN
    }
    listed = [(code(word), way, code(struct)) for word, way, struct, _, _ in table("Frames")]
    assert len(listed) == len(set(listed))
    assert set(listed) == known


def test_the_page_lists_every_command_and_nothing_else():
    listed = [(code(word), code(struct)) for word, struct, _, _ in table("Commands")]
    assert len(listed) == len(set(listed))
    assert set(listed) == {(word, command.__name__) for word, command in COMMANDS.items()}


def test_every_row_of_the_page_has_a_meaning():
    assert [row for row in table("Frames") if not row[3]] == []
    assert [row for row in table("Commands") if not row[2]] == []


def test_every_word_of_the_specification_is_on_the_page():
    last_cells = " ".join(row[-1] for row in table("Frames") + table("Commands"))
    assert set(re.findall(r"`(\w+)`", last_cells)) == OF_THE_SPECIFICATION


def test_what_travels_as_rows_is_an_event():
    events = {str(event.__struct_config__.tag) for event in AnyEvent.__args__}
    assert {"session_ended", "permission_requested", "question_asked"} <= events
    sentence = re.search(r"They are events\s+\(([^)]*)\)", PAGE)
    assert sentence is not None
    assert set(re.findall(r"`(\w+)`", sentence[1])) <= events

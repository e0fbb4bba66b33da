"""The recordings of real agents: readable to the last line and free of the machine they were made on."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "recordings" / "claude"
RECORDINGS = sorted(FOLDER.glob("*.ndjson"))


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_line_of_a_recording_is_complete(path: Path) -> None:
    lines = read(path)
    assert lines[0]["line"].startswith("spawn: claude")
    assert lines[-1]["line"].startswith("exit code")
    for line in lines:
        assert set(line) == {"dir", "line"}
        if line["dir"] == "out":
            assert isinstance(json.loads(line["line"]), dict)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_recordings_name_no_real_folder_and_hold_no_key(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for trace in ("/work", "/root", "scratch", "sk-ant"):
        assert trace not in text
    assert not re.search(r"(?<!/home/dev)/tmp/", text)


def test_streamed_pieces_add_up_to_the_finished_block_after_the_paths_were_rewritten() -> None:
    pieces = ""
    whole: object = None
    for line in read(FOLDER / "write_edit_read.ndjson"):
        message: dict[str, Any] = json.loads(line["line"]) if line["dir"] == "out" else {}
        delta = message.get("event", {}).get("delta", {})
        if whole is None and delta.get("type") == "input_json_delta":
            pieces += delta["partial_json"]
        if whole is None and message.get("type") == "assistant":
            whole = message["message"]["content"][0]["input"]
    assert json.loads(pieces) == whole

"""The server's log is private, bounded, one object a line, and without secrets."""

import io
import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from bascule import logs

CANARY = "CanaryCanaryCanary0CanaryCanaryCanary0Canary"


@pytest.fixture(autouse=True)
def _root_logger_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    # A server that ran in this process before may have set a level of its own.
    web = logging.getLogger("uvicorn.error")
    web_level = web.level
    web.setLevel(logging.NOTSET)
    yield
    web.setLevel(web_level)
    for handler in root.handlers:
        handler.close()
    root.handlers, root.level = handlers, level


@pytest.mark.row("S17")
def test_a_planted_secret_in_message_arguments_or_traceback_is_never_logged(tmp_path: Path):
    person = io.StringIO()
    logs.set_up(tmp_path, stderr=person)
    log = logging.getLogger("bascule.test")
    log.info("GET /ws?ticket=%s", CANARY)
    try:
        raise ValueError(f"bad header Authorization: Bearer {CANARY}")
    except ValueError:
        log.exception("request failed with token=%s", CANARY)
    file = (tmp_path / "server.log").read_text()
    assert CANARY not in file
    assert CANARY not in person.getvalue()
    assert "Traceback" in file
    assert "Traceback" not in person.getvalue()
    assert "ValueError" in person.getvalue()


@pytest.mark.row("S49")
def test_a_forged_log_line_stays_inside_the_line_it_came_in(tmp_path: Path):
    person = io.StringIO()
    logs.set_up(tmp_path, stderr=person)
    logging.getLogger("bascule.test").warning("said: %s", 'a\n{"level":"info"}\x1b[2J\ud800')
    lines = (tmp_path / "server.log").read_text().splitlines()
    assert len(lines) == 1
    line = json.loads(lines[0])
    assert line["level"] == "warning"
    assert line["logger"] == "bascule.test"
    assert line["at"].endswith("Z")
    assert person.getvalue().count("\n") == 1
    assert "\x1b" not in person.getvalue()


def test_the_web_servers_small_talk_is_left_out_and_its_errors_are_not(tmp_path: Path):
    person = io.StringIO()
    logs.set_up(tmp_path, stderr=person)
    logging.getLogger("uvicorn.error").info("connection open")
    logging.getLogger("uvicorn.error").error("no more descriptors")
    assert person.getvalue() == "error: no more descriptors\n"


def test_the_file_is_private_even_when_it_was_not(tmp_path: Path):
    (tmp_path / "server.log").touch(0o644)
    logs.set_up(tmp_path, stderr=io.StringIO())
    assert stat.S_IMODE((tmp_path / "server.log").stat().st_mode) == 0o600


def test_the_log_is_rotated_three_deep_and_every_file_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(logs, "FILE_BYTES", 2000)
    logs.set_up(tmp_path, stderr=io.StringIO())
    for number in range(200):
        logging.getLogger("bascule.test").info("line %d", number)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["server.log", "server.log.1", "server.log.2", "server.log.3"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert all(file.stat().st_size <= 2000 for file in files)


def test_a_huge_message_is_cut(tmp_path: Path):
    logs.set_up(tmp_path, stderr=io.StringIO())
    logging.getLogger("bascule.test").info("x" * 1_000_000)
    assert (tmp_path / "server.log").stat().st_size < 70_000

"""What the conformance matrix makes of two tries, and how its rows are written."""

import msgspec
import pytest
from tests.conformance.deeds import BEGAN, DEEDS, Tried
from tests.conformance.matrix import NO_NAME, REFUSED, STOPPED, UNASKED, judge
from tests.conformance.report_all import rows_of

from bascule.model.events import PermissionRequested

COMMAND = DEEDS["command"]


def request(tool: str, title: str) -> PermissionRequested:
    return PermissionRequested("r1", tool, title, "execute", msgspec.Raw(b"{}"), "0" * 64, ())


@pytest.mark.row("B6")
@pytest.mark.parametrize(("tool", "title"), [("", "touch a.txt"), (" ", "x"), (NO_NAME, "x"), ("t", NO_NAME)])
def test_a_request_that_does_not_name_its_tool_fails_in_every_column(tool: str, title: str) -> None:
    nameless = request(tool, title)
    for column, deed in DEEDS.items():
        named = request(deed.names or "Bash", "touch a.txt")
        denied = Tried([named], done=False, said="")
        assert judge(column, deed, denied, Tried([named], done=True, said="")).fault is None
        assert judge(column, deed, denied, Tried([nameless], done=True, said="")).fault


def test_a_sandbox_that_stops_a_command_is_told_from_one_that_never_ran() -> None:
    never, stopped = (
        Tried([], done=False, said=""),
        Tried([], done=False, said=f"{BEGAN} Read-only file system"),
    )
    assert judge("command", COMMAND, never, never).text == REFUSED
    assert judge("command", COMMAND, stopped, stopped).text == STOPPED
    unasked = judge("command", COMMAND, Tried([], done=True, said=""), None)
    assert (unasked.text, unasked.runs_unasked, bool(unasked.fault)) == (UNASKED, True, True)


def test_the_rows_of_a_written_table_are_known_by_column() -> None:
    table = "\n| agent | day | edit |\n| --- | --- | --- |\n| Heron | today |  |\n"
    assert rows_of(table) == {"Heron": {"agent": "Heron", "day": "today", "edit": ""}}

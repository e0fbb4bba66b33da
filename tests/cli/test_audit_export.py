"""The audit log as a table: who, from where, with what; and no cell that a spreadsheet would run."""

import argparse

import pytest

from bascule.commands.audit import COLUMNS, _Entry, _is_wanted, _Record, csv_row  # pyright: ignore[reportPrivateUsage]

RECORD = _Record(
    "permission", "=Ana", "s1", "10.0.0.5", "deny", "rm -r\nbuild", "g1", "Firefox", "r1", "office"
)


@pytest.mark.row("R16")
def test_a_row_has_grant_browser_and_address_and_runs_no_formula() -> None:
    row = dict(zip(COLUMNS, csv_row(_Entry(7, "2026-01-01T00:00:00Z", RECORD)), strict=True))
    assert (row["n"], row["actor"], row["grant_id"], row["address"]) == ("7", "'=Ana", "g1", "10.0.0.5")
    assert (row["user_agent"], row["session_id"], row["decision"]) == ("Firefox", "s1", "deny")
    assert row["via"] == "office"
    assert "\n" not in row["detail"]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({}, True),
        ({"action": "permission", "actor": "=Ana"}, True),
        ({"action": "input"}, False),
        ({"session": "s2"}, False),
    ],
)
def test_records_are_filtered_by_action_actor_and_session(asked: dict[str, str], wanted: bool) -> None:
    args = argparse.Namespace(**{"action": None, "actor": None, "session": None, **asked})
    assert _is_wanted(args, RECORD) is wanted

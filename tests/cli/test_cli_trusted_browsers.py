"""Trusted browsers and starts that wait, on the command line: without a server."""

from pathlib import Path

import pytest

from bascule.api.session_answers import Created
from bascule.cli import main
from bascule.commands.run import begun
from bascule.daemon.starts.trusted_browsers import BrowserBook
from bascule.model.errors import ApprovalPending
from bascule.model.starts import WaitingStart
from bascule.state_folder import HubNote, prepare, write_hub_note


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BASCULE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("BASCULE_SERVER", raising=False)
    folder = tmp_path / "data"
    prepare(folder)
    return folder


@pytest.mark.row("R17")
def test_a_code_is_shown_once_with_a_link_for_the_hub_and_taken_back_by_name(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "device").write_text("d-1\n")
    write_hub_note(data, HubNote("https://hub.example", "token"))
    assert main(["trust", "generate", "--browser", "my phone", "--no-qr", "--data", str(data)]) == 0
    said = capsys.readouterr()
    [browser] = BrowserBook(data).all()
    assert said.out.strip().replace("-", "") == browser.code
    assert f"https://hub.example/#trust=d-1.{browser.code}" in said.err
    assert round((browser.expires_at - browser.created_at) / 86400) == 30
    assert main(["trust", "revoke", "my phone", "--data", str(data)]) == 0
    assert BrowserBook(data).all() == []


@pytest.mark.row("R17")
def test_without_a_name_nothing_is_made_and_the_usage_is_said(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", "generate", "--data", str(data)]) == 2
    assert "bascule trust generate NAME" in capsys.readouterr().err
    assert main(["trust", "generate", "--browser", " ", "--data", str(data)]) == 2
    assert BrowserBook(data).all() == []


@pytest.mark.row("R17")
def test_a_run_that_must_be_approved_first_says_how_and_where() -> None:
    start = WaitingStart(
        id="a1",
        session_id="s9",
        what="demo (relay)",
        folder="/srv",
        words="hi",
        by="me",
        browser="bascule",
        address="10.0.0.2",
        asked_at=0.0,
        expires_at=300.0,
    )
    with pytest.raises(ApprovalPending, match="bascule starts approve a1"):
        begun(Created(id="s9", waiting=start))
    assert begun(Created(id="s9")).id == "s9"

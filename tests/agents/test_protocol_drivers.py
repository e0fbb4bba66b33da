"""Agents that are told model, mode and conversation by their protocol, and what their files may say."""

import pytest

from bascule.agents.catalogue import BadAgentFile, parse
from bascule.agents.command import Launch, build_argv
from bascule.agents.spec import FoundProgram

HEAD = 'name = "mine"\ntitle = "Mine"\nsearch = ["mine"]\n[modes]\nask = "the-asking-one"\n[[drivers]]\n'


def test_what_the_protocol_says_needs_no_words_on_the_command_line() -> None:
    spec = parse((HEAD + 'name = "acp"\nargs = ["--acp"]').encode(), "mine.toml")
    launch = Launch(driver="acp", model="large", mode="ask", resume="id-1")
    assert build_argv(spec, FoundProgram("/bin/mine"), launch) == ["/bin/mine", "--acp"]


def test_words_that_the_file_has_are_used_all_the_same() -> None:
    spec = parse((HEAD + 'name = "acp"\nmodel = ["-m", "{value}"]').encode(), "mine.toml")
    assert build_argv(spec, FoundProgram("/bin/mine"), Launch(driver="acp", model="large")) == [
        "/bin/mine",
        "-m",
        "large",
    ]


def test_behaviours_are_named_in_the_file() -> None:
    text = HEAD + 'name = "acp"\nquirks = ["reject_ends_turn", "set_mode_at_start:workspace-write"]'
    assert parse(text.encode(), "mine.toml").driver().quirks[1] == "set_mode_at_start:workspace-write"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('name = "acp"\nquirks = ["is_gemini"]', "drivers.quirks"),
        ('name = "plain"', "drivers.cues"),
        ('name = "plain"\ncues = [{ pattern = "(" }]', "drivers.cues.pattern"),
        ('name = "plain"\ncues = [{ pattern = "x*" }]', "drivers.cues.pattern"),
        ('name = "plain"\ncues = [{ pattern = "> $", kind = "maybe" }]', "drivers.cues.kind"),
    ],
)
def test_a_mistake_is_told_with_its_key(text: str, key: str) -> None:
    with pytest.raises(BadAgentFile) as caught:
        parse((HEAD + text).encode(), "mine.toml")
    assert caught.value.fields["key"] == key

"""What a request asks for, in one line: the tool and its subject, without secrets."""

import pytest
from msgspec import Raw
from tests.policy.asking import asked, bash, edit

from bascule.model.event_values import Question
from bascule.model.events import PermissionRequested, QuestionAsked
from bascule.policy.asked_words import recorded_words, tool_words

KEY = "sk-ant-api03" + "-Zq8vT2kLm4Np6Rs8Tu0Vw1"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"command": "make test"}, "Bash: make test"),
        ({"command": ["git", "commit", "-m", "two words"]}, "Bash: git commit -m 'two words'"),
        ({"file_path": "/code/a.py", "command": ""}, "Bash: /code/a.py"),
        ({"url": "https://example.com", "prompt": "read it"}, "Bash: https://example.com"),
        ({"command": 7}, "Run it"),
        ({}, "Run it"),
        (["a"], "Run it"),
        (None, "Run it"),
    ],
)
def test_the_most_telling_field_says_it_and_else_the_agents_own_words(given: object, words: str) -> None:
    assert tool_words("Bash", "Run it", given) == words


def test_without_any_words_the_tools_name_is_left() -> None:
    assert tool_words("Bash", "", {}) == "Bash"


def test_a_record_is_one_line_without_secrets_and_cut_at_its_length() -> None:
    assert recorded_words(bash("cat <<EOF\n\n a\tb\nEOF"), 100) == "Bash: cat <<EOF a b EOF"
    assert recorded_words(edit("/code/a.py"), 100) == "Edit: /code/a.py"
    hidden = recorded_words(bash(f"{'x' * 80} ANTHROPIC_API_KEY={KEY} make"), 100)
    assert KEY[:8] not in hidden
    assert len(recorded_words(bash("y" * 1_000_000), 100)) == 100
    assert recorded_words(bash("y" * 1_000_000), 100).endswith("y…")


def test_a_question_is_recorded_with_its_words() -> None:
    questions = (Question("Which colour?"), Question("How large?"))
    both = QuestionAsked("q", questions, Raw(b"{}"), "0" * 64)
    assert recorded_words(both, 100) == "Which colour? How large?"


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 20_000 + b"]" * 20_000], ids=["none", "broken", "deep"])
def test_an_input_that_can_not_be_read_leaves_the_agents_own_words(raw: bytes) -> None:
    given = asked("Bash", "execute")
    broken = PermissionRequested("r1", "Bash", "Run it", given.kind, Raw(raw), "0" * 64, ())
    assert recorded_words(broken, 100) == "Run it"

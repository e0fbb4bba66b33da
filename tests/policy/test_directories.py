"""A folder is refused before the disk is touched when its name alone is wrong."""

import pytest

from bascule.policy.directories import inside, problem_with


@pytest.mark.row("S21")
@pytest.mark.parametrize(
    "text",
    ["", "relative", "..", "/a/../b", "~root", "/a\x00b", "/a\nb", "/a\u202eb", "/" + "x" * 4097, "C:\\x"],
)
def test_an_invalid_path_is_refused_with_its_name(text: str):
    assert problem_with(text)


@pytest.mark.parametrize("text", ["/", "/home/dev", "/home/dev/with space", "/home/dev/ünï"])
def test_a_plain_absolute_path_is_fine(text: str):
    assert problem_with(text) is None


@pytest.mark.row("S21")
def test_is_inside_compares_whole_path_components():
    assert inside("/home/dev/project", ["/home/dev"])
    assert inside("/home/dev", ["/home/dev"])
    assert not inside("/home/developer", ["/home/dev"])
    assert not inside("/", ["/home/dev"])


@pytest.mark.row("B9")
@pytest.mark.parametrize("text", ["/home/dev/👩\u200d👧", "/home/dev/می\u200cخواهم"])
def test_a_zero_width_joiner_is_allowed_in_a_name(text: str):
    assert problem_with(text) is None


@pytest.mark.row("B9")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/a\nb", "U+000A (newline), in place 3"),
        ("/a\u202eb", "U+202E (right-to-left override), in place 3"),
        ("/a\u200bb", "U+200B (zero width space)"),
        ("/a\u2066b", "U+2066"),
        ("/a\ufeffb", "U+FEFF"),
        ("/a\u00adb", "U+00AD"),
        ("/a\u00a0b", "U+00A0"),
        ("/a\x1bb", "U+001B"),
        ("/a\U000e0061b", "U+E0061"),
        ("/a\ud800b", "U+D800"),
    ],
)
def test_any_other_hidden_character_is_named_and_what_to_do_said(text: str, named: str):
    problem = problem_with(text)
    assert problem is not None
    assert named in problem
    assert "Rename the folder" in problem

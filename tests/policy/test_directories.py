"""A folder is refused before the disk is touched when its name alone is wrong."""

import pytest

from bascule.policy.directories import inside, problem_with


@pytest.mark.parametrize(
    "text",
    ["", "relative", "..", "/a/../b", "~root", "/a\x00b", "/a\nb", "/a\u202eb", "/" + "x" * 4097, "C:\\x"],
)
def test_s21_a_bad_path_is_named(text: str):
    assert problem_with(text)


@pytest.mark.parametrize("text", ["/", "/home/dev", "/home/dev/with space", "/home/dev/ünï"])
def test_a_plain_absolute_path_is_fine(text: str):
    assert problem_with(text) is None


def test_s21_inside_compares_whole_names():
    assert inside("/home/dev/project", ["/home/dev"])
    assert inside("/home/dev", ["/home/dev"])
    assert not inside("/home/developer", ["/home/dev"])
    assert not inside("/", ["/home/dev"])

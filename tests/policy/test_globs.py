"""Two patterns meet when some path fits both; a pattern covers a folder when it covers whatever is in it."""

import pytest

from bascule.policy.globs import covers_all_below, may_meet


@pytest.mark.row("F6")
@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("/p/**/.env", "/p/**", True),
        ("/p/**/.env", "/p/src/**", True),
        ("/p/**/.env", "/q/**", False),
        ("/p/**/.env", "/p/**/*.py", False),
        ("/p/**/.env", "/p/**/.e*", True),
        ("/p/**/.env", "/p/*", True),
        ("/p/src/*.py", "/p/**/a*", True),
        ("/p/src/*.py", "/p/src/*.pyc", False),
        ("/p/src/**", "/p/**/x", True),
        ("/p/src/**", "/p/lib/**", False),
        ("/p/a*b*c", "/p/*x*", True),
        ("/p/a*", "/p/b*", False),
        ("/p", "/p/**", True),
        ("/p/**/a/**/b", "/p/a/x/y/b", True),
        ("/p/**/a/**/b", "/p/x/b", False),
        ("", "", True),
        ("/" + "a*" * 400, "/" + "*b" * 400, True),  # too much to work out
    ],
)
def test_two_patterns_overlap_when_one_path_matches_both(one: str, other: str, meet: bool):
    assert may_meet(one, other) is meet
    assert may_meet(other, one) is meet


@pytest.mark.row("F6")
@pytest.mark.parametrize(
    ("pattern", "folder", "covered"),
    [
        ("/p/**", "/p", True),
        ("/p/**", "/p/src", True),
        ("/p/src", "/p/src", False),
        ("/p/src/*", "/p/src", False),
        ("/p/**/*.py", "/p", False),
        ("/p/**/*", "/p", True),
        ("/**", "/", True),
    ],
)
def test_a_search_is_covered_only_when_all_below_its_folder_is(pattern: str, folder: str, covered: bool):
    assert covers_all_below(pattern, folder) is covered

"""Whose window decides a terminal's size, by each policy."""

from bascule.daemon.terminals.size_policy import SIZE_POLICIES, LastTypistSize, SmallestClientSize

WINDOWS = {"ana": (120, 40), "ben": (90, 50), "cleo": (100, 20)}


def test_the_smallest_client_owns_a_size_that_fits_into_every_window() -> None:
    assert SmallestClientSize().choose(WINDOWS, "ana") == ("cleo", (90, 20))


def test_the_last_typist_owns_the_size_alone() -> None:
    assert LastTypistSize().choose(WINDOWS, "ben") == ("ben", (90, 50))


def test_before_anybody_types_the_first_who_came_owns_the_size() -> None:
    assert LastTypistSize().choose(WINDOWS, None) == ("ana", (120, 40))
    assert LastTypistSize().choose(WINDOWS, "dora") == ("ana", (120, 40))


def test_policies_are_found_by_the_name_in_the_settings() -> None:
    assert isinstance(SIZE_POLICIES["smallest"], SmallestClientSize)
    assert isinstance(SIZE_POLICIES["typing"], LastTypistSize)

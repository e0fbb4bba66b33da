"""Caps on spending: when they are near, when they are reached, and what a person raised."""

import pytest

from bascule.model.settings import Limits
from bascule.policy.spending_caps import Meter, Spending, allowed, look


def found(spending: Spending, raised: dict[str, int] | None = None, warned: object = (), **limits: int):
    return [(one.cap, one.state) for one in look(spending, Limits(**limits), raised or {}, warned)]  # pyright: ignore[reportArgumentType]


def test_without_caps_nothing_is_ever_reached():
    assert found(Spending(Meter(1e9, 10**12), Meter(1e9, 10**12), Meter(1e9, 10**12))) == []


@pytest.mark.parametrize(
    ("cents", "state"), [(79.9, []), (80, ["near"]), (99.9, ["near"]), (100, ["reached"])]
)
def test_a_cap_is_near_at_80_percent_and_reached_at_all_of_it(cents: float, state: list[str]):
    assert [one for _, one in found(Spending(Meter(cents)), session_cents=100)] == state


def test_session_project_and_day_each_have_their_own_meter():
    spending = Spending(session=Meter(10, 10), project=Meter(20, 1000), day=Meter(500, 30))
    limits = {"session_tokens": 10, "project_tokens": 1001, "day_cents": 499, "project_cents": 1000}
    assert found(spending, **limits) == [
        ("session_tokens", "reached"),
        ("day_cents", "reached"),
        ("project_tokens", "near"),
    ]


def test_a_cap_is_warned_of_once_at_each_height():
    spending = Spending(Meter(90))
    assert found(spending, warned={("session_cents", 100)}, session_cents=100) == []
    assert found(spending, warned={("session_cents", 100)}, session_cents=110) == [("session_cents", "near")]


def test_what_a_person_raised_holds_unless_the_owner_allows_more():
    limits = Limits(session_cents=100)
    assert allowed("session_cents", limits, {"session_cents": 250}) == 250
    assert allowed("session_cents", Limits(session_cents=400), {"session_cents": 250}) == 400
    assert allowed("session_cents", Limits(), {"session_cents": 250}) == 0


def test_the_words_say_how_much_of_what():
    near, reached = (
        look(Spending(Meter(cents)), Limits(session_cents=200), {}, ())[0] for cents in (160, 205)
    )
    assert near.words() == "$1.60 of $2.00 are spent for this session. At $2.00 the agent is stopped."
    assert reached.words() == "$2.05 of $2.00 are spent for this session: the limit is reached."

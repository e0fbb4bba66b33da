"""Names of sessions."""

from bascule.model.session_ids import new_session_id


def test_a_later_session_sorts_behind_an_earlier_one() -> None:
    named = [new_session_id(at) for at in (0.0, 1_000_000_000.0, 1_800_000_000.0, 1_800_000_001.5)]
    assert named == sorted(named)
    assert {len(one) for one in named} == {16}


def test_two_of_one_moment_are_told_apart() -> None:
    assert len({new_session_id(1_800_000_000.0) for _ in range(100)}) == 100

"""Fields of the wrong type count as absent, and what is kept is bounded."""

import pytest

from bascule.drivers import lenient
from bascule.drivers.lenient import JsonObject

WIRE: JsonObject = {
    "text": "hello",
    "number": 3,
    "float": 2.5,
    "yes": True,
    "list": [1, {"a": 1}, "x"],
    "object": {"a": 1},
    "null": None,
    "huge": 2**60,
    "endless": float("inf"),
}


@pytest.mark.parametrize(
    ("key", "expected"), [("text", "hello"), ("number", None), ("null", None), ("missing", None)]
)
def test_text(key: str, expected: str | None) -> None:
    assert lenient.text(WIRE, key) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [("number", 3), ("float", 2), ("yes", None), ("huge", None), ("endless", None), ("text", None)],
)
def test_whole_numbers(key: str, expected: int | None) -> None:
    assert lenient.whole(WIRE, key) == expected


@pytest.mark.parametrize(
    ("key", "expected"), [("number", 3.0), ("float", 2.5), ("yes", None), ("endless", None), ("huge", None)]
)
def test_numbers(key: str, expected: float | None) -> None:
    assert lenient.number(WIRE, key) == expected


def test_objects_and_lists() -> None:
    assert lenient.mapping(WIRE, "object") == {"a": 1}
    assert lenient.mapping(WIRE, "list") == {}
    assert lenient.items(WIRE, "list") == [1, {"a": 1}, "x"]
    assert lenient.objects(WIRE, "list") == [{"a": 1}]
    assert lenient.items(WIRE, "object") == []
    assert (lenient.true(WIRE, "yes"), lenient.true(WIRE, "number")) == (True, False)


def test_text_for_people_is_clipped_and_never_absent() -> None:
    assert lenient.words({"a": "x" * 10}, "a", 4) == "xxxx… [6 more characters]"
    assert lenient.words({}, "a") == ""


@pytest.mark.parametrize("data", [b"[1]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_empty(data: bytes) -> None:
    assert lenient.loosely(data) == {}


@pytest.mark.parametrize(
    ("line", "repaired"),
    [
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\ude00 \ud83d\ude00"', rb'"\ufffd \ud83d\ude00"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"plain \n"', rb'"plain \n"'),
    ],
)
def test_lone_surrogates_are_replaced_and_pairs_are_not(line: bytes, repaired: bytes) -> None:
    assert lenient.without_lone_surrogates(line) == repaired

"""What a parser found wrong, in a person's words."""

from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from bascule.model.validation import in_words


class Inner(Struct):
    name: Annotated[str, Meta(max_length=3)]


class Sample(Struct, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=5)] = "a"
    sha: Annotated[str, Meta(pattern="^[a-f]+$")] = "a"
    place: Annotated[int, Meta(ge=0, le=5)] = 0
    seconds: Annotated[float, Meta(gt=0)] = 1
    mode: Literal["a", "b"] = "a"
    several: Annotated[tuple[Inner, ...], Meta(max_length=2)] = ()
    answers: dict[str, Annotated[str, Meta(max_length=2)]] = {}
    maybe: int | None = None
    on: bool = False


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text": "abcdef"}, "`text` is 6 characters long; at most 5 fit."),
        ({"text": ""}, "`text` is empty."),
        ({"text": 1}, "`text` must be text, not a whole number."),
        ({"sha": "X"}, "`sha` is not written as it must be."),
        ({"place": -1}, "`place` must be at least 0."),
        ({"place": 9}, "`place` must be at most 5."),
        ({"seconds": 0}, "`seconds` must be more than 0."),
        ({"mode": "z"}, "`mode` can't be 'z'."),
        ({"several": [{"name": "a"}] * 3}, "`several` takes at most 2 entries."),
        ({"several": [{"name": "a"}, {"name": "abcd"}]}, "`name` is 4 characters long; at most 3 fit."),
        ({"several": [{}]}, "The field 'name' is missing."),
        ({"answers": {"k": "ok", "q": "abc"}}, "`answers` is 3 characters long; at most 2 fit."),
        ({"maybe": "x"}, "`maybe` must be a whole number or nothing, not text."),
        ({"on": 1}, "`on` must be true or false, not a whole number."),
        ({"other": 1}, "There is no field 'other' here."),
        ([1], "The message must be an object, not a list."),
    ],
)
def test_each_mistake_is_a_sentence(given: object, words: str):
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.convert(given, Sample)
    assert in_words(wrong.value, given) == words


def test_words_nobody_knows_are_not_passed_on():
    said = in_words(msgspec.ValidationError("Expected something `new` - at `$.text`"))
    assert said == "`text` is not as it must be."

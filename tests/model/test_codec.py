"""The one encoding of events and times."""

import pytest

from bascule.model.codec import timestamp


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_800_000_000.0, "2027-01-15T08:00:00.000Z"),
        (1_800_000_000.0016, "2027-01-15T08:00:00.001Z"),
        (1_800_000_000.999, "2027-01-15T08:00:00.999Z"),
        (1_800_000_000.9999999, "2027-01-15T08:00:01.000Z"),
        (-0.5, "1969-12-31T23:59:59.500Z"),
    ],
)
def test_a_time_is_utc_to_the_millisecond(moment: float, text: str) -> None:
    assert timestamp(moment) == text

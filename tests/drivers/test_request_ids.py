"""Ids of requests are safe to print and to put in a URL, whatever the agent calls them."""

import re

import pytest

from bascule.drivers.request_ids import own_id


@pytest.mark.parametrize("plain", ["1", "toolu_01:x", "a.b-c_d", "x" * 128])
def test_a_plain_id_is_kept(plain: str) -> None:
    assert own_id(plain) == plain


@pytest.mark.row("F2")
@pytest.mark.parametrize("foreign", ["", "a b", "a/b", "é", "x" * 129, "\ud800", "a\n"])
def test_any_other_becomes_a_plain_one_that_is_always_the_same(foreign: str) -> None:
    made = own_id(foreign)
    assert re.fullmatch(r"x-[0-9a-f]{32}", made)
    assert made == own_id(foreign)
    assert made == own_id(made)

"""A call's title is the same whether its whole input was decoded or only the field that it is titled by."""

import msgspec
import pytest
from msgspec import Raw

from bascule.drivers.lenient import loosely
from bascule.drivers.stream_json.tools import title_of, title_of_raw

INPUTS = [
    b'{"command":"ls -l","description":"List"}',
    b'{"file_path":"/a/b","content":"\\u00b6"}',
    b'{"command":7,"file_path":null}',
    b'{"command":""}',
    b'{"command":"%s"}' % (b"x" * 1000),
    b'{"command":"first","command":"second"}',
    b'{"questions":[{"question":"Which?"}],"todos":[]}',
    b"[1]",
    b'"text"',
    b"{}",
]


@pytest.mark.parametrize("name", ["Bash", "Write", "TodoWrite", "AskUserQuestion", "mcp__a__b", "Unheard"])
@pytest.mark.parametrize("given", INPUTS)
def test_both_ways_give_the_same_title(name: str, given: bytes) -> None:
    assert title_of_raw(name, Raw(given)) == title_of(name, loosely(given))


def test_the_inputs_are_json() -> None:
    for given in INPUTS:
        msgspec.json.decode(given)

"""`bascule://` links: read strictly, and never more than a prompt that is typed and not sent."""

from urllib.parse import quote, urlencode

import pytest

from bascule.launch.errors import LaunchError
from bascule.launch.link import MAX_PROMPT, parse_link


@pytest.mark.row("L11", "S24")
def test_a_link_prefills_whatever_it_says() -> None:
    fields = {"prompt": "a + b & c\n漢字", "agent": "codex", "workingDirectory": "/srv/app", "mode": "normal"}
    request = parse_link(f"bascule://launch?{urlencode(fields)}")
    assert (request.prompt, request.agent) == ("a + b & c\n漢字", "codex")
    assert (request.mode, request.working_directory) == ("prefill", "/srv/app")
    assert parse_link("bascule://launch/?prompt=a%20b&unknown=1").prompt == "a b"


@pytest.mark.row("L11")
@pytest.mark.parametrize(
    ("link", "error"),
    [
        ("bascule://launch?prompt=", "prompt_required"),
        ("bascule://launch?agent=codex", "prompt_required"),
        ("bascule://launch", "prompt_required"),
        ("bascule://other?prompt=a", "invalid_request"),
        ("bascule://launch/more?prompt=a", "invalid_request"),
        ("bascule:launch?prompt=a", "invalid_request"),
        ("https://launch?prompt=a", "invalid_request"),
        ("bascule://launch?prompt=a&prompt=b", "invalid_request"),
        ("bascule://launch?prompt=%ff", "invalid_request"),
        ("bascule://[?prompt=a", "invalid_request"),
        ("bascule://launch?prompt=%00", "invalid_prompt"),
        ("bascule://launch?prompt=a&workingDirectory=..", "invalid_working_directory"),
        (f"bascule://launch?prompt={quote('x' * (MAX_PROMPT + 1))}", "prompt_too_large"),
    ],
)
def test_any_other_link_is_refused(link: str, error: str) -> None:
    with pytest.raises(LaunchError) as refused:
        parse_link(link)
    assert refused.value.error == error

"""The launch window and the element's file over HTTP: who may load them, and what their answers allow."""

import base64
import hashlib
import subprocess
import sys
from typing import Any

import httpx
import pytest
from tests.launch.desk import Desk
from tests.launch.test_bridge_http import PAGE, bridge

from bascule.hub.launch.element_file import element_file, integrity
from bascule.hub.launch.window_routes import MAX_TOKENS, TOKEN_SECONDS, WindowTokens
from bascule.launch.errors import LaunchError
from bascule.launch.offers import KEPT, KEPT_SECONDS, PromptOffers
from bascule.launch.request import LaunchRequest
from bascule.launch.site import check_trustable, is_loopback_origin

NEAR = "http://localhost:8123"


async def opened(page: httpx.AsyncClient) -> str:
    """The token of a new window."""
    page.headers.pop("origin", None)
    answer = await page.get("/window", headers={"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"})
    assert answer.status_code == 200, answer.text
    return answer.text.split('name="window-token" content="')[1].split('"')[0]


@pytest.mark.anyio
@pytest.mark.row("L8")
async def test_the_window_is_a_page_of_its_own_with_a_strict_policy(desk: Desk) -> None:
    async with bridge(desk) as page:
        page.headers.pop("origin")
        as_page = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        answer = await page.get("/window", headers=as_page)
        policy = answer.headers["content-security-policy"]
        for part in (
            "default-src 'none'",
            "frame-ancestors 'none'",
            "trusted-types 'none'",
            "script-src 'self'",
        ):
            assert part in policy
        assert "unsafe" not in policy
        assert answer.headers["cross-origin-opener-policy"] == "unsafe-none"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "{" not in answer.text
        framed = await page.get("/window", headers={**as_page, "sec-fetch-dest": "iframe"})
        assert framed.status_code == 403
        fetched = await page.get("/window", headers={"sec-fetch-mode": "cors"})
        assert fetched.status_code == 403
        own = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
        for path in ("/window/window/window.js", "/window/js/visible.js", "/window/css/window.css"):
            file = await page.get(path, headers=own)
            assert file.status_code == 200
            assert file.headers["cross-origin-opener-policy"] == "same-origin"
            assert (await page.get(path, headers={"sec-fetch-site": "cross-site"})).status_code == 403


@pytest.mark.anyio
@pytest.mark.row("L8", "S28")
async def test_the_windows_requests_need_its_own_origin_and_its_token(desk: Desk) -> None:
    async with bridge(desk) as page:
        token = await opened(page)
        own = f"http://127.0.0.1:{page.base_url.port}"
        good = {"origin": own, "sec-fetch-site": "same-origin", "x-window-token": token}
        body = {"prompt": "x", "workingDirectory": str(desk.home), "origin": PAGE}
        wrong: list[tuple[int, dict[str, str], dict[str, Any]]] = [
            (403, {**good, "origin": PAGE, "sec-fetch-site": "cross-site"}, body),
            (403, {**good, "origin": PAGE}, body),
            (403, {**good, "x-window-token": "guessed"}, body),
            (403, {name: good[name] for name in ("origin", "sec-fetch-site")}, body),
            (400, good, {**body, "prompt": ""}),
            (404, good, {**body, "path": "/window/session"}),
        ]
        for status, headers, sent in wrong:
            path = sent.get("path", "/window/launch")
            answer = await page.post(path, json=sent, headers=headers)
            assert answer.status_code == status, (headers, answer.text)
            assert "access-control-allow-origin" not in answer.headers
        assert desk.terminals() == []
        assert (await page.post("/window/launch", json=body, headers=good)).status_code == 200
        assert len(desk.terminals()) == 1


@pytest.mark.anyio
@pytest.mark.row("L8")
async def test_the_elements_file_is_for_pages_of_this_machine_and_trusted_ones(desk: Desk) -> None:
    async with bridge(desk) as page:
        for origin, status in ((PAGE, 200), (NEAR, 200), ("https://evil.example", 403), ("null", 403)):
            answer = await page.get("/bascule-launch.js", headers={"origin": origin})
            assert answer.status_code == status, origin
            assert answer.headers.get("access-control-allow-origin") == (origin if status == 200 else None)
        page.headers.pop("origin")
        plain = await page.get("/bascule-launch.js")
        assert plain.content == element_file()
        assert plain.headers["content-type"].startswith("text/javascript")
        assert plain.headers["cross-origin-resource-policy"] == "cross-origin"
        assert (await page.get("/health")).headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.row("L8")
def test_the_elements_file_is_printed_with_its_integrity_and_imports_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bascule", "bridge", "element"], capture_output=True, check=True
    )
    assert done.stdout == element_file()
    digest = base64.b64encode(hashlib.sha384(done.stdout).digest()).decode()
    assert f'integrity="sha384-{digest}"' in done.stderr.decode()
    assert integrity() == f"sha384-{digest}"
    lines = done.stdout.decode().splitlines()
    assert not [line for line in lines if line.startswith("import ")]
    assert [line for line in lines if line.startswith("export ")] == [
        "export { deltaToText, deltaToMarkdown, BasculeLaunch };"
    ]


@pytest.mark.parametrize(
    ("origin", "near", "trustable"),
    [
        ("http://localhost:8080", True, True),
        ("http://app.localhost", True, True),
        ("http://127.0.0.1", True, True),
        ("http://[::1]:3000", True, True),
        ("https://tool.example", False, True),
        ("https://tool.example:8443", False, True),
        ("http://tool.example", False, False),
        ("http://localhost.evil.example", False, False),
        ("https://tool.example/", False, False),
        ("https://Tool.example", False, False),
        ("https://user@tool.example", False, False),
        ("null", False, False),
        ("", False, False),
        ("file://", False, False),
    ],
)
def test_which_origins_are_near_and_which_can_be_trusted_for_good(
    origin: str, near: bool, trustable: bool
) -> None:
    assert is_loopback_origin(origin) is near
    if trustable:
        assert check_trustable(origin) == origin
    else:
        with pytest.raises(LaunchError):
            check_trustable(origin)


def test_tokens_and_offers_are_few_and_run_out() -> None:
    now = [0.0]
    tokens = WindowTokens(lambda: now[0])
    first = tokens.issue()
    tokens.check(first)
    last = [tokens.issue() for _ in range(MAX_TOKENS)][-1]
    for token in (first, None, ""):
        with pytest.raises(LaunchError, match="too old"):
            tokens.check(token)
    tokens.check(last)
    now[0] = TOKEN_SECONDS + 1
    with pytest.raises(LaunchError, match="too old"):
        tokens.check(last)
    offers = PromptOffers(lambda: now[0])
    names = [offers.add(LaunchRequest(prompt=str(n)), "a page") for n in range(KEPT + 1)]
    with pytest.raises(LaunchError, match="not offered any more"):
        offers.get(names[0])
    assert offers.get(names[-1]) == ("a page", LaunchRequest(prompt=str(KEPT)))
    now[0] += KEPT_SECONDS + 1
    with pytest.raises(LaunchError, match="not offered any more"):
        offers.get(names[-1])

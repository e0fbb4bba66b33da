"""The bridge's gate: which Host, Origin and Sec-Fetch values pass, and the headers of an answer."""

import pytest

from bascule.launch.errors import LaunchError
from bascule.launch.gate import Gate, answer_headers, check_method, check_preflight, preflight_headers

PAGE = "https://tool.example"
GATE = Gate.of(9872, [PAGE, "http://localhost:8080"])


def headers(**said: str) -> list[tuple[bytes, bytes]]:
    filled = {"host": "127.0.0.1:9872", "origin": PAGE, **said}
    return [(name.replace("_", "-").encode(), value.encode()) for name, value in filled.items() if value]


def refusal(method: str, path: str, said: list[tuple[bytes, bytes]]) -> str:
    with pytest.raises(LaunchError) as refused:
        GATE.check(method, path, said)
    return refused.value.error


ALLOWED = [
    {},
    {"host": "localhost:9872"},
    {"origin": "http://localhost:8080"},
    {"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors"},
    {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
]
WRONG_ORIGINS = [
    "",
    "null",
    "*",
    "https://tool.example.evil",
    "https://tool.example:443",
    "http://tool.example",
    "https://TOOL.example",
    "https://tool.example/",
    "https://sub.tool.example",
    "http://127.0.0.1:9872",
    "http://localhost",
]
WRONG_HOSTS = ["", "127.0.0.1", "evil.example", "evil.example:9872", "127.0.0.1:9873", "LOCALHOST:9872"]
WRONG_FETCHES = [
    ("none", "cors"),
    ("same-origin", "cors"),
    ("cross-site", "no-cors"),
    ("cross-site", "navigate"),
]


@pytest.mark.row("L3", "S28", "L13", "LV-6")
@pytest.mark.parametrize("said", ALLOWED, ids=str)
def test_an_exact_origin_passes(said: dict[str, str]) -> None:
    assert GATE.check("POST", "/launch", headers(**said)) == said.get("origin", PAGE)


@pytest.mark.row("L3", "S28", "L13", "LV-8", "LV-19", "LV-20")
@pytest.mark.parametrize("origin", WRONG_ORIGINS)
def test_any_other_origin_and_none_are_refused(origin: str) -> None:
    for method, path in (("POST", "/launch"), ("GET", "/launch/x"), ("OPTIONS", "/launch")):
        assert refusal(method, path, headers(origin=origin)) == "origin_forbidden"


@pytest.mark.row("L3", "S28")
def test_two_origins_are_refused() -> None:
    assert refusal("POST", "/launch", [*headers(), (b"origin", PAGE.encode())]) == "origin_forbidden"


@pytest.mark.row("L3")
@pytest.mark.parametrize("host", WRONG_HOSTS)
def test_any_other_host_is_refused_even_with_an_allowed_origin(host: str) -> None:
    assert refusal("POST", "/launch", headers(host=host)) == "host_forbidden"


@pytest.mark.row("L3", "S28")
@pytest.mark.parametrize(("site", "mode"), WRONG_FETCHES)
def test_a_request_that_no_script_of_the_page_could_have_made_is_refused(site: str, mode: str) -> None:
    said = headers(sec_fetch_site=site, sec_fetch_mode=mode)
    assert refusal("POST", "/launch", said) == "origin_forbidden"


@pytest.mark.row("L12")
def test_a_program_without_origin_may_ask_for_the_health_and_for_nothing_else() -> None:
    assert GATE.check("GET", "/health", headers(origin="")) == ""
    assert GATE.check("GET", "/health", headers()) == PAGE
    assert refusal("GET", "/health", headers(origin="https://evil.example")) == "origin_forbidden"
    assert refusal("GET", "/health", headers(origin="", sec_fetch_site="cross-site")) == "origin_forbidden"
    assert refusal("POST", "/health", headers(origin="")) == "origin_forbidden"


@pytest.mark.row("L3", "S28")
def test_a_preflight_names_the_exact_origin_and_nothing_more() -> None:
    assert preflight_headers(PAGE, "/launch") == {
        "X-Bridge-Version": "1.0",
        "Vary": "Origin",
        "Access-Control-Allow-Origin": PAGE,
        "Access-Control-Expose-Headers": "X-Bridge-Version",
        "Access-Control-Allow-Methods": "POST, OPTIONS",
        "Access-Control-Allow-Headers": "Content-Type, Idempotency-Key",
        "Access-Control-Max-Age": "600",
    }
    assert answer_headers("") == {"X-Bridge-Version": "1.0", "Vary": "Origin"}
    check_preflight("/launch", headers(access_control_request_method="POST"))
    for method in ("GET", "DELETE", ""):
        with pytest.raises(LaunchError, match="Use POST"):
            check_preflight("/launch", headers(access_control_request_method=method))


@pytest.mark.row("L2")
@pytest.mark.parametrize(
    ("method", "path", "error"),
    [
        ("GET", "/launch", "method_not_allowed"),
        ("PUT", "/launch", "method_not_allowed"),
        ("POST", "/health", "method_not_allowed"),
        ("POST", "/launch/x", "method_not_allowed"),
        ("GET", "/", "not_found"),
        ("GET", "/launch/", "not_found"),
        ("GET", "/launch/x/y", "not_found"),
        ("POST", "/launchx", "not_found"),
    ],
)
def test_other_methods_and_paths_have_errors_of_their_own(method: str, path: str, error: str) -> None:
    with pytest.raises(LaunchError) as refused:
        check_method(method, path)
    assert refused.value.error == error

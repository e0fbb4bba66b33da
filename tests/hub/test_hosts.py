"""Which hosts and origins are ours, for every way the hub may be bound."""

import pytest

from bascule.hub.door.hosts import Doorway, check_host, check_origin
from bascule.model.errors import InvalidInput
from bascule.model.loopback import is_loopback
from bascule.model.settings import Settings


def doors(**settings: object) -> Doorway:
    return Doorway(Settings(data_dir="", config_dir="", **settings))  # type: ignore[arg-type]


def test_only_loopback_names_with_the_bound_port_are_ours() -> None:
    ours = doors(port=0)
    ours.bound(4000)
    assert ours.hosts == {"127.0.0.1:4000", "localhost:4000", "[::1]:4000"}
    assert ours.url == "http://127.0.0.1:4000"


def test_a_schemes_own_port_may_be_left_out() -> None:
    assert "localhost" in doors(port=80).hosts
    assert "localhost" not in doors(port=443).hosts
    assert "localhost" in doors(port=443, tls_cert="c", tls_key="k").hosts


def test_a_chosen_address_and_listed_hosts_are_ours_and_all_addresses_is_none() -> None:
    assert "192.168.1.5:3333" in doors(host="192.168.1.5").hosts
    assert "[fd00::5]:3333" in doors(host="fd00::5").hosts
    assert not any("0.0.0.0" in host for host in doors(host="0.0.0.0").hosts)
    assert "bascule.example" in doors(allowed_hosts=("bascule.example",)).hosts


@pytest.mark.parametrize(
    "host", ["*", "*.example", ".example", "a b", "https://a", "A.example", "a.example/", ""]
)
def test_a_host_that_is_no_exact_host_is_refused_at_the_start(host: str) -> None:
    with pytest.raises(InvalidInput, match="exact host"):
        doors(allowed_hosts=(host,))


def test_our_origin_is_the_scheme_and_host_of_this_very_request() -> None:
    ours = doors()
    here = (b"host", b"localhost:3333")
    assert check_host(ours, [here]) is None
    assert check_origin(ours, [here], "http")
    assert check_origin(ours, [here, (b"origin", b"http://localhost:3333")], "ws")
    assert not check_origin(ours, [here, (b"origin", b"http://127.0.0.1:3333")], "http")
    assert not check_origin(ours, [here, (b"origin", b"http://localhost:3333")], "https")
    assert not check_origin(ours, [here, (b"origin", b"")], "http")
    assert check_host(ours, [here, here]) == 400


@pytest.mark.parametrize(
    ("host", "loopback"), [("127.0.0.53", True), ("::1", True), ("localhost", True), ("1.1.1.1", False)]
)
def test_loopback_is_known_when_seen(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback

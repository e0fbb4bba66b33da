"""The example of several hub nodes: what its files say is what the program, and each other, understand."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from bascule.cli import build_parser
from bascule.config.load import combine
from bascule.model.settings import Settings

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SECRETS = {"POSTGRES_PASSWORD": "hush", "BASCULE_PUBLIC_URL": "https://bascule.example:8443"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file as Docker Compose reads it, with the two values that a person sets."""
    yaml: Any = pytest.importorskip("yaml")
    text = (EXAMPLES / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)\}", text)) == set(SECRETS)
    for name, value in SECRETS.items():
        text = text.replace(f"${{{name}}}", value)
    return yaml.safe_load(text)


@pytest.fixture(scope="module")
def nodes(compose: dict[str, Any]) -> dict[str, Any]:
    found = {name: one for name, one in compose["services"].items() if name.startswith("node-")}
    assert len(found) == 2
    return found


def settings_of(service: dict[str, Any]) -> Settings:
    """What `bascule hub` makes of the command and the environment of a service."""
    shell, flag, script = shlex.split(service["command"])
    assert (shell, flag) == ("sh", "-c")
    install, _, run = script.partition(" && exec bascule ")
    assert shlex.split(install)[:3] == ["pip", "install", "--quiet"]
    args = vars(build_parser("hub").parse_args(shlex.split(run)))
    flags = {name: args[name] for name in ("host", "port", "insecure_bind", "store") if args.get(name)}
    settings, _ = combine(None, {"HOME": "/root", **service["environment"]}, flags)
    return settings


@pytest.mark.row("X11")
def test_each_node_starts_with_settings_that_the_program_knows(
    compose: dict[str, Any], nodes: dict[str, Any]
) -> None:
    proxy = compose["services"]["proxy"]["networks"]["inside"]["ipv4_address"]
    database = compose["services"]["database"]["environment"]
    for name, service in nodes.items():
        settings = settings_of(service)
        assert settings.host == "0.0.0.0"
        assert urlsplit(settings.node_url).netloc == f"{name}:{settings.port}"
        assert settings.public_url == SECRETS["BASCULE_PUBLIC_URL"]
        assert settings.trusted_proxies == (proxy,)
        store = urlsplit(settings.store)
        assert (store.hostname, store.username) == ("database", database["POSTGRES_USER"])
        assert (store.path, store.password) == (f"/{database['POSTGRES_DB']}", database["POSTGRES_PASSWORD"])
        (volume,) = service["volumes"]
        assert volume.partition(":")[2] == settings.data_dir


def test_the_images_are_new_enough_and_the_extra_exists(
    compose: dict[str, Any], nodes: dict[str, Any]
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "bascule[postgres]" in next(iter(nodes.values()))["command"]
    assert "postgres" in project["optional-dependencies"]
    least = tuple(map(int, re.findall(r"\d+", project["requires-python"])[:2]))
    for service in nodes.values():
        assert tuple(map(int, re.findall(r"\d+", service["image"])[:2])) >= least
    assert int(compose["services"]["database"]["image"].partition(":")[2]) >= 15


@pytest.mark.row("X11")
def test_the_proxy_knows_the_nodes_and_listens_where_the_outside_comes_in(
    compose: dict[str, Any], nodes: dict[str, Any]
) -> None:
    proxy = compose["services"]["proxy"]
    mounted = dict(one.split(":")[1::-1] for one in proxy["volumes"])
    config = (EXAMPLES / mounted["/etc/nginx/nginx.conf"]).read_text()
    reached = {urlsplit(settings_of(one).node_url).netloc for one in nodes.values()}
    assert set(re.findall(r"server (\S+:\d+)", config)) == reached
    (listens,) = re.findall(r"listen (\d+) ssl", config)
    assert proxy["ports"] == [f"{listens}:{listens}"]
    assert all(path.startswith(tuple(mounted)) for path in re.findall(r"ssl_certificate\w* (\S+);", config))
    volumes = {one.partition(":")[0] for name in nodes for one in nodes[name]["volumes"]}
    assert volumes <= set(compose["volumes"])

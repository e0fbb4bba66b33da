"""Settings come together from file, environment and flags, and a wrong one is named."""

import os
from pathlib import Path
from typing import Any

import pytest

from bascule.config.load import ConfigError, Document, combine, load

HOME = {"HOME": "/h/ana"}


def settings_of(text: str = "", environ: dict[str, str] | None = None, **flags: Any):
    return combine(Document("/c/config.toml", text), HOME | (environ or {}), flags)[0]


def refusal_of(text: str = "", environ: dict[str, str] | None = None, **flags: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        settings_of(text, environ, **flags)
    assert "\n" not in caught.value.message
    return caught.value.message


def test_without_anything_the_defaults_hold():
    settings = settings_of()
    assert settings.data_dir == "/h/ana/.local/state/bascule"
    assert settings.config_dir == "/h/ana/.config/bascule"
    assert (settings.host, settings.port) == ("127.0.0.1", 3333)


def test_flags_win_over_environment_and_environment_over_file():
    text = "port = 1\nhost = '127.0.0.2'\ndevice_name = 'file'\n"
    settings = settings_of(text, {"PORT": "2", "HOST": "127.0.0.3"}, port=3)
    assert (settings.port, settings.host, settings.device_name) == (3, "127.0.0.3", "file")


def test_the_seeds_names_and_our_own_work_and_ours_win():
    environ = {
        "PORT": "4000",
        "BASCULE_PORT": "4001",
        "CLAUDE_BIN": "/opt/claude",
        "CLAUDE_DEFAULT_MODEL": "opus",
        "BASCULE_LIMITS_SESSIONS": "7",
        "BASCULE_ALLOWED_ORIGINS": "https://a.example, https://b.example:8443",
        "BASCULE_INSECURE_BIND": "yes",
        "BASCULE_DATA_DIR": "~/d",
    }
    settings = settings_of("", environ)
    assert settings.port == 4001
    assert settings.claude_bin == "/opt/claude"
    assert settings.default_model == "opus"
    assert settings.limits.sessions == 7
    assert settings.allowed_origins == ("https://a.example", "https://b.example:8443")
    assert settings.insecure_bind is True
    assert settings.data_dir == "/h/ana/d"


@pytest.mark.parametrize(("word", "meant"), [("true", True), ("no", False)])
def test_a_variable_says_yes_or_no_for_a_setting_that_may_be_left_open_too(word: str, meant: bool):
    assert settings_of().starts.hub_may_widen is None
    assert settings_of("", {"BASCULE_STARTS_HUB_MAY_WIDEN": word}).starts.hub_may_widen is meant
    wrong = refusal_of("", {"BASCULE_STARTS_HUB_MAY_WIDEN": "perhaps"})
    assert wrong == "BASCULE_STARTS_HUB_MAY_WIDEN: 'perhaps' is neither true nor false; write one of them."


def test_a_table_of_limits_in_the_file_is_joined_with_one_from_the_environment():
    settings = settings_of("[limits]\nsessions = 9\nidle_seconds = 5\n", {"BASCULE_LIMITS_SESSIONS": "2"})
    assert (settings.limits.sessions, settings.limits.idle_seconds) == (2, 5)


@pytest.mark.row("R15")
def test_without_a_setting_the_limits_of_a_session_are_those_of_the_specification():
    limits = settings_of().limits
    assert (limits.spawns_per_minute, limits.inputs_per_minute) == (5, 60)
    assert (limits.session_seconds, limits.idle_seconds) == (4 * 3600, 30 * 60)
    assert limits.output_bytes == 100 * 1024 * 1024


def test_state_and_config_homes_are_honoured_only_when_absolute():
    settings = settings_of("", {"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "relative"})
    assert settings.data_dir == "/s/bascule"
    assert settings.config_dir == "/h/ana/.config/bascule"


@pytest.mark.row("REL-24")
@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("port = \n", "/c/config.toml:1: port:", "not valid TOML"),
        ("host = '127.0.0.1'\nport = [1\n", "/c/config.toml:", "not valid TOML"),
        ("# hi\nprot = 3\n", "/c/config.toml:2: prot:", "did you mean port?"),
        ("zzz = 3\n", "/c/config.toml:1: zzz:", "is not a setting; remove it"),
        ("\nport = '3333'\n", "/c/config.toml:2: port:", "expected int, got str"),
        ("port = true\n", "/c/config.toml:1: port:", "expected int"),
        ("insecure_bind = 1\n", "/c/config.toml:1: insecure_bind:", "expected bool"),
        ("port = 1\nport = 2\n", "/c/config.toml:2: port:", "is set twice"),
        ("[limits]\nsessions = 1\n[limits]\nidle_seconds = 1\n", "/c/config.toml:3: limits:", "set twice"),
        ("data_dir = 'here'\n", "/c/config.toml:1: data_dir:", "relative path"),
        ("roots = ['/ok', 'no']\n", "/c/config.toml:1: roots:", "relative path"),
        ("claude_bin = './claude'\n", "/c/config.toml:1: claude_bin:", "relative path"),
        ("port = 70000\n", "/c/config.toml:1: port:", "70000 is no port"),
        ("x = 1\n[limits]\nsesions = 1\n", "/c/config.toml:1: x:", "not a setting"),
        ("[limits]\n\nsesions = 1\n", "/c/config.toml:3: limits.sesions:", "did you mean limits.sessions?"),
        ("limits.sessions = 'a'\n", "/c/config.toml:1: limits.sessions:", "expected int"),
        ("port = 1\nlimits = { sessions = -1 }\n", "/c/config.toml:2: limits.sessions:", "below zero"),
        ("limits = 3\n", "/c/config.toml:1: limits:", "not a setting"),
        ("[server]\nport = 1\n", "/c/config.toml:1: server:", "not a setting"),
        ("allowed_origins = 'https://a'\n", "/c/config.toml:1: allowed_origins:", "expected array"),
        ("allowed_origins = [1]\n", "/c/config.toml:1: allowed_origins:", "expected str"),
        ("tls_cert = '/c.pem'\n", "tls_key:", "needs both"),
        ("host = 'http://127.0.0.1'\n", "/c/config.toml:1: host:", "no address"),
        ("[pass_on]\ncodex = 'A_KEY'\n", "/c/config.toml:1: pass_on:", "expected array"),
        ("pass_on = ['A_KEY']\n", "/c/config.toml:1: pass_on:", "expected object"),
        ("[pass_on]\ncodex = ['OPENAI_*']\n", "/c/config.toml:1: pass_on:", "no name of a variable"),
        ("[pass_on]\ncodex = ['LD_PRELOAD']\n", "/c/config.toml:1: pass_on:", "no name of a variable"),
        ("[pass_on]\ncodex = ['BASCULE_TOKEN']\n", "/c/config.toml:1: pass_on:", "no name of a variable"),
    ],
)
def test_a_wrong_line_is_named_by_file_line_and_key(text: str, place: str, reason: str):
    message = refusal_of(text)
    assert message.startswith(place)
    assert reason in message


@pytest.mark.row("S15")
@pytest.mark.parametrize("key", ["token", "Token", "auth_token", "secret", "password", "api_key"])
@pytest.mark.parametrize("value", ["''", "'   '", "'changeme'"])
def test_a_secret_in_the_config_is_refused_and_not_repeated(key: str, value: str):
    message = refusal_of(f"port = 1\n{key} = {value}\n")
    assert message.startswith(f"/c/config.toml:2: {key}:")
    assert "secrets have no place" in message
    assert "changeme" not in message


@pytest.mark.row("S15")
def test_a_key_that_stands_where_its_name_belongs_is_refused_and_not_repeated():
    message = refusal_of("[pass_on]\ncodex = ['A_KEY=sk-changeme']\n")
    assert message.startswith("/c/config.toml:1: pass_on: 'codex' has an entry")
    assert "changeme" not in message


def test_variables_are_passed_on_by_agent_and_only_the_file_can_say_so():
    settings = settings_of("[pass_on]\ncodex = ['A_KEY', 'B_KEY']\n", {"BASCULE_PASS_ON": "C_KEY"})
    assert settings.pass_on == {"codex": ("A_KEY", "B_KEY")}


@pytest.mark.row("REL-24")
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PORT", "http", "not a whole number"),
        ("BASCULE_PORT", "", "not a whole number"),
        ("BASCULE_INSECURE_BIND", "maybe", "neither true nor false"),
        ("BASCULE_DATA_DIR", "here", "relative path"),
        ("BASCULE_HOTS", "1", "did you mean BASCULE_HOST?"),
        ("BASCULE_LIMITS_SESSION", "1", "did you mean BASCULE_LIMITS_SESSIONS?"),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str, reason: str):
    message = refusal_of("", {name: value})
    assert message.startswith(f"{name}:")
    assert reason in message


@pytest.mark.row("REL-24")
def test_a_wrong_flag_is_named():
    assert refusal_of("", None, port=-1).startswith("--port: -1 is no port")
    assert refusal_of("", None, data_dir="x").startswith("--data: 'x' is a relative path")


@pytest.mark.row("S07")
@pytest.mark.parametrize(
    "origin",
    [
        "https://*.example",
        "https://tracker.example/",
        "https://tracker.example/path",
        "https://tracker\\.example",
        "https://user@tracker.example",
        "https://tracker.example.",
        "https://Tracker.example",
        "https://tracker.example:443",
        "http://tracker.example:80",
        "https://tracker.example:99999",
        "https://tracker.example, https://b.example",
        "https://",
        "//tracker.example",
        "tracker.example",
        "null",
        "*",
        "",
        "file://",
        "^https://tracker.example$",
        "https://tracker.example ",
    ],
)
def test_only_an_exact_origin_is_taken(origin: str):
    message = refusal_of(f"port = 1\nallowed_origins = [{origin!r}]\n".replace("\\\\", "\\"))
    assert message.startswith("/c/config.toml:2: allowed_origins:")


@pytest.mark.row("S07")
@pytest.mark.parametrize(
    "origin",
    ["https://tracker.example", "http://localhost:8080", "https://[::1]:8443", "chrome-extension://abcdef"],
)
def test_exact_origins_are_taken(origin: str):
    assert settings_of(f"allowed_origins = ['{origin}']").allowed_origins == (origin,)


@pytest.mark.parametrize("host", ["*.example", "http://a.example", "a.example/", "a b", ""])
def test_allowed_hosts_are_exact_too(host: str):
    assert "not an exact host" in refusal_of(f"allowed_hosts = ['{host}']")


@pytest.mark.row("S10")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "my-machine", "[::]"])
def test_a_non_loopback_address_needs_tls_or_insecure_bind(host: str):
    message = refusal_of(f"host = '{host}'")
    assert message == (
        f"/c/config.toml:1: host: Bascule won't listen on {host} without TLS, because others on the network "
        "could read the link and drive your agents; set tls_cert and tls_key, or pass --insecure-bind to "
        "accept that."
    )
    assert settings_of(f"host = '{host}'", None, insecure_bind=True).host == host
    assert settings_of(f"host = '{host}'\ntls_cert = '/c'\ntls_key = '/k'").host == host


@pytest.mark.row("S10")
@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_a_loopback_address_needs_no_tls(host: str):
    assert settings_of(f"host = '{host}'").host == host


# Files ----------------------------------------------------------------------------------------------


def load_file(folder: Path, content: bytes, mode: int = 0o600, **environ: str):
    path = folder / "config.toml"
    path.write_bytes(content)
    path.chmod(mode)
    return load(
        {}, {"HOME": str(folder), "BASCULE_CONFIG_DIR": str(folder), "PATH": "/usr/bin:/bin", **environ}
    )


def test_a_missing_file_is_no_problem(tmp_path: Path):
    assert load({}, {"HOME": str(tmp_path)}).port == 3333


def test_a_private_file_is_read(tmp_path: Path):
    assert load_file(tmp_path, b"port = 4567\n").port == 4567


@pytest.mark.row("REL-24")
@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (b"port = 1\n", 0o666, "run: chmod o-w"),
        (b"\xef\xbb\xbfport = 1\n", 0o600, "byte order mark"),
        (b"\xff\xfep\x00", 0o600, "byte order mark"),
        (b"port = 1\n# \xff\n", 0o600, "config.toml:2: is not UTF-8"),
        (b"#" * 10_000_000, 0o600, "larger than 256 KB"),
        (b"claude_bin = '/nowhere/claude'\n", 0o600, "config.toml:1: claude_bin: there is no program"),
        (b"claude_bin = 'surely-not-here'\n", 0o600, "config.toml:1: claude_bin: there is no program"),
        (b"tls_cert = '/nowhere'\ntls_key = '/nowhere'\n", 0o600, "config.toml:1: tls_cert: there is no"),
        (b"x = " + b"[" * 5000, 0o600, "config.toml"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes, mode: int, reason: str):
    with pytest.raises(ConfigError) as caught:
        load_file(tmp_path, content, mode)
    assert reason in caught.value.message
    assert str(tmp_path) in caught.value.message


@pytest.mark.row("REL-24")
def test_a_folder_in_the_files_place_is_named(tmp_path: Path):
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match=r"config\.toml"):
        load({}, {"BASCULE_CONFIG_DIR": str(tmp_path), "HOME": str(tmp_path)})


@pytest.mark.row("REL-24")
def test_a_missing_binary_of_the_environment_is_named_by_its_variable(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"^CLAUDE_BIN: there is no program /nowhere/claude"):
        load_file(tmp_path, b"", CLAUDE_BIN="/nowhere/claude")


def test_an_existing_binary_is_taken(tmp_path: Path):
    assert load_file(tmp_path, b"claude_bin = 'sh'\n").claude_bin == "sh"
    assert os.access("/bin/sh", os.X_OK)

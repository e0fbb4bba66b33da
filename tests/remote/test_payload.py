"""What is sent to another machine: all that Bascule needs, in files that run there."""

import io
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from bascule.remote.far_side import here
from bascule.remote.payload import _applies, _needed, pack, platform_tags
from bascule.remote.ssh import RemoteFailed

ARM = replace(here(), machine="aarch64" if here().machine != "aarch64" else "x86_64")


def names(data: bytes) -> set[str]:
    return set(zipfile.ZipFile(io.BytesIO(data)).namelist())


def test_a_machine_like_this_one_gets_what_is_installed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # nothing is downloaded for it
    held = names(pack(here()))
    assert {"bascule/__main__.py", "bascule/remote/far_program.py", "msgspec/__init__.py"} <= held
    assert any(name.startswith("uvloop/") and name.endswith(".so") for name in held)
    assert not [name for name in held if "__pycache__" in name or name.startswith("..")]


def make_wheel(folder: Path, name: str, version: str, tag: str) -> None:
    stem = f"{name.replace('-', '_')}-{version}"
    with zipfile.ZipFile(folder / f"{stem}-{tag}.whl", "w") as wheel:
        wheel.writestr(
            f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        wheel.writestr(f"{stem}.dist-info/RECORD", "")
        wheel.writestr(f"for_{name.replace('-', '_')}.py", tag)
        wheel.writestr(f"{stem}.data/scripts/tool", "not needed")
        wheel.writestr(f"{stem}.data/purelib/more_{name.replace('-', '_')}.py", "")


@pytest.mark.skipif(here().system != "Linux", reason="names its wheels as Linux does")
def test_another_platform_gets_wheels_that_pip_has_found_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(RemoteFailed, match=f"That machine is Linux {ARM.machine} .* pip, which failed"):
        pack(ARM)
    version = "".join(map(str, ARM.version))
    tag = f"cp{version}-cp{version}-manylinux_2_17_{ARM.machine}.manylinux2014_{ARM.machine}"
    for name, found in _needed(ARM).items():
        assert found is not None
        make_wheel(tmp_path, name, found.version, tag if name == "uvloop" else "py3-none-any")
    held = names(pack(ARM))
    assert {"bascule/cli.py", "for_uvloop.py", "more_uvloop.py", "for_uvicorn.py"} <= held
    assert not [name for name in held if "scripts" in name and "data" in name]


def test_what_a_marker_asks_for_is_judged_by_the_python_there() -> None:
    old, new = replace(here(), version=(3, 11)), replace(here(), version=(3, 14))
    for marker in ('python_version < "3.13"', "python_full_version < '3.13'"):
        assert _applies(marker, old, installed=False)
        assert not _applies(marker, new, installed=True)
    assert not _applies('extra == "standard"', old, installed=True)
    assert not _applies('platform_system == "Windows"', old, installed=False)


def test_the_platforms_of_a_machine_are_the_newest_first() -> None:
    glibc = replace(here(), system="Linux", machine="aarch64", libc=("glibc", "2.28"), musl=False)
    tags = list(platform_tags(glibc))
    assert tags[0] == "manylinux_2_28_aarch64"
    assert tags[-1] == "manylinux1_aarch64"
    assert next(platform_tags(replace(glibc, musl=True))) == "musllinux_1_2_aarch64"
    mac = replace(glibc, system="Darwin", machine="arm64", release="15.1")
    assert list(platform_tags(mac))[:2] == ["macosx_15_0_arm64", "macosx_15_0_universal2"]
    with pytest.raises(RemoteFailed, match="Linux and macOS"):
        list(platform_tags(replace(glibc, system="FreeBSD")))

"""Packs Bascule and all it needs for another machine: what is installed here, or wheels for its platform."""

import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import bascule
from bascule.remote.far_side import FarSide, here
from bascule.remote.ssh import RemoteFailed

NAME = "bascule"
PIP_SECONDS = 600.0
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)[^;]*(?:;(.*))?$", re.DOTALL)
_VERSION_MARKER = re.compile(r"""python_(?:full_)?version\s*(<=|>=|<|>)\s*["'](\d+)\.(\d+)""")
_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_")
_OLD_GLIBC = {"manylinux1_": (2, 5), "manylinux2010_": (2, 12), "manylinux2014_": (2, 17)}


def pack(far: FarSide) -> bytes:
    """An archive of a site-packages folder. Raises `RemoteFailed`."""
    needed = _needed(far)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        _add_own(archive)
        if all(_fits(one, far) for one in needed.values() if one is not None):
            for name, distribution in needed.items():
                if distribution is None:
                    raise RemoteFailed(f"{name} is needed there and is not installed here; install it first.")
                _add_installed(archive, distribution)
        else:
            _add_downloaded(archive, needed, far)
    return made.getvalue()


def _needed(far: FarSide) -> dict[str, metadata.Distribution | None]:
    """Every distribution that Bascule needs there, by name; None for one that is not installed here."""
    found: dict[str, metadata.Distribution | None] = {}
    open_names = [NAME]
    while open_names:
        for text in metadata.requires(open_names.pop()) or []:
            parts = _REQUIREMENT.match(text)
            assert parts is not None, text
            name, marker = re.sub(r"[-_.]+", "-", parts[1]).lower(), parts[2] or ""
            distribution = _installed(name)
            if name in found or not _applies(marker, far, installed=distribution is not None):
                continue
            found[name] = distribution
            if distribution is not None:
                open_names.append(name)
    return found


def _applies(marker: str, far: FarSide, *, installed: bool) -> bool:
    """Extras are not ours. A Python's version decides for itself; any other condition is the same as here."""
    if "extra" in marker:
        return False
    compared = _VERSION_MARKER.findall(marker)
    if not compared:
        return installed or not marker
    signs = {
        "<": far.version.__lt__,
        "<=": far.version.__le__,
        ">": far.version.__gt__,
        ">=": far.version.__ge__,
    }
    return all(signs[sign]((int(major), int(minor))) for sign, major, minor in compared)


def _installed(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def _fits(distribution: metadata.Distribution, far: FarSide) -> bool:
    """Whether the files installed here run there."""
    tags = re.findall(r"^Tag: (\S+)", distribution.read_text("WHEEL") or "", re.MULTILINE)
    return any(_tag_fits(tag, far) for tag in tags)


def _tag_fits(tag: str, far: FarSide) -> bool:
    if tag.endswith("-none-any"):
        return True
    own = here()
    if not own.same_kind(far):
        return False
    found = _GLIBC.search(tag)
    wants = (int(found[1]), int(found[2])) if found else None
    wants = wants or next((version for mark, version in _OLD_GLIBC.items() if mark in tag), None)
    return far.libc_version >= (wants or own.libc_version)


def _add_own(archive: zipfile.ZipFile) -> None:
    package = Path(bascule.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            archive.write(path, f"{NAME}/{path.relative_to(package)}")
    own = metadata.distribution(NAME)
    folder = f"{NAME}-{bascule.__version__}.dist-info"
    archive.writestr(f"{folder}/METADATA", own.read_text("METADATA") or "")
    archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")


def _add_installed(archive: zipfile.ZipFile, distribution: metadata.Distribution) -> None:
    for file in distribution.files or []:
        if file.parts[0] == ".." or "__pycache__" in file.parts or file.suffix == ".pyc":
            continue  # scripts, which are not needed there, and what Python makes itself
        archive.write(str(distribution.locate_file(file)), str(file))


def _add_downloaded(
    archive: zipfile.ZipFile, needed: dict[str, metadata.Distribution | None], far: FarSide
) -> None:
    pins = [f"{name}=={one.version}" if one is not None else name for name, one in sorted(needed.items())]
    with tempfile.TemporaryDirectory(prefix="bascule-wheels-") as folder:
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        words += ["--disable-pip-version-check", "--dest", folder, "--implementation", "cp"]
        words += ["--python-version", ".".join(map(str, far.version))]
        words += [word for tag in platform_tags(far) for word in ("--platform", tag)]
        try:
            done = subprocess.run([*words, *pins], capture_output=True, text=True, timeout=PIP_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RemoteFailed(f"The wheels for {far.words} could not be downloaded: {error}") from error
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise RemoteFailed(
                f"That machine is {far.words}, this one {here().words}, so wheels for it had to be "
                f"downloaded here by pip, which failed: {said}"
            )
        for wheel in sorted(Path(folder).glob("*.whl")):
            _add_wheel(archive, wheel)


def _add_wheel(archive: zipfile.ZipFile, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        for name in opened.namelist():
            place = _place_of(name)
            if place and not name.endswith("/"):
                archive.writestr(place, opened.read(name))


def _place_of(name: str) -> str:
    """Where a wheel's file belongs in site-packages; nowhere for its scripts and data."""
    first, _, rest = name.partition("/")
    if not first.endswith(".data"):
        return name
    kind, _, inner = rest.partition("/")
    return inner if kind in ("purelib", "platlib") else ""


def platform_tags(far: FarSide) -> Iterator[str]:
    """What pip calls the platforms whose wheels run there, the newest first."""
    major, minor = far.libc_version
    match far.system:
        case "Linux" if far.musl:
            yield from (f"musllinux_1_{one}_{far.machine}" for one in (2, 1))
        case "Linux":
            yield from (f"manylinux_{major}_{one}_{far.machine}" for one in range(minor, 4, -1))
            yield from (f"{name}{far.machine}" for name in reversed(_OLD_GLIBC))
        case "Darwin":
            newest = int(far.release.partition(".")[0] or 11)
            for one in range(newest, 10, -1):
                yield from (f"macosx_{one}_0_{far.machine}", f"macosx_{one}_0_universal2")
            yield from (f"macosx_10_{one}_x86_64" for one in range(15, 8, -1) if far.machine == "x86_64")
        case _:
            raise RemoteFailed(f"Bascule runs on Linux and macOS; that machine is {far.words}.")

"""Makes the page's bundle: one script and one stylesheet for each document, with source maps.

Run by the build hook and before the tests. Nothing happens when the bundle is already made of these sources.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from vendor import HERE, install

sys.path.insert(0, str(HERE.parent / "src"))

from bascule.hub.page.bundle import BUNDLES, FOLDER, MANIFEST, manifest_of, read_bundle, sources_in
from bascule.hub.page.page_links import entry_of, stylesheets_of

WEB = HERE.parent / "src" / "bascule" / "web"
TARGET = WEB / FOLDER
# What the bundle is made with. The sources are compared by the server too, so they are no part of it.
STAMP = TARGET / ".stamp"
# An empty --tsconfig-raw, so that no file above this folder can change what is made.
COMMON = ("--bundle", "--sourcemap", "--target=esnext", "--charset=utf8", "--log-level=warning")
SCRIPTS = ("--format=esm", "--minify", "--tsconfig-raw={}")
STYLES = ("--minify-whitespace",)


def bundler() -> Path | None:
    """npm installs the one binary that is made for this platform."""
    return next((HERE / "node_modules" / "@esbuild").glob("*/bin/esbuild"), None)


def made_with() -> str:
    lock = (HERE / "package-lock.json").read_text()
    found = re.search(r'"node_modules/esbuild": \{\s*"version": "([^"]+)"', lock)
    assert found is not None, "package-lock.json names no esbuild"
    return f"esbuild {found[1]} {' '.join((*COMMON, *SCRIPTS, *STYLES))}\n"


def make(esbuild: Path, folder: Path) -> None:
    """Write all outputs into a folder beside the sources, because maps name these by relative paths."""
    pages = {bundle: (WEB / name).read_text() for name, bundle in BUNDLES.items()}
    scripts = [f"{bundle}={WEB / entry_of(page)}" for bundle, page in pages.items()]
    _run(esbuild, folder, *SCRIPTS, *scripts)
    with tempfile.TemporaryDirectory() as listed:
        styles: list[str] = []
        for bundle, page in pages.items():
            entry = Path(listed) / f"{bundle}.css"
            entry.write_text("".join(f'@import "{WEB / path}";\n' for path in stylesheets_of(page)))
            styles.append(f"{bundle}={entry}")
        _run(esbuild, folder, *STYLES, *styles)


def _run(esbuild: Path, folder: Path, *options: str) -> None:
    subprocess.run([str(esbuild), *COMMON, f"--outdir={folder}", *options], cwd=WEB, check=True)


def replace(folder: Path, sources: dict[str, bytes]) -> None:
    """The manifest comes last: until then nobody takes what is there for a bundle."""
    shutil.rmtree(TARGET, ignore_errors=True)
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".map"}
    folder.chmod(0o755)
    folder.rename(TARGET)
    STAMP.write_text(made_with())
    (TARGET / MANIFEST).write_text(manifest_of(sources, files))


def main() -> None:
    sources = sources_in(WEB)
    if read_bundle(WEB, sources) and STAMP.is_file() and STAMP.read_text() == made_with():
        return
    if bundler() is None:
        install()
    esbuild = bundler()
    if esbuild is None:
        print(
            "esbuild has no program for this platform; the page is served as single modules.", file=sys.stderr
        )
        return
    folder = Path(tempfile.mkdtemp(prefix=f".{FOLDER}-", dir=WEB))
    try:
        make(esbuild, folder)
        replace(folder, sources)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

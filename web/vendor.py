"""Copies the page's libraries from npm into the package, so that neither the server nor the wheel needs Node.

Run by `make` and by the wheel's build. Nothing happens when the copy already matches the lock file.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "bascule" / "web" / "vendor"
STAMP = TARGET / ".stamp"

FILES = {
    "marked.js": "marked/lib/marked.esm.js",
    "marked-LICENSE.txt": "marked/LICENSE",
    "purify.js": "dompurify/dist/purify.es.mjs",
    "purify-LICENSE.txt": "dompurify/LICENSE",
    "highlight.js": "@highlightjs/cdn-assets/es/highlight.min.js",
    "highlight-LICENSE.txt": "@highlightjs/cdn-assets/LICENSE",
}


def wanted() -> str:
    """What the copy must be made from: the lock file and this list."""
    parts = (HERE / "package-lock.json").read_bytes() + repr(sorted(FILES.items())).encode()
    return hashlib.sha256(parts).hexdigest()


def npm() -> list[str]:
    """The npm of this machine, else the one that came with the environment's Node wheel."""
    found = shutil.which("npm")
    if found:
        return [found]
    beside = Path(sys.executable).with_name("npm")
    if beside.exists():
        return [str(beside)]
    raise SystemExit("The page's libraries come from npm. Install Node.js 20 or newer, then try again.")


def install() -> None:
    made, lock = HERE / "node_modules" / ".package-lock.json", HERE / "package-lock.json"
    if made.is_file() and made.stat().st_mtime >= lock.stat().st_mtime:
        return  # the type checker's own `npm ci` has just brought them
    command = [*npm(), "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=HERE, check=True)


def copy() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, source in FILES.items():
        text = (HERE / "node_modules" / source).read_text()
        if name.endswith(".js"):
            # Not ours to type-check; and the source maps they name are not served.
            text = "// @ts-nocheck\n" + re.sub(r"^//# sourceMappingURL=.*$", "", text, flags=re.M)
        (TARGET / name).write_text(text)


def main() -> None:
    stamp = wanted()
    if STAMP.is_file() and STAMP.read_text() == stamp and all((TARGET / name).is_file() for name in FILES):
        return
    print("Fetching the page's libraries ...", file=sys.stderr)  # noqa: T201 - this is a build script
    install()
    copy()
    STAMP.write_text(stamp)


if __name__ == "__main__":
    main()

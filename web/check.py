"""Checks the page's JavaScript and CSS with the locked tools (`make page`): types, format and lint.

`typecheck.js` is tsc with rules about `any`. `--fetch` only installs the tools from npm; `--fix` formats the
files and mends what a linter can mend.
"""

import subprocess
import sys

from vendor import HERE, QUIET, node_and_npm

ROOT = HERE.parent
MODULES = HERE / "node_modules"
TSC = MODULES / "typescript" / "bin" / "tsc"
PRETTIER = MODULES / "prettier" / "bin" / "prettier.cjs"
ESLINT = MODULES / "eslint" / "bin" / "eslint.js"
STYLELINT = MODULES / "stylelint" / "bin" / "stylelint.mjs"
AXE = MODULES / "axe-core" / "axe.min.js"

SCRIPTS = ("src/bascule/web/**/*.js", "tests/web/*.mjs", "web/*.js")
STYLES = "src/bascule/web/css/**/*.css"
NOT_OURS = ("!src/bascule/web/vendor/**", "!src/bascule/web/bundle/**")


def fetch(npm: list[str]) -> None:
    if not all(tool.is_file() for tool in (TSC, PRETTIER, ESLINT, STYLELINT, AXE)):
        subprocess.run([*npm, "ci", *QUIET], cwd=HERE, check=True)


def checks(*, fix: bool) -> list[list[str]]:
    """The command line of each tool, as seen from the root of the checkout; the formatter comes last."""
    mend = ["--fix"] if fix else []
    return [
        ["web/typecheck.js"],
        [str(ESLINT), "--config", "web/eslint.config.js", *mend, "src/bascule/web", "tests/web", "web"],
        [str(STYLELINT), "--config", "web/stylelint.config.js", *mend, STYLES],
        [
            *(str(PRETTIER), "--config", "web/prettier.json", "--log-level", "warn"),
            *("--write" if fix else "--check", *SCRIPTS, STYLES, *NOT_OURS),
        ],
    ]


def main() -> int:
    node, npm = node_and_npm()
    fetch(npm)
    if sys.argv[1:] == ["--fetch"]:
        return 0
    fix = sys.argv[1:] == ["--fix"]
    results = [subprocess.run([node, *check], cwd=ROOT, check=False).returncode for check in checks(fix=fix)]
    if results[-1]:
        print("Not formatted. Mend it with: .venv/bin/python web/check.py --fix", file=sys.stderr)
    return max(results)


if __name__ == "__main__":
    sys.exit(main())

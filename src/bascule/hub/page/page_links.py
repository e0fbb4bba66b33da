"""Writes the addresses of its files into a page: those of its bundle, or of all its modules.

The modules are plain files that name each other; without a link for each a browser finds out file by file.
"""

import re
from collections.abc import Mapping
from posixpath import dirname, join, normpath

FROM = re.compile(r"""^(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*['"]([^'"]+)['"]""", re.MULTILINE)
STYLESHEETS = re.compile(r'(?:( *)<link rel="stylesheet" href="/assets/[^"]+"( crossorigin)?>\n)+')
STYLESHEET = re.compile(r'<link rel="stylesheet" href="/assets/([^"]+)"')
ENTRY = re.compile(r'( *)<script type="module" src="/assets/([^"]+)"( crossorigin)?></script>\n')


def imports(source: str) -> list[str]:
    """The addresses in a module's static imports, as written. `import()` is for later, so it is no part."""
    return FROM.findall(source)


def closure(entry: str, sources: Mapping[str, str]) -> list[str]:
    """All modules that run before `entry` does, the nearest first, by path below one root."""
    found = [entry]
    for path in found:
        named = [normpath(join(dirname(path), one)) for one in imports(sources[path])]
        found += [one for one in dict.fromkeys(named) if one in sources and one not in found]
    return found[1:]


def entry_of(page: str) -> str:
    """The path of the one script that a page names."""
    (script,) = ENTRY.finditer(page)
    return script[2]


def stylesheets_of(page: str) -> list[str]:
    """The paths of the stylesheets that a page names, in their order."""
    return STYLESHEET.findall(page)


def linked(page: str, sources: Mapping[str, str], version: str) -> str:
    """The page with its files at the addresses of this version, and a link for each module it will need."""

    def announce(script: re.Match[str]) -> str:
        indent, entry, crossorigin = script[1], script[2], script[3] or ""
        preloads = [
            f'{indent}<link rel="modulepreload" href="/assets/{path}"{crossorigin}>\n'
            for path in closure(entry, sources)
        ]
        return script[0] + "".join(preloads)

    return _versioned(ENTRY.sub(announce, page), version)


def bundled(page: str, bundle: str, version: str) -> str:
    """The page with the script and the stylesheet of its bundle in place of all that it names."""
    style = rf'\1<link rel="stylesheet" href="/assets/{bundle}.css"\2>\n'
    script = rf'\1<script type="module" src="/assets/{bundle}.js"\3></script>\n'
    return _versioned(ENTRY.sub(script, STYLESHEETS.sub(style, page)), version)


def _versioned(page: str, version: str) -> str:
    return page.replace('="/assets/', f'="/assets/{version}/')

"""Web sites for tests of the launch button: pages of this machine, of "the internet", and without https."""

import contextlib
import shutil
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from tests.launch.desk import Desk
from tests.waiting import PATIENCE_MS
from tests.web.chrome import CHROMIUM, FLAGS

from bascule.hub.launch.bridge_server import bind_bridge, serving_bridge
from bascule.hub.launch.element_file import element_file
from bascule.hub.launch.window_routes import Workbench
from bascule.launch.idempotent import IdempotentLaunches

SECURE, PLAIN = "tool.test", "plain.test"
# Every state of the button and every toast, as they come: each lasts for seconds only.
RECORD = """() => {
  const states = (window.states = []);
  const toasts = (window.toasts = []);
  const note = (list, value) => value && list.at(-1) !== value && list.push(value);
  customElements.whenDefined('bascule-launch').then(() => {
    const element = document.querySelector('bascule-launch');
    const look = () => {
      note(states, element.dataset.state);
      note(toasts, element.shadowRoot.querySelector('.toast')?.textContent);
    };
    look();
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    for (const one of [element, element.shadowRoot]) new MutationObserver(look).observe(one, all);
  });
}"""
QUILL = Path(__file__).parents[2] / "src" / "bascule" / "web" / "vendor" / "quill.js"


@dataclass
class Site:
    """Serves `pages` and the element's file on a port of its own."""

    port: int
    pages: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    host: str = "127.0.0.1"
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


@contextlib.contextmanager
def serving_site(host: str = "127.0.0.1", certificate: Path | None = None) -> Iterator[Site]:
    """With a certificate, over https."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            files = {"/bascule-launch.js": element_file, "/quill.js": QUILL.read_bytes}
            kind = "text/javascript" if path in files else "text/html; charset=utf-8"
            body = files[path]() if path in files else site.pages.get(path, "").encode()
            self.send_response(200 if body else 404)
            for name, value in {**site.headers, "content-type": kind, "content-length": len(body)}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = Site(server.server_address[1], host=host, scheme="https" if certificate else "http")
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, name="site")
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


def certificate_for(host: str, folder: Path) -> Path:
    """Signed by itself, with its key in the same file; the test's browser is told not to mind."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    key, made = folder / "key.pem", folder / "site.pem"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    command = [
        "openssl",
        "req",
        "-x509",
        *curve,
        "-subj",
        f"/CN={host}",
        "-keyout",
        str(key),
        "-out",
        str(made),
    ]
    subprocess.run(command, check=True, capture_output=True)
    made.write_bytes(made.read_bytes() + key.read_bytes())
    return made


def page_of(bridge: str, **attributes: str) -> str:
    """A page with a text box and the button; the element is as patient as the tests."""
    given = {"bridge": bridge, "for": "#text", "patience": str(int(PATIENCE_MS)), **attributes}
    written = " ".join(f'{name}="{value}"' for name, value in given.items() if value)
    return (
        '<!doctype html><html lang="en"><title>A tool</title><meta charset="utf-8">'
        '<script type="module" src="/bascule-launch.js"></script>'
        '<h1>A tool</h1><label for="text">Prompt</label><textarea id="text">hello there</textarea>'
        f"<bascule-launch {written}></bascule-launch></html>"
    )


@dataclass(frozen=True)
class Neighbourhood:
    """Three sites and a browser that takes the last two for public ones: its flags name their ports."""

    near: Site
    secure: Site  # https
    plain: Site
    browser: Browser

    @contextlib.asynccontextmanager
    async def visit(self) -> AsyncIterator[BrowserContext]:
        """A browser without memory, and sites without pages."""
        for site in (self.near, self.secure, self.plain):
            site.pages.clear()
            site.headers.clear()
        context = await self.browser.new_context(ignore_https_errors=True, reduced_motion="reduce")
        try:
            context.set_default_timeout(PATIENCE_MS)  # for the windows as well, which pages open
            await context.add_init_script(f"({RECORD})()")
            yield context
        finally:
            await context.close()


@contextlib.asynccontextmanager
async def neighbourhood(folder: Path) -> AsyncIterator[Neighbourhood]:
    """`folder` is for a certificate."""
    certificate = certificate_for(SECURE, folder)
    with serving_site() as near, serving_site(SECURE, certificate) as secure, serving_site(PLAIN) as plain:
        overrides = ",".join(f"127.0.0.1:{site.port}=public" for site in (secure, plain))
        flags = [
            *FLAGS,
            f"--ip-address-space-overrides={overrides}",
            f"--host-resolver-rules=MAP {SECURE} 127.0.0.1, MAP {PLAIN} 127.0.0.1",
        ]
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
            try:
                yield Neighbourhood(near, secure, plain, browser)
            finally:
                await browser.close()


@dataclass
class Street:
    """A bridge, the sites, and a browser for one test."""

    desk: Desk
    bridge: str
    near: Site
    secure: Site  # https
    plain: Site
    context: BrowserContext

    async def open(self, site: Site, **attributes: str) -> Page:
        site.pages["/"] = page_of(self.bridge, **{"directory": str(self.desk.home), **attributes})
        page = await self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(site.url)
        return page


class OpenStreet(Protocol):
    def __call__(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        workbench: Workbench | None = None,
        trusts: bool = True,
        **launch: Any,
    ) -> contextlib.AbstractAsyncContextManager[Street]:
        """`trusts`: the bridge knows the sites that it can know. `environ` and `launch` are its launches'."""
        ...


def street_of(around: Neighbourhood, desk: Desk) -> OpenStreet:
    @contextlib.asynccontextmanager
    async def street(
        environ: Mapping[str, str] | None = None,
        *,
        workbench: Workbench | None = None,
        trusts: bool = True,
        **launch: Any,
    ) -> AsyncIterator[Street]:
        launches = IdempotentLaunches(desk.launches(environ, **launch), 1000, lambda: 0.0)
        listening = bind_bridge(0)
        known = [around.near.url, around.secure.url] if trusts else []
        sites = workbench.sites if workbench else known
        try:
            async with (
                serving_bridge(listening, launches, sites, workbench) as port,
                around.visit() as context,
            ):
                bridge = f"http://127.0.0.1:{port}"
                yield Street(desk, bridge, around.near, around.secure, around.plain, context)
        finally:
            await launches.close()
            listening.close()

    return street

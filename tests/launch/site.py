"""A web site of somebody else for tests of launches: one page on a port of this machine."""

import contextlib
import http.server
import threading
from collections.abc import Generator


@contextlib.contextmanager
def site(page: str) -> Generator[str]:
    """Somebody's tool on a port of this machine; its origin."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a test's output is its failures."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, name="site")
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()

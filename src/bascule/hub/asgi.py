"""The hub's ASGI app: the table of operations behind the door."""

from starlette.applications import Starlette
from starlette.middleware import Middleware

from bascule.hub.api.endpoint import AdmittedRoute
from bascule.hub.door.access import Access
from bascule.hub.door.throttle import Throttle
from bascule.hub.operation_table import operation_table
from bascule.hub.services import Hub
from bascule.hub.wire.headers import SecurityHeaders


def asgi_app(hub: Hub) -> Starlette:
    table = operation_table()
    door = Middleware(Access, hub=hub, table=table, throttle=Throttle(hub.steady))
    app = Starlette(routes=[AdmittedRoute(hub)], middleware=[Middleware(SecurityHeaders), door])
    app.router.redirect_slashes = False
    app.state.hub, app.state.table = hub, table
    return app

from bascule.hub.wire.without_command_line import import_uvicorn

import_uvicorn()

"""The description of the API (OpenAPI 3.1), made from the operations and their structs."""

import re
from functools import cache
from typing import Any

import msgspec
from starlette.responses import Response

from bascule import __version__
from bascule.hub.api.call import AnyCall
from bascule.hub.api.operation import Operation, Table
from bascule.hub.api.responses import JsonAnswer
from bascule.hub.api.views import Done, HttpDone

REF = "#/components/schemas/{name}"
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


def describe(table: Table) -> dict[str, Any]:
    operations = [one for one in table.routes if one.method != "WS" and one.described]
    bodies = {one.path + one.method: _json_body(one) for one in operations}
    answers = {one.path + one.method: HttpDone if one.answer is Done else one.answer for one in operations}
    types = [kind for kind in (*bodies.values(), *answers.values()) if kind is not None]
    unique = list(dict.fromkeys(types))
    refs, components = msgspec.json.schema_components(unique, ref_template=REF)
    schema = dict(zip(unique, refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        body, answer = bodies[one.path + one.method], answers[one.path + one.method]
        described = _operation(one, schema.get(body), schema.get(answer))
        if body is not None:
            required = any(field.required for field in msgspec.structs.fields(body))
            described["requestBody"] = {"required": required, "content": _json(schema[body])}
        paths.setdefault(one.path, {})[one.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Bascule", "version": __version__, "license": {"name": "MIT", "identifier": "MIT"}},
        "paths": paths,
        "components": {
            "schemas": {**components, "Error": ERROR},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, body: Any, answer: Any) -> dict[str, Any]:
    described: dict[str, Any] = {
        "summary": operation.summary,
        "description": f"Needs: {operation.need}.",
        "operationId": _operation_id(operation),
        "security": [] if operation.need == "public" else [{"bearer": []}],
        "responses": {
            "200": _success(operation, answer),
            "default": {"description": "Refused", "content": _json({"$ref": REF.format(name="Error")})},
        },
    }
    parameters = [*_path_parameters(operation), *_query_parameters(operation)]
    if parameters:
        described["parameters"] = parameters
    return described


def _success(operation: Operation, answer: Any) -> dict[str, Any]:
    if answer is not None:
        return {"description": "Done", "content": _json(answer)}
    kind = "text/event-stream" if operation.path.endswith("/stream") else "*/*"
    return {"description": "Done", "content": {kind: {}}}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _json_body(operation: Operation) -> type[msgspec.Struct] | None:
    """What is sent as JSON: the parameters that do not stand in the path. A GET sends none."""
    if operation.method == "GET":
        return None
    in_path = frozenset(_path_names(operation).intersection(operation.fields))
    return _without(operation.body, in_path) if in_path else operation.body


@cache
def _without(body: type[msgspec.Struct], names: frozenset[str]) -> type[msgspec.Struct]:
    rest: list[Any] = [_field(field) for field in msgspec.structs.fields(body) if field.name not in names]
    strict: dict[str, Any] = {"rename": "camel", "forbid_unknown_fields": True}
    return msgspec.defstruct(body.__name__ + "Json", rest, kw_only=True, frozen=True, **strict)


def _field(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if field.required:
        return (field.name, field.type)
    if field.default_factory is not msgspec.NODEFAULT:
        return (field.name, field.type, msgspec.field(default_factory=field.default_factory))
    return (field.name, field.type, field.default)


def _path_names(operation: Operation) -> set[str]:
    return set(re.findall(r"{(\w+)}", operation.path))


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", operation.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(operation: Operation) -> list[dict[str, Any]]:
    if operation.method != "GET":
        return []
    _, components = msgspec.json.schema_components([operation.body], ref_template=REF)
    shape = components[operation.body.__name__]
    in_path = {operation.fields.get(name, name) for name in _path_names(operation)}
    return [
        {"name": name, "in": "query", "required": name in shape.get("required", []), "schema": schema}
        for name, schema in shape["properties"].items()
        if name not in in_path
    ]


def _operation_id(operation: Operation) -> str:
    path = operation.path.replace("{session_id}", "id")
    words = re.sub(r"[{}]", "", path).replace("-", "/").strip("/").replace("/", "_")
    return f"{operation.method.lower()}_{words or 'index'}".replace(".", "_")


def description_of(operations: list[Operation]) -> Operation:
    """The operation that serves the description of `operations` and of itself."""
    made: list[bytes] = []

    async def run(call: AnyCall) -> Response:
        if not made:
            made.append(msgspec.json.encode(describe(Table([*operations, itself]))))
        return JsonAnswer(made[0])

    itself = Operation(method="GET", path="/openapi.json", need="any", run=run, summary="This description")
    return itself

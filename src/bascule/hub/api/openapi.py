"""Generates the OpenAPI 3.1 description from the operations and their structs."""

import re
from functools import cache
from typing import Any, cast

import msgspec

from bascule import __version__
from bascule.hub.calls.call import AnyCall
from bascule.hub.calls.operation import Empty, Operation, Table
from bascule.hub.wire.json_answers import JsonAnswer
from bascule.hub.wire.response import Response
from bascule.model.commands import Done

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
    operations = [route for route in table.routes if route.method != "WS" and route.described]
    bodies = {operation.path + operation.method: _json_body(operation) for operation in operations}
    answers = {operation.path + operation.method: _json_answer(operation.answer) for operation in operations}
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
    """The type of the JSON body. A GET sends none."""
    if operation.method == "GET":
        return None
    in_path = frozenset(_path_names(operation).intersection(operation.fields))
    return _sent(operation.body, in_path, operation.for_device)


@cache
def _sent(body: type[msgspec.Struct], in_path: frozenset[str], for_device: bool) -> type[msgspec.Struct]:
    """What a caller sends beside the path: no tag, no parameter of the path, perhaps a device."""
    rest: list[Any] = [_field(field) for field in msgspec.structs.fields(body) if field.name not in in_path]
    if for_device:
        rest.append(("device", str | None, None))
    strict: dict[str, Any] = {"rename": "camel", "forbid_unknown_fields": True}
    name = "OnlyDevice" if body is Empty and for_device else body.__name__ + ("Json" if in_path else "")
    return msgspec.defstruct(name, rest, kw_only=True, frozen=True, **strict)


@cache
def _json_answer(answer: Any) -> Any:
    """As it is over HTTP, where `ok` is added to what was only done."""
    if not (isinstance(answer, type) and issubclass(answer, Done)):
        return cast("Any", answer)
    fields: list[Any] = [("ok", bool), *(_field(field) for field in msgspec.structs.fields(answer))]
    return msgspec.defstruct(answer.__name__, fields, kw_only=True, frozen=True, rename="camel")


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
    sent = _sent(operation.body, frozenset(_path_names(operation)), operation.for_device)
    _, components = msgspec.json.schema_components([sent], ref_template=REF)
    shape = components[sent.__name__]
    return [
        {"name": name, "in": "query", "required": name in shape.get("required", []), "schema": schema}
        for name, schema in shape["properties"].items()
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

    itself = Operation(
        method="GET", path="/openapi.json", need="any", run=run, summary="Get this OpenAPI description"
    )
    return itself

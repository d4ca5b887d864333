"""Access to openapi.yaml for the tests: operations, their documented responses, and schemas for validation."""

import functools
import json
import re

import jsonschema
import referencing
import referencing.jsonschema
import yaml

from harness.service import REPOSITORY

FILE = REPOSITORY / "openapi.yaml"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
PROBLEM = "application/problem+json"
BASE = "urn:assay:openapi"
READERS = {"application/yaml": yaml.safe_load} | dict.fromkeys(("application/json", "application/jwk-set+json", PROBLEM), json.loads)

WELL_KNOWN = "/.well-known/oauth-protected-resource"
# Pages of other origins ask with OPTIONS first.
FOR_PAGES = {WELL_KNOWN, "/v1/resources/{id}/metadata"}


class Document:
    """The document. JSON Pointers name places in it, so that references in schemas still resolve."""

    def __init__(self, text: str):
        self.tree = yaml.safe_load(text)
        resource = referencing.jsonschema.DRAFT202012.create_resource(self.tree)
        self._registry = referencing.Registry().with_resource(BASE, resource)

    def __getitem__(self, pointer: str):
        value = self.tree
        for part in pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            value = value[int(name)] if isinstance(value, list) else value[name]
        return value

    def resolve(self, pointer: str) -> str:
        """The target of a reference object at this pointer, or the pointer itself."""
        while isinstance(value := self[pointer], dict) and set(value) == {"$ref"}:
            pointer = value["$ref"].removeprefix("#")
        return pointer

    def present(self, pointer: str) -> str:
        """The pointer to the schema's alternative that is not `null`."""
        for index, alternative in enumerate(self[pointer].get("oneOf", [])):
            if alternative != {"type": "null"}:
                return self.resolve(f"{pointer}/oneOf/{index}")
        return self.resolve(pointer)

    def types(self, pointer: str) -> set[str]:
        """The types that values of the schema may have."""
        schema = self[self.resolve(pointer)]
        if "oneOf" in schema:
            return set().union(*(self.types(f"{pointer}/oneOf/{index}") for index in range(len(schema["oneOf"]))))
        return {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])

    def errors(self, instance, schema: str, **also) -> list[str]:
        """The errors of a value according to the schema at a pointer and additional keywords."""
        validator = jsonschema.Draft202012Validator({"$ref": f"{BASE}#{schema}"} | also, registry=self._registry)
        return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(instance)]

    def walk(self, pointer: str = ""):
        """Every place at and below a pointer, with its value."""
        yield pointer, (value := self[pointer])
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for name, _ in children:
            yield from self.walk(f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")

    @functools.cached_property
    def codes(self) -> list[str]:
        return self["/components/schemas/ProblemCode/enum"]

    @functools.cached_property
    def operations(self) -> list["Operation"]:
        return [
            Operation(self, method, path)
            for path, item in self.tree["paths"].items()
            for method in METHODS
            if method in item
        ]

    @functools.cached_property
    def problems(self) -> dict[str, dict]:
        """The example of each problem, by code."""
        return {code: example["value"] for code, example in self["/components/examples"].items()}

    def operation(self, id: str) -> "Operation":
        return next(operation for operation in self.operations if operation.id == id)

    def path(self, target: str) -> str | None:
        """The documented path for a request's target."""
        path = target.split("?")[0]
        # The resource's path follows.
        if path.startswith(WELL_KNOWN + "/"):
            return WELL_KNOWN
        for template in self.tree["paths"]:
            if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path):
                return template
        return None

    def find(self, method: str, target: str) -> "Operation | None":
        path = self.path(target)
        return next((each for each in self.operations if (each.method, each.path) == (method.lower(), path)), None)

    def faults(
        self, method: str, target: str, status: int, body: bytes | str, headers: list[tuple[str, str]] | None = None
    ) -> list[str]:
        """How a response differs from the documentation, in status, code, headers and body.

        An empty target stands for an unknown path. Then any operation may document the response.
        """
        code = problem_code(body)
        if (method, status, code) == ("OPTIONS", 204, None) and self.path(target) in FOR_PAGES:
            return []
        found: list[str] = []
        for response in self._documented(method, target, status):
            if method == "HEAD":
                found = []
            elif code not in response.codes:
                found = [f"code {code}"]
            else:
                found = response.errors(body, is_problem=code is not None)
            if headers is not None:
                found = found + response.header_errors(headers)
            if not found:
                return []
        return [f"{method} {target or '(unknown)'}: {status} {code}: {fault}" for fault in found or ["status"]]

    def _documented(self, method: str, target: str, status: int) -> "list[Response]":
        """The documented responses with a status for a request, on either listener."""
        operation = self.find(method, target)
        if operation is not None:
            candidates = [*operation.responses.values(), self.not_found]
        elif target:
            candidates = [*self.before_any_operation, self.not_found]
            candidates += [self.method_not_allowed] * (self.path(target) is not None)
        else:
            candidates = [response for each in self.operations for response in each.responses.values()]
            candidates += [self.not_found, self.method_not_allowed]
        return [response for response in candidates if response.status == status]

    @functools.cached_property
    def before_any_operation(self) -> "list[Response]":
        """Responses that are possible before the operation is known."""
        common = set.intersection(*(each.answers for each in self.operations if not each.is_on_head))
        problems = {(status, code) for status, code in common if code is not None}
        responses = {(r.pointer, r.status): r for each in self.operations for r in each.responses.values()}
        return [r for r in responses.values() if {(r.status, code) for code in r.codes} <= problems]

    @functools.cached_property
    def not_found(self) -> "Response":
        return Response(self, 404, "/components/responses/NotFound")

    @functools.cached_property
    def method_not_allowed(self) -> "Response":
        return Response(self, 405, "/components/responses/MethodNotAllowed")


class Operation:
    def __init__(self, document: Document, method: str, path: str):
        self.method = method
        self.path = path
        self.pointer = f"/paths/{path.replace('/', '~1')}/{method}"
        self.id = document[self.pointer]["operationId"]
        places = {status: document.resolve(f"{self.pointer}/responses/{status}") for status in document[self.pointer]["responses"]}
        default = places.pop("default")
        self.responses = {int(status): Response(document, int(status), place) for status, place in places.items()}
        for status in {document.problems[code]["status"] for code in document[default]["x-codes"]} - set(self.responses):
            self.responses[status] = Response(document, status, default, is_default=True)
        self.request = None
        if "requestBody" in document[self.pointer]:
            self.request = Content(document, f"{self.pointer}/requestBody/content", "application/json")
        item = document[self.pointer.rsplit("/", 1)[0]]
        self.servers = {server["url"] for server in item.get("servers", document.tree["servers"])}

    @property
    def is_on_head(self) -> bool:
        """Whether the operation accepts any method, and ignores bodies."""
        return self.path == "/v1/forward-auth/{policy}"

    @property
    def answers(self) -> set[tuple[int, str | None]]:
        """Every (status, code) that the operation may return."""
        return {(status, code) for status, response in self.responses.items() for code in response.codes}


class Content:
    """One media type of a body, with its schema and examples."""

    def __init__(self, document: Document, pointer: str, media_type: str):
        self.media_type = media_type
        self._escaped = media_type.replace("/", "~1")
        self.schema = f"{pointer}/{self._escaped}/schema"
        media = document[pointer][media_type]
        # Other responses share the schema. In this one, some members have fewer values.
        self.narrower = {name: {"enum": values} for name, values in media.get("x-values", {}).items()}
        self.examples = {
            name: document[document.resolve(f"{pointer}/{self._escaped}/examples/{name}")]["value"]
            for name in media.get("examples", {})
        }


class Response:
    def __init__(self, document: Document, status: int, pointer: str, is_default: bool = False):
        self.document = document
        self.status = status
        self.pointer = pointer
        self._is_default = is_default
        self.headers = {
            name.lower(): document.resolve(f"{pointer}/headers/{name}") for name in document[pointer]["headers"]
        }
        self.contents = {
            media_type: Content(document, f"{pointer}/content", media_type)
            for media_type in document[pointer].get("content", {})
        }

    @property
    def content(self) -> Content:
        """The body of a success, or else the problem."""
        return next(iter(self.contents.values()))

    @property
    def problem_codes(self) -> list[str]:
        """The codes of the problems. All problems have the same schema, so that generated clients have one type for them."""
        codes = self.document[self.pointer].get("x-codes", [])
        # A default response has codes of several statuses.
        return [code for code in codes if not self._is_default or self.document.problems[code]["status"] == self.status]

    def problem_errors(self, problem) -> list[str]:
        """The errors of a problem, according to the schema and to this response."""
        narrower = {"status": {"const": self.status}, "code": {"enum": self.problem_codes}}
        required = self.document[self.pointer].get("x-required", [])
        return self.document.errors(problem, self.contents[PROBLEM].schema, properties=narrower, required=required)

    @property
    def codes(self) -> list[str | None]:
        """The possible problem codes, and `None` if the body need not be a problem."""
        return [None] * (set(self.contents) != {PROBLEM}) + self.problem_codes

    def errors(self, body: bytes | str, is_problem: bool = False) -> list[str]:
        """The errors in a body of this response."""
        if not self.contents:
            return ["a body, where none is documented"] if body else []
        content = self.contents.get(PROBLEM) if is_problem else self.content
        if content is None:
            return ["a problem, where none is documented"]
        text = body if isinstance(body, str) else body.decode()
        read = str if content.media_type.startswith("text/") else READERS[content.media_type]
        try:
            value = read(text)
            if content.media_type == PROBLEM:
                return self.problem_errors(value)
            return self.document.errors(value, content.schema, properties=content.narrower)
        except (ValueError, yaml.YAMLError) as error:
            return [f"not {content.media_type}: {error}"]

    def header_errors(self, headers: list[tuple[str, str]]) -> list[str]:
        """The errors in headers of this response."""
        found = []
        for name, place in self.headers.items():
            values = [value for header, value in headers if header.lower() == name]
            if not values and not self.document[place]["required"]:
                continue
            if len(values) != 1:
                found.append(f"{name}: {len(values)} of it")
                continue
            schema = place + "/schema"
            is_integer = self.document[schema].get("type") == "integer"
            value = int(values[0]) if is_integer and re.fullmatch(r"-?\d+", values[0]) else values[0]
            found += [f"{name}: {error}" for error in self.document.errors(value, schema)]
        media_type = next((value for header, value in headers if header.lower() == "content-type"), "")
        if media_type.split(";")[0].strip().lower() not in (self.contents or {""}):
            found.append(f"content-type: {media_type!r}, not {' or '.join(self.contents) or 'none'}")
        return found


def problem_code(body: bytes | str) -> str | None:
    """The code of a problem; `None` for any other body."""
    try:
        answer = json.loads(body)
        # An explanation also has a code.
        return answer.get("code") if "type" in answer else None
    except (ValueError, AttributeError):
        return None


@functools.cache
def document() -> Document:
    return Document(FILE.read_text(encoding="utf-8"))

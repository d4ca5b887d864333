"""Writes the types and problem codes of every client package from openapi.yaml.

    python clients/generate.py            writes the files
    python clients/generate.py --check    fails if one is out of date
"""

import json
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass, replace

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
HERE = ROOT / "clients"
DOCUMENT = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
NOTICE = "Generated from openapi.yaml by clients/generate.py: do not edit."
# Never part of an object's printed form.
SECRETS = {"sign_in", "nonce", "nonce_sha256", "state", "authorization_url", "access_token", "refresh_token", "id_token"}
SECRETS |= {"code", "claims", "certificate", "proof", "context", "logout_url", "parameters", "dpop"}


@dataclass(frozen=True)
class Field:
    name: str
    # string, integer, boolean, strings, texts (an object of strings), object; or a model, or a list of one: [Model].
    kind: str
    nullable: bool
    doc: str

    @property
    def model(self) -> str | None:
        return self.kind.strip("[]") if self.kind[0].isupper() or self.kind[0] == "[" else None

    @property
    def is_list(self) -> bool:
        return self.kind[0] == "["

    @property
    def is_secret(self) -> bool:
        # A grant's binding is a key; an access token's is what it is bound to.
        return self.name in SECRETS or (self.name == "binding" and self.model is None)


@dataclass(frozen=True)
class Model:
    name: str
    doc: str
    fields: list[Field]


# Each model, by its schema.
NAMES = {
    "Identity": "Identity", "Token": "Token", "AccessToken": "AccessToken", "AccessTokenAuthorization": "Authorization",
    "TokenBinding": "Binding", "VerifyingKeys": "Keys", "Grant": "Grant", "NotifiedEvent": "Event", "Problem": "Problem",
    "VerifyAnswer": "Verified", "FinishAnswer": "FinishedSignIn", "RefreshAnswer": "Refreshed",
    "AccessTokenAnswer": "VerifiedAccessToken", "NotificationAnswer": "VerifiedNotification", "PresentedProof": "Dpop",
    "Encryption": "Encryption", "Introspection": "Introspection", "Challenge": "Challenge", "SignOutAnswer": "SignOut",
    "ProofAnswer": "Proof",
}  # fmt: skip
# May be null in an answer about an access token that is not a JWT.
NULLABLE = {("VerifiedAccessToken", "identity"), ("VerifiedAccessToken", "keys"), ("AccessToken", "algorithm")}
NULLABLE |= {("AccessToken", "expires_at")}
BEGUN = ["sign_in", "expires_at"]
# Options of calls: the schema of the request, the members that are arguments, and those of other calls.
OPTIONS = {
    "BeginOptions": ("BeginRequest", "provider", "redirect_uri scopes prompt login_hint ui_locales acr_values require_acr claims resource "
                     "id_token_hint response_mode client"),
    "BeginBrowserOptions": ("BeginRequest", "provider redirect_uri", ""),
    "FinishOptions": ("FinishRequest", "sign_in id_token", "response"),
    "FinishBrowserOptions": ("FinishRequest", "sign_in response redirect_uri", "id_token code access_token user"),
    "RefreshOptions": ("RefreshRequest", "provider refresh_token subject", ""),
    "RevokeOptions": ("RevokeRequest", "provider token", "code redirect_uri subject"),
    "RevokeCodeOptions": ("RevokeRequest", "provider code", "token token_type_hint binding"),
    "VerifyOptions": ("VerifyRequest", "id_token nonce", ""),
    "AccessTokenOptions": ("AccessTokenRequest", "token", ""),
    "NotificationOptions": ("NotificationRequest", "token payload provider", ""),
    "SignOutOptions": ("SignOutRequest", "provider", ""),
    "ProofOptions": ("ProofRequest", "provider binding access_token method url", ""),
}


def sentence(text: str) -> str:
    """The first paragraph of a description, without a table or a list."""
    text = text.strip().split("\n\n")[0].split("\n|")[0].split("\n- ")[0]
    return "" if text.startswith(("|", "-")) else " ".join(text.split()).replace("**", "").replace("`", "")


def field(name: str, schema: dict, required: bool) -> Field:
    doc = sentence(schema.get("description", ""))
    nullable = not required
    if "oneOf" in schema:
        nullable |= {"type": "null"} in schema["oneOf"]
        chosen = next(each for each in schema["oneOf"] if each != {"type": "null"})
        schema = chosen | {"description": schema.get("description", "")}
    if "$ref" in schema:
        name_of = schema["$ref"].rpartition("/")[2]
        target = SCHEMAS[name_of]
        doc = doc or sentence(target.get("description", ""))
        if name_of in NAMES:
            return Field(name, NAMES[name_of], nullable, doc)
        schema = target
    if "enum" in schema:
        values = [each for each in schema["enum"] if each is not None]
        nullable |= None in schema["enum"]
        if not all(isinstance(each, str) for each in values):
            return Field(name, "integer", nullable, doc)
        doc = f"{doc} One of: {', '.join(values)}.".strip()
        return Field(name, "string", nullable, doc)
    types = schema.get("type", "object")
    types = types if isinstance(types, list) else [types]
    nullable |= "null" in types
    kind = next(each for each in types if each != "null")
    if kind == "array":
        items = schema["items"]
        if "$ref" in items:
            return Field(name, f"[{NAMES[items['$ref'].rpartition('/')[2]]}]", nullable, doc)
        kind = "strings"
    if kind == "object" and schema.get("properties") and all(each.get("type") == "string" for each in schema["properties"].values()):
        kind = "texts"
    return Field(name, kind, nullable, doc)


def fields(schema: dict, model: str) -> list[Field]:
    required = schema.get("required", [])
    found = [field(name, member, name in required) for name, member in schema["properties"].items()]
    return [replace(each, nullable=True) if (model, each.name) in NULLABLE else each for each in found]


def models() -> list[Model]:
    made = [Model(name, sentence(SCHEMAS[schema].get("description", "")), fields(SCHEMAS[schema], name)) for schema, name in NAMES.items()]
    made = [Model("Problem", "A problem within an answer.", [each for each in model.fields if each.name in ("code", "title", "status", "detail")])
            if model.name == "Problem" else model for model in made]  # fmt: skip
    for model in made:
        if model.name == "VerifiedNotification":
            head = SCHEMAS["NotificationAnswer"]["properties"]["notification"]
            model.fields[0] = Field("notification", "Notification", False, "Who sent it.")
            made.append(Model("Notification", "Who sent a notification.", fields(head, "Notification")))
    # Of all that one of the two kinds has, only this may be missing.
    begun = {each.name: replace(each, nullable=each.name == "request_expires_at") for each in fields(SCHEMAS["BeginAnswer"], "")}
    made.append(Model("BegunSignIn", "A sign-in that has begun. The app keeps `sign_in`, and gives the provider `nonce_sha256` (Apple) or `nonce`.".replace("`", ""),
                      [begun[each] for each in ["sign_in", "nonce", "nonce_sha256", "expires_at"]]))  # fmt: skip
    made.append(Model("BegunBrowserSignIn", "A sign-in in the browser that has begun. Redirect to authorization_url, and keep sign_in in a cookie.",
                      [begun[each] for each in ["sign_in", "state", "authorization_url", "expires_at", "request_expires_at"]]))  # fmt: skip
    order = ["Identity", "Encryption", "Token", "AccessToken", "Binding", "Authorization", "Introspection", "Keys", "Grant", "Event",
             "Notification", "Problem", "Challenge", "BegunSignIn", "BegunBrowserSignIn", "Verified", "FinishedSignIn", "Refreshed",
             "SignOut", "Proof", "VerifiedAccessToken", "VerifiedNotification"]  # fmt: skip
    by_name = {model.name: model for model in made}
    return [by_name[name] for name in order]


def options() -> list[Model]:
    made = [Model("Dpop", "A DPoP proof of a request (RFC 9449).", fields(SCHEMAS["PresentedProof"], "Dpop"))]
    for name, (schema, arguments, others) in OPTIONS.items():
        left_out = {*arguments.split(), *others.split()}
        every = [replace(each, nullable=True) for each in fields(SCHEMAS[schema], name) if each.name not in left_out]
        every = [replace(each, kind="object") if each.name == "user" else each for each in every]
        made.append(Model(name, "", every))
    return made


def codes() -> list[str]:
    return SCHEMAS["ProblemCode"]["enum"]


# The call that each example answers.
EXAMPLES = {
    "begin": ("/v1/sign-ins", "201", "apple"), "begin_in_browser": ("/v1/sign-ins", "201", "browser"),
    "finish": ("/v1/sign-ins/finish", "200", "google"), "finish_in_browser": ("/v1/sign-ins/finish", "200", "browser"),
    "refresh": ("/v1/grants/refresh", "200", "apple"), "verify": ("/v1/verify", "200", "apple"),
    "verify_notification": ("/v1/notifications/verify", "200", "apple"),
    "verify_access_token": ("/v1/access-tokens/verify", "200", "oidc"), "sign_out": ("/v1/sign-outs", "200", "browser"),
    "proof": ("/v1/grants/proof", "200", "api"),
}  # fmt: skip


def examples() -> str:
    """What a fake client answers, as JSON: the examples of the contract."""
    found = {}
    for call, (path, status, name) in EXAMPLES.items():
        content = DOCUMENT["paths"][path]["post"]["responses"][status]["content"]
        found[call] = content["application/json"]["examples"][name]["value"]
    text = json.dumps(found, separators=(",", ":"))
    return re.sub(r"eyJ[\w.-]{40,}", "eyJ.example.token", text)


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.capitalize() for each in rest)


def wrapped(text: str, start: str, width: int = 116) -> str:
    return "".join(f"{line}\n" for line in textwrap.wrap(text, width, initial_indent=start, subsequent_indent=start)) if text else ""


# MARK: Python


def python() -> dict[str, str]:
    def annotation(each: Field) -> str:
        plain = {"string": "str", "integer": "int", "boolean": "bool", "strings": "list[str]", "texts": "dict[str, str]", "object": "dict[str, Any]"}
        name = f"list[{each.model}]" if each.is_list else each.model or plain[each.kind]
        return name + (" | None" if each.nullable else "")

    out = f'"""The types of requests and answers. {NOTICE}"""\n\nfrom __future__ import annotations\n\n'
    out += "from dataclasses import dataclass, field\nfrom typing import Any, TypedDict\n"
    for model in models():
        out += f'\n\n@dataclass(frozen=True, kw_only=True)\nclass {model.name}:\n    """{model.doc or model.name + "."}"""\n\n'
        for each in model.fields:
            default = ["default=None"] if each.nullable else []
            default += ["repr=False"] if each.is_secret else []
            value = f" = field({', '.join(default)})" if each.is_secret else (" = None" if each.nullable else "")
            out += wrapped(each.doc, "    # ") + f"    {each.name}: {annotation(each)}{value}\n"
    for model in options():
        total = "" if model.name == "Dpop" else ", total=False"
        out += f'\n\nclass {model.name}(TypedDict{total}):\n    """{model.doc or "Options of a call."}"""\n\n'
        for each in model.fields:
            plain = annotation(replace(each, nullable=False))
            out += wrapped(each.doc, "    # ") + f"    {each.name}: {plain}\n"
    listed = "\n".join(f'    {code.upper()} = "{code}"' for code in codes())
    text = f'"""The codes of problems. {NOTICE}"""\n\n\nclass Code:\n    """Compare `AssayError.code` with these. Assay may add codes."""\n\n{listed}\n'
    text += f"\n\n# What a fake client answers, by call: the examples of the contract.\nEXAMPLES = {examples()!r}\n"
    return {"python/src/assay_client/models.py": out, "python/src/assay_client/codes.py": text}


# MARK: TypeScript


def typescript() -> dict[str, str]:
    def annotation(each: Field) -> str:
        plain = {"string": "string", "integer": "number", "boolean": "boolean", "strings": "string[]", "texts": "Record<string, string>", "object": "Record<string, unknown>"}
        name = f"{each.model}[]" if each.is_list else each.model or plain[each.kind]
        return name + (" | null" if each.nullable else "")

    def comment(text: str, margin: str) -> str:
        return f"{margin}/** {text} */\n" if text else ""

    out = f"// {NOTICE}\n"
    for model in models():
        out += "\n" + comment(model.doc, "") + f"export interface {model.name} {{\n"
        out += "".join(comment(each.doc, "  ") + f"  {each.name}: {annotation(each)};\n" for each in model.fields) + "}\n"
    for model in options():
        mark = "" if model.name == "Dpop" else "?"
        out += "\n" + comment(model.doc, "") + f"export interface {model.name} {{\n"
        for each in model.fields:
            out += comment(each.doc, "  ") + f"  {each.name}{mark}: {annotation(replace(each, nullable=False))};\n"
        out += "}\n"
    out += "\n/** What went wrong. Assay may add codes. */\nexport type ProblemCode =\n"
    out += "".join(f'  | "{code}"\n' for code in codes()) + "  | (string & {});\n"
    out += "\n/** Every code that this version knows. */\nexport const problemCodes: readonly ProblemCode[] = [\n"
    out += "".join(f'  "{code}",\n' for code in codes()) + "];\n"
    table = {model.name: {each.name: each.kind + ("?" if each.nullable else "") for each in model.fields} for model in models()}
    out += "\n/** The kind of each member; `?` if it may be null or absent. For reading answers. */\n"
    out += f"export const shapes: Record<string, Record<string, string>> = {json.dumps(table, indent=2)};\n"
    out += f"\n/** What a fake client answers, by call: the examples of the contract. */\nexport const examples = {json.dumps(examples())};\n"
    return {"typescript/src/models.ts": out}


# MARK: Go

INITIALS = {"Id": "ID", "Uri": "URI", "Url": "URL", "Sha256": "SHA256", "Acr": "ACR", "Amr": "AMR", "Dpop": "DPoP", "Ui": "UI", "Www": "WWW"}


def go_name(name: str) -> str:
    return "".join(INITIALS.get(part.capitalize(), part.capitalize()) for part in name.split("_"))


def go() -> dict[str, str]:
    def renamed(name: str | None) -> str | None:
        return "DPoP" if name == "Dpop" else name

    def annotation(each: Field) -> str:
        plain = {"string": "string", "integer": "int64", "boolean": "bool", "strings": "[]string", "texts": "map[string]string", "object": "json.RawMessage"}
        if each.is_list:
            return f"[]{each.model}"
        if each.model:
            return f"*{renamed(each.model)}"
        return ("*" if each.nullable and each.kind in ("string", "integer", "boolean") else "") + plain[each.kind]

    out = "// Code generated by clients/generate.py from openapi.yaml. DO NOT EDIT.\n\npackage assay\n\nimport (\n\t\"encoding/json\"\n\t\"fmt\"\n)\n"
    for model in models():
        out += "\n" + (wrapped(f"{model.name}: {model.doc}", "// ") if model.doc else f"// {model.name} is a part of an answer.\n")
        out += f"type {model.name} struct {{\n"
        for each in model.fields:
            out += wrapped(each.doc, "\t// ") + f'\t{go_name(each.name)} {annotation(each)} `json:"{each.name}"`\n'
        out += "}\n"
        shown = [each for each in model.fields if not each.is_secret and each.kind in ("string", "integer", "boolean") and not each.nullable]
        if len(shown) == len([each for each in model.fields if each.kind in ("string", "integer", "boolean")]):
            continue
        form = " ".join(f"{each.name}=%v" for each in shown)
        values = "".join(f", value.{go_name(each.name)}" for each in shown)
        text = f'fmt.Sprintf("{model.name}({form})"{values})' if shown else f'"{model.name}"'
        out += f"\n// String has no secret.\nfunc ({'value ' if shown else ''}{model.name}) String() string {{\n\treturn {text}\n}}\n"
    for model in options():
        name = renamed(model.name)
        out += f"\n// {name} {'is ' + model.doc[0].lower() + model.doc[1:] if model.doc else 'has the optional members of a request.'}\ntype {name} struct {{\n"
        for each in model.fields:
            kind = annotation(each)
            if model.name == "Dpop" or (kind == "*string" and each.name not in ("subject", "issuer")):
                kind = kind.lstrip("*")
            kind = "bool" if each.kind == "boolean" else kind
            omit = "" if model.name == "Dpop" else ",omitempty"
            out += wrapped(each.doc, "\t// ") + f'\t{go_name(each.name)} {kind} `json:"{each.name}{omit}"`\n'
        out += f'}}\n\n// String has no secret.\nfunc ({name}) String() string {{ return "{name}" }}\n'
    out += "\n// The codes of problems. Assay may add codes.\nconst (\n"
    out += "".join(f'\tCode{go_name(code)} = "{code}"\n' for code in codes()) + ")\n"
    out += "\n// Codes has every code that this version knows.\nvar Codes = []string{\n"
    out += "".join(f"\tCode{go_name(code)},\n" for code in codes()) + "}\n"
    out += f"\n// What a fake client answers, by call: the examples of the contract.\nconst examples = {json.dumps(examples())}\n"
    return {"go/models.go": gofmt(out)}


def gofmt(text: str) -> str:
    """Aligns the members of structs and constants, as gofmt does."""
    lines, block = [], []

    def flush() -> None:
        widths = [max((len(row[column]) for row in block), default=0) for column in range(2)]
        for name, kind, tag in block:
            row = f"\t{name.ljust(widths[0])} {kind.ljust(widths[1])} {tag}" if tag else f"\t{name.ljust(widths[0])} {kind}"
            lines.append(row.rstrip())
        block.clear()

    for line in text.split("\n"):
        member = re.fullmatch(r"\t(\w+) (\S+) (`.*`)", line) or re.fullmatch(r"\t(Code\w+) (= \"\w+\")()", line)
        if member:
            block.append(member.groups())
        else:
            flush()
            lines.append(line)
    flush()
    return "\n".join(lines)


# MARK: Kotlin


def kotlin() -> dict[str, str]:
    plain = {"string": "String", "integer": "Long", "boolean": "Boolean", "strings": "List<String>", "texts": "Map<String, String>", "object": "Map<String, Any?>"}

    def annotation(each: Field) -> str:
        name = f"List<{each.model}>" if each.is_list else each.model or plain[each.kind]
        return name + ("?" if each.nullable else "")

    def read(each: Field) -> str:
        way = {"object": "map"}.get(each.kind, each.kind) if not each.model else ("list" if each.is_list else "model")
        more = f") {{ {each.model}.of(it) }}" if each.model else ")"
        return f'json.{way}{"OrNull" if each.nullable else ""}("{each.name}"{more}'

    out = f"// {NOTICE}\n@file:Suppress(\"MaxLineLength\")\n\npackage assay\n"
    for model in models():
        out += "\n" + (f"/** {model.doc} */\n" if model.doc else "") + f"data class {model.name}(\n"
        for each in model.fields:
            out += (f"    /** {each.doc} */\n" if each.doc else "") + f"    val {camel(each.name)}: {annotation(each)},\n"
        out = out[:-2] + "\n) {\n"
        if any(each.is_secret for each in model.fields):
            shown = ", ".join(f"{camel(each.name)}=${camel(each.name)}" for each in model.fields if not each.is_secret)
            out += f'    /** Without secrets. */\n    override fun toString() = "{model.name}({shown})"\n\n'
        out += f"    internal companion object {{\n        fun of(json: Members) = {model.name}(\n"
        out += ",\n".join(f"            {read(each)}" for each in model.fields) + "\n        )\n    }\n}\n"
    for model in options():
        mark = "" if model.name == "Dpop" else "? = null"
        out += f"\n/** {model.doc or 'Optional members of a request; those that are null are not sent.'} */\nclass {model.name}(\n"
        for each in model.fields:
            bare = annotation(replace(each, nullable=False))
            out += (f"    /** {each.doc} */\n" if each.doc else "") + f"    val {camel(each.name)}: {bare}{mark},\n"
        out = out[:-2] + "\n) {\n    internal fun members(): Map<String, Any?> = present(\n"
        value = lambda each: camel(each.name) + ("?.members()" if each.model else "")  # noqa: E731
        out += ",\n".join(f'        "{each.name}" to {value(each)}' for each in model.fields) + "\n    )\n}\n"
    out += "\n/** The codes of problems. Assay may add codes. */\nobject Code {\n"
    out += "".join(f'    const val {code.upper()} = "{code}"\n' for code in codes())
    out += "\n    /** Every code that this version knows. */\n    val all = listOf(\n        "
    out += ",\n        ".join(code.upper() for code in codes()) + "\n    )\n}\n"
    text = json.dumps(examples()).replace("$", "\\$")
    out += f"\n/** What a fake client answers, by call: the examples of the contract. */\ninternal const val EXAMPLES = {text}\n"
    return {"kotlin/src/main/kotlin/assay/Models.kt": out}


# MARK: Ruby


def ruby() -> dict[str, str]:
    out = f"# frozen_string_literal: true\n\n# {NOTICE}\n\nclass Assay\n"
    for model in models():
        out += "\n" + wrapped(model.doc or f"{model.name}, a part of an answer.", "  # ")
        for each in model.fields:
            out += wrapped(f"{each.name}: {each.doc}" if each.doc else each.name, "  # ", 110).replace("  # ", "  # - ", 1)
        names = ", ".join(f":{each.name}" for each in model.fields)
        secrets = ", ".join(f":{each.name}" for each in model.fields if each.is_secret)
        kinds = ", ".join(f'{each.name}: "{each.kind}{"?" if each.nullable else ""}"' for each in model.fields)
        out += "".join(f"{line}\n" for line in textwrap.wrap(f"{model.name} = Struct.new({names}, keyword_init: true)", 116, initial_indent="  ", subsequent_indent="    "))
        out += f"  {model.name}.extend(Model)\n  {model.name}.include(Printed)\n"
        out += "".join(f"{line}\n" for line in textwrap.wrap(f"{model.name}.describe({{ {kinds} }}, [{secrets}])", 116, initial_indent="  ", subsequent_indent="    "))
    out += "\n  # The codes of problems. Assay may add codes.\n  module Code\n"
    out += "".join(f'    {code.upper()} = "{code}"\n' for code in codes())
    out += "\n    # Every code that this version knows.\n    ALL = [\n"
    out += "".join(f"      {code.upper()},\n" for code in codes()) + "    ].freeze\n  end\n"
    out += f"\n  # What a fake client answers, by call: the examples of the contract.\n  EXAMPLES = {json.dumps(examples()).replace('#', chr(92) + '#')}\nend\n"
    return {"ruby/lib/assay/models.rb": out}


# MARK: PHP


def php() -> dict[str, str]:
    plain = {"string": "string", "integer": "int", "boolean": "bool", "strings": "array", "texts": "array", "object": "array"}
    out = f"<?php\n\n// {NOTICE}\n\ndeclare(strict_types=1);\n\nnamespace Assay;\n"
    for model in models():
        out += f"\n/** {model.doc or 'A part of an answer.'} */\nfinal class {model.name}\n{{\n    use Model;\n\n"
        kinds = ", ".join(f"'{each.name}' => '{each.kind}{'?' if each.nullable else ''}'" for each in model.fields)
        secrets = ", ".join(f"'{camel(each.name)}'" for each in model.fields if each.is_secret)
        out += f"    private const KINDS = [{kinds}];\n    private const SECRETS = [{secrets}];\n\n    public function __construct(\n"
        for each in model.fields:
            kind = "array" if each.is_list else each.model or plain[each.kind]
            listed = "list<string>" if each.kind == "strings" else "array<string, string>" if each.kind == "texts" else f"list<{each.model}>" if each.is_list else "array<string, mixed>" if each.kind == "object" else ""
            doc = (f"@var {listed}{'|null' if each.nullable else ''} " if listed else "") + each.doc
            out += (f"        /** {doc.strip()} */\n" if doc.strip() else "")
            out += f"        public readonly {'?' if each.nullable else ''}{kind} ${camel(each.name)},\n"
        out += "    ) {\n    }\n}\n"
    out += "\n/** The codes of problems. Assay may add codes. */\nfinal class Code\n{\n"
    out += "".join(f"    public const {code.upper()} = '{code}';\n" for code in codes())
    out += "\n    /** Every code that this version knows. */\n    public const ALL = [\n"
    out += "".join(f"        self::{code.upper()},\n" for code in codes()) + "    ];\n}\n"
    text = examples().replace("\\", "\\\\").replace("'", "\\'")
    out += f"\n/** What a fake client answers, by call: the examples of the contract. */\nfinal class Examples\n{{\n    public const JSON = '{text}';\n}}\n"
    return {"php/src/Models.php": out}


# MARK: Swift


def swift() -> dict[str, str]:
    plain = {"string": "String", "integer": "Int64", "boolean": "Bool", "strings": "[String]", "texts": "[String: String]", "object": "[String: JSONValue]"}

    def annotation(each: Field) -> str:
        name = f"[{each.model}]" if each.is_list else each.model or plain[each.kind]
        return name + ("?" if each.nullable else "")

    def case(each: Field) -> str:
        name = camel(each.name)
        return name if name == each.name else f'{name} = "{each.name}"'

    out = f"// {NOTICE}\n// swift-format-ignore-file\n"
    for model in models():
        hidden = any(each.is_secret for each in model.fields)
        conformance = "Codable, Sendable, Equatable" + (", CustomStringConvertible, CustomReflectable" if hidden else "")
        out += "\n" + (wrapped(model.doc or f"{model.name}, a part of an answer.", "/// ")) + f"public struct {model.name}: {conformance} {{\n"
        for each in model.fields:
            out += wrapped(each.doc, "    /// ") + f"    public var {camel(each.name)}: {annotation(each)}\n"
        out += "\n    enum CodingKeys: String, CodingKey {\n        case " + ", ".join(case(each) for each in model.fields) + "\n    }\n"
        if hidden:
            shown = [camel(each.name) for each in model.fields if not each.is_secret]
            text = ", ".join(f"{name}: \\({name}{'' if not each.nullable else ' as Any'})" for name, each in zip(shown, [e for e in model.fields if not e.is_secret]))
            out += f'\n    /// Without secrets.\n    public var description: String {{ "{model.name}({text})" }}\n'
            children = ", ".join(f'"{name}": {name} as Any' for name in shown)
            out += f"    public var customMirror: Mirror {{ Mirror(self, children: [{children}]) }}\n"
        out += "}\n"
    for model in options():
        mark = "" if model.name == "Dpop" else "?"
        out += "\n" + wrapped(model.doc or "Optional members of a request; those that are nil are not sent.", "/// ") + f"public struct {model.name}: Codable, Sendable {{\n"
        for each in model.fields:
            out += wrapped(each.doc, "    /// ") + f"    public var {camel(each.name)}: {annotation(replace(each, nullable=False))}{mark}\n"
        default = "" if model.name == "Dpop" else "? = nil"
        parameters = ", ".join(f"{camel(each.name)}: {annotation(replace(each, nullable=False))}{default}" for each in model.fields)
        out += f"\n    public init({parameters}) {{\n" + "".join(f"        self.{camel(each.name)} = {camel(each.name)}\n" for each in model.fields) + "    }\n"
        out += "\n    enum CodingKeys: String, CodingKey {\n        case " + ", ".join(case(each) for each in model.fields) + "\n    }\n}\n"
    out += "\n/// The codes of problems. Assay may add codes.\npublic enum Code {\n"
    named = {code: f"`{code}`" if code == "internal" else camel(code) for code in codes()}
    out += "".join(f'    public static let {named[code]} = "{code}"\n' for code in codes())
    out += "\n    /// Every code that this version knows.\n    public static let all = [\n"
    out += "".join(f"        {named[code]},\n" for code in codes()) + "    ]\n}\n"
    out += f'\n/// What a fake client answers, by call: the examples of the contract.\nlet examples = #"{examples()}"#\n'
    return {"swift/Sources/AssayClient/Models.swift": out}


def files() -> dict[str, str]:
    return {name: text for write in (python, typescript, go, kotlin, ruby, php, swift) for name, text in write().items()}


def main() -> None:
    stale = []
    for name, text in files().items():
        file = HERE / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(f"clients/{name}")
            if "--check" not in sys.argv:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        sys.exit(f"out of date: {', '.join(stale)}; run python clients/generate.py")


if __name__ == "__main__":
    main()

"""Runs the conformance cases with the installed package: reads calls as JSON, one per line, and writes what they return."""

import dataclasses
import json
import ssl
import sys

import example
from assay_client import Assay, AssayError, Code, FakeAssay, Refused, Unavailable

clients: dict[str, Assay] = {}


def client(options: dict) -> Assay:
    name = json.dumps(options)
    if name not in clients:
        members = {name: value for name, value in options.items() if name != "case"}
        if ca_file := members.pop("ca_file", None):
            members["ssl_context"] = ssl.create_default_context(cafile=ca_file)
        script = members.pop("script", None)
        clients[name] = FakeAssay(**members) if script is not None else Assay(**members)
        for each in script or []:
            if "will" in each:
                clients[name].will(each["will"], **each.get("members", {}))
            elif "fail" in each:
                more = {"retry_after": each.get("retry_after")} | each.get("members", {})
                clients[name].will_fail(each["fail"], each["status"], each["code"], **more)
            else:
                clients[name].will_not_answer(each["no_answer"], sent=each["sent"])
    return clients[name]


def answer(asked: dict) -> dict:
    if asked["call"] == "codes":
        return {"result": sorted(value for name, value in vars(Code).items() if name.isupper())}
    assay = client(asked["client"])
    if asked["call"] == "fake":
        return {"result": {"requests": [call for call, _ in assay.requests], "waited": assay.waited}}
    if asked["call"] == "example":
        return {"result": example.finish(assay, "the-secret-handle", "the.secret.token")}
    try:
        result = getattr(assay, asked["call"])(**asked["with"])
        return {"result": dataclasses.asdict(result) if result else None, "printed": f"{result} {result!r}"}
    except AssayError as error:
        kind = {Refused: "refused", Unavailable: "unavailable"}.get(type(error), "error")
        names = ("status", "code", "detail", "spent", "retry_after", "may_retry", "request_id", "claim", "provider_error", "context", "dpop_nonce")
        challenge = error.challenge and dataclasses.asdict(error.challenge)
        return {"error": {"kind": kind, "challenge": challenge, **{name: getattr(error, name) for name in names}}, "printed": f"{error} {error!r}"}


for line in sys.stdin:
    try:
        said = answer(json.loads(line))
    except Exception as failure:
        said = {"failed": repr(failure)}
    print(json.dumps(said), flush=True)

"""The backend's side of sign-ins: reads the apps' requests as JSON, one per line, and writes the responses.

    {"begin": {"provider": "apple"}}                   the app keeps `sign_in` in memory, and signs in with a nonce
    {"finish": {"sign_in": "…", "id_token": "eyJ…"}}   the app sends back `sign_in`, and the provider's token
    {"verify": {"provider": "apple", "id_token": "eyJ…", "nonce": "…"}}   without begin and finish
    {"receive": {"content_type": "application/json", "body": "{\\"payload\\": \\"eyJ…\\"}"}}   a provider's notification

The other calls work the same way, by name. A real backend never sends a grant to an app.
"""

import dataclasses
import json
import os
import pathlib
import sqlite3
import sys

from assay import Assay, AssayError, Refused, Unavailable, Verified
from receiver import Receiver

assay = Assay(os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"), os.environ.get("ASSAY_API_KEY"))

database = sqlite3.connect(":memory:")
database.executescript((pathlib.Path(__file__).parent.parent / "notifications.sql").read_text())
done: list[str] = []
receiver = Receiver(assay, database, lambda _, event: done.append(event.type))


def answer(request: dict) -> dict:
    match request:
        case {"receive": {"content_type": content_type, "body": body}}:
            done.clear()
            return {"answered": receiver.receive(content_type, body), "done": done}
        case {"begin": members}:
            return {"begun": dataclasses.asdict(assay.begin(**members))}
        case {"begin_in_browser": members}:
            return {"begun_in_browser": dataclasses.asdict(assay.begin_in_browser(**members))}
        case {"finish": members}:
            return {"finished": dataclasses.asdict(assay.finish(**members))}
        case {"finish_in_browser": members}:
            return {"finished": dataclasses.asdict(assay.finish_in_browser(**members))}
        case {"verify": members}:
            match assay.verify(**members):
                case Verified(identity):
                    return {"verified": dataclasses.asdict(identity)}
                case Refused(code):
                    return {"refused": code}
                case Unavailable(retry_after):
                    return {"unavailable": retry_after}
        case {"refresh": members}:
            return {"refreshed": dataclasses.asdict(assay.refresh(**members))}
        case {"revoke": members}:
            assay.revoke(**members)
            return {"revoked": True}
        case {"revoke_by_code": members}:
            assay.revoke_by_code(**members)
            return {"revoked": True}


for line in sys.stdin:
    try:
        said = answer(json.loads(line))
    except AssayError as error:
        # The text of the error is for the log. It has no token and no handle.
        said = {"error": error.status, "code": error.code, "spent": error.spent, "log": str(error)}
        said |= {"provider_error": error.provider_error, "context": error.context}
    print(json.dumps(said), flush=True)

"""Reads sign-ins as JSON, one a line, and says of each what Assay said."""

import dataclasses
import json
import os
import sys

from assay import Assay, AssayError, Refused, Unavailable, Verified

assay = Assay(os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"), os.environ.get("ASSAY_API_KEY"))

for line in sys.stdin:
    try:
        match assay.verify(**json.loads(line)):
            case Verified(identity):
                said = {"verified": dataclasses.asdict(identity)}
            case Refused(code):
                said = {"refused": code}
            case Unavailable(retry_after):
                said = {"unavailable": retry_after}
    except AssayError as error:
        said = {"error": error.status, "code": error.code}
    print(json.dumps(said), flush=True)

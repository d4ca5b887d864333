"""Calls the service with the client that openapi-python-client generates, and prints what it got.

The argument is JSON: the addresses of both listeners, and the requests.
"""

import json
import sys

from assay_client import Client
from assay_client.api.authorization import verify_access_token
from assay_client.api.providers import explain, list_providers
from assay_client.api.sign_in import begin_sign_in, verify, verify_batch, verify_notification
from assay_client.models import (
    AccessTokenRequest,
    BatchError,
    BatchRequest,
    BeginRequest,
    NotificationRequest,
    Problem,
    VerifyRequest,
)

given = json.loads(sys.argv[1])
service, admin = Client(base_url=given["service"]), Client(base_url=given["admin"])
requests = given["requests"]


def code(answer) -> str:
    assert isinstance(answer, Problem), answer
    return str(answer.code)


signed_in = verify.sync(client=service, body=VerifyRequest.from_dict(requests["verify"]))
refused = verify.sync(client=service, body=VerifyRequest.from_dict(requests["refused"]))
results = verify_batch.sync(client=service, body=BatchRequest.from_dict(requests["batch"])).results
begun = begin_sign_in.sync(client=service, body=BeginRequest.from_dict(requests["begin"]))
notified = verify_notification.sync(client=service, body=NotificationRequest.from_dict(requests["notification"]))
granted = verify_access_token.sync(client=service, body=AccessTokenRequest.from_dict(requests["access_token"]))
explained = explain.sync(client=admin, body=VerifyRequest.from_dict(requests["refused"]))

print(
    json.dumps(
        {
            "email": [signed_in.identity.email, str(signed_in.identity.email_trust)],
            "refused": code(refused),
            "batch": [code(each.error) if isinstance(each, BatchError) else each.identity.subject for each in results],
            "begun": [begun.nonce is not None, begun.state],
            "notified": [str(event.type_) for event in notified.events],
            "scopes": granted.authorization.scopes,
            "explained": str(explained.likely_cause.check),
            "providers": [provider.id for provider in list_providers.sync(client=admin).providers],
        }
    )
)

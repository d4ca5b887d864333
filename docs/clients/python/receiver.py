"""Receives notifications from providers: Apple's, logout tokens and security events, all at one URL."""

import json
import sqlite3
import time
import urllib.parse
from collections.abc import Callable

from assay import Assay, AssayError, Event, Notification


class Receiver:
    def __init__(self, assay: Assay, database: sqlite3.Connection, act: Callable[[Notification, Event], None]):
        """`act` does what an event asks for, in the same database, and is called once for each event."""
        self._assay, self._database, self._act = assay, database, act

    def receive(self, content_type: str, body: str) -> int:
        """Returns the status for the response to the sender. Assay's log has the reason for a refusal."""
        try:
            notification = self._assay.notification(**message(content_type, body))
        except (ValueError, KeyError):
            return 400
        except AssayError as error:
            # 503: the sender tries again later. 400: that would not help, because it would be refused again.
            if error.status in (0, 503):
                return 503
            return 400 if error.status in (400, 404, 422) else 500
        # All or nothing: if it fails, the sender tries again, and nothing is marked as processed.
        with self._database:
            row = (notification.provider, notification.id, int(time.time()))
            if self._database.execute("INSERT OR IGNORE INTO notifications VALUES (?, ?, ?)", row).rowcount:
                for event in notification.events:
                    self._act(notification, event)
        return 200


def message(content_type: str, body: str) -> dict:
    """The request for Assay. Raises `ValueError` or `KeyError` if it is not a notification."""
    match content_type.partition(";")[0].strip().lower():
        case "application/x-www-form-urlencoded":
            return {"token": urllib.parse.parse_qs(body)["logout_token"][0]}
        case "application/secevent+jwt":
            return {"token": body.strip()}
        case _:
            return {"payload": json.loads(body)}

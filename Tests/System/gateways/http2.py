"""A client that speaks HTTP/2 from the first byte, and can send invalid requests."""

import socket

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, ResponseReceived, StreamEnded, StreamReset


def ask(
    address: str, path: str | None, token: str | None, *fields: tuple[str, str], method="POST", protocol=None, trailers=()
) -> int:
    """Sends a request with exactly these header fields; returns the status, or 0 if the stream is reset.

    `protocol` is for an extended CONNECT (RFC 8441). A plain CONNECT has no path.
    """
    host, port = address.split(":")
    careless = H2Configuration(
        validate_outbound_headers=False, normalize_outbound_headers=False, validate_inbound_headers=False
    )
    connection = H2Connection(careless)
    connection.initiate_connection()
    pseudo = [(":method", method), (":authority", "shop.example")]
    pseudo += [(":scheme", "http"), (":path", path)] if path else []
    pseudo += [(":protocol", protocol)] if protocol else []
    authorization = [("authorization", f"Bearer {token}")] if token else []
    stream = connection.get_next_available_stream_id()
    connection.send_headers(stream, [*pseudo, *authorization, *fields])
    connection.send_data(stream, b"body", end_stream=not trailers)
    if trailers:
        connection.send_headers(stream, list(trailers), end_stream=True)
    status = 0
    with socket.create_connection((host, int(port)), 15) as conversation:
        conversation.sendall(connection.data_to_send())
        while octets := conversation.recv(65536):
            for event in connection.receive_data(octets):
                if isinstance(event, ResponseReceived):
                    status = int(dict(event.headers)[b":status"])
                if isinstance(event, StreamEnded | StreamReset | ConnectionTerminated):
                    return status
            conversation.sendall(connection.data_to_send())
    return status

"""Acts as an app of the example backend: starts a sign-in, signs in with the development provider, and finishes it."""

import json
import os
import urllib.request

BACKEND = os.environ.get("BACKEND_URL", "http://127.0.0.1:8000")
PROVIDER = os.environ.get("PROVIDER_URL", "http://127.0.0.1:9400")


def post(url: str, body: dict, headers: dict | None = None):
    request = urllib.request.Request(url, json.dumps(body).encode(), headers or {})
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.headers, json.load(response)


def main():
    headers, begun = post(f"{BACKEND}/sign-in", {"provider": "apple"})
    cookie = headers["Set-Cookie"].split(";")[0]
    # In a real app, the user sees the provider's page here, and the app passes the nonce on.
    _, token = post(f"{PROVIDER}/apple/token", {"nonce": begun["nonce"]})
    _, answer = post(f"{BACKEND}/sign-in/finish", {"id_token": token["id_token"]}, {"Cookie": cookie})
    print(json.dumps(answer, indent=2))


if __name__ == "__main__":
    main()

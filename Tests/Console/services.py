"""Services with the console on."""

from harness.service import Service


def with_console(*providers: dict, **admin) -> Service:
    return Service(*providers, admin={"listen": "127.0.0.1:0", "console": True} | admin)

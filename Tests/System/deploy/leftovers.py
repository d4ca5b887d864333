"""What a killed run leaves on this machine of a network of podman: rules, a bridge, and a list of names for its name server."""

import contextlib
import hashlib
import ipaddress
import json
import os
import pathlib
import signal
import subprocess

NAME_SERVER = pathlib.Path("/run/containers/networks/aardvark-dns")


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def remove_network(name: str) -> None:
    """Removes a network of this name that no engine knows any more. An engine removes its networks only where it finds their state."""
    # As netavark names the chains of a network.
    number = hashlib.sha512(name.encode()).hexdigest()[:13].upper()
    chains = {f"NETAVARK-{number}", f"NETAVARK-DN-{number}"}
    dump = output("iptables-save").splitlines()
    sources = [(words[3], words[-1]) for words in map(str.split, dump) if words[:3] == ["-A", "POSTROUTING", "-s"]]
    # Another network may have got a subnet since.
    subnets = {subnet for subnet, chain in sources if chain in chains} - {subnet for subnet, chain in sources if chain not in chains}
    addresses = [(link["ifname"], each["local"]) for link in json.loads(output("ip", "-json", "address")) for each in link["addr_info"]]
    gateways = [(bridge, address) for bridge, address in addresses if bridge.startswith("podman")]
    networks = [ipaddress.ip_network(subnet) for subnet in subnets]
    bridges = {bridge for bridge, address in gateways if any(ipaddress.ip_address(address) in network for network in networks)}
    for bridge in bridges:
        output("ip", "link", "delete", bridge)

    changes = []
    for line in dump:
        if line.startswith("*"):
            changes += [line]
            removed = [f"-X {chain}" for chain in chains if any(each.startswith(f":{chain} ") for each in table(dump, line))]
        elif line.startswith("-A ") and (chains | subnets | bridges) & set(line.split()):
            changes += ["-D" + line.removeprefix("-A")]
        elif line == "COMMIT":
            changes += [*removed, line]
    subprocess.run(["iptables-restore", "--noflush"], input="\n".join(changes) + "\n", check=True, text=True, timeout=60)

    (NAME_SERVER / name).unlink(missing_ok=True)
    # It reads its lists again, and ends if there are none.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((NAME_SERVER / "aardvark.pid").read_text()), signal.SIGHUP)


def table(dump: list[str], name: str) -> list[str]:
    """The lines of one table."""
    start = dump.index(name)
    return dump[start : dump.index("COMMIT", start)]

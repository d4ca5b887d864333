"""Compares what decryptions cost that fail for different reasons: if it differed, senders could learn what was wrong.

usage: failures.py PROGRAM

PROGRAM is micro. `micro --failures` lists the failures, `FAMILY KIND`; those of a family are compared with each other:

- Our calls of libcrypto must be the same, by name and number, and so must be the number of our allocations.
- The instructions must be the same but for TOLERANCE: OpenSSL's own, which vary with the random numbers that blind RSA, and
  ours, which hardly do. Those of libc are left out: an allocation takes more or less, depending on what was freed before.

Callgrind counts both, so the result does not depend on the machine's load. Kinds that begin with `public-` are faults that
everyone sees in the token: of these, only the calls with secrets are compared. In families that begin with `planted-`, the
reader gives away what failed. If the comparison finds no difference there, it fails: it would find none elsewhere.
"""
import collections
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile

import measure

# In instructions of one decryption: ours, and those within libcrypto.
# An error that OpenSSL reports takes 1,500 there; the blinding of RSA differs by 2,500.
TOLERANCE = {False: 100, True: 4000}
# Of each kind.
ITERATIONS = 10
WITH_SECRETS = {
    "RAND_bytes", "EVP_PKEY_decrypt", "EVP_PKEY_derive", "EVP_DigestUpdate", "EVP_CipherInit_ex2", "EVP_CipherUpdate",
    "EVP_CipherFinal_ex", "EVP_MAC_update", "EVP_MAC_final", "CRYPTO_memcmp",
}  # fmt: skip

Cost = collections.namedtuple("Cost", "instructions calls")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve(strict=True)
    families = costs(program)
    faults = []
    for family, kinds in families.items():
        found = differences(kinds)
        is_planted = family.startswith("planted-")
        ranges = [
            (min(counted), max(counted) - min(counted))
            for where in TOLERANCE
            if (counted := [cost.instructions[where] for kind, cost in kinds.items() if not kind.startswith("public-")])
        ]
        print(f"{family}: {len(kinds)} kinds; our instructions, and those within libcrypto:", *(f"{least} and up to {more} more" for least, more in ranges), sep="\n  ")
        if is_planted and not found:
            faults.append(f"{family}: no difference was found, but there is one")
        if not is_planted:
            faults += [f"{family}: {each}" for each in found]
    if faults:
        sys.exit("\n".join(["Failed decryptions differ in what they cost:", *(f"  {fault}" for fault in faults)]))
    print(f"{sum(map(len, families.values()))} failures in {len(families)} families cost the same, but for those that are planted")


def costs(program: pathlib.Path) -> dict[str, dict[str, Cost]]:
    """By family and kind."""
    kinds = collections.defaultdict(list)
    for name in measure.run([program, "--failures"]).splitlines():
        family, kind = name.split(" ")
        kinds[family].append(kind)
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        stripped = pathlib.Path(directory, program.name)
        measure.run([shutil.which("objcopy"), "--strip-debug", program, stripped])
        # The slowest first, so that no thread is left alone with one of them.
        slowest_first = sorted(kinds, key=lambda family: "RSA" not in family)
        found = dict(zip(slowest_first, threads.map(lambda family: costs_of(stripped, family, kinds[family]), slowest_first)))
    return {family: found[family] for family in kinds}


def costs_of(program: pathlib.Path, family: str, kinds: list[str]) -> dict[str, Cost]:
    """Runs all kinds in one process, because starting one under callgrind takes longer than most of them.

    Callgrind writes what it has counted, and begins anew, whenever it leaves `measured`. `micro` calls that twice for each kind:
    the first file has what came before, too.
    """
    output = program.parent / family
    measure.run(
        [shutil.which("valgrind"), "--tool=callgrind", f"--callgrind-out-file={output}",
         *(f"--{when}={measured(program)}" for when in ("toggle-collect", "dump-after")),
         program, "--failures", family, str(ITERATIONS)], cwd=program.parent
    )  # fmt: skip
    parts = [pathlib.Path(f"{output}.{number}") for number in range(2, 2 * len(kinds) + 1, 2)]
    if not all(part.exists() for part in parts) or pathlib.Path(f"{output}.{2 * len(kinds) + 1}").exists():
        sys.exit(f"{family}: callgrind has not written two files for each kind")
    return {kind: cost(measure.read(part), f"{family} {kind}") for kind, part in zip(kinds, parts)}


def measured(program: pathlib.Path) -> str:
    """The symbol of the function `measured`: callgrind's options about dumps take no patterns."""
    symbols = [line.split()[-1] for line in measure.run([shutil.which("nm"), program]).splitlines() if "measured" in line]
    if len(symbols) != 1:
        sys.exit(f"{program.name} has {len(symbols)} functions named `measured`, but must have one")
    return symbols[0]


def cost(counted: measure.Profile, name: str) -> Cost:
    instructions = {
        False: round((counted.instructions[False] - counted.libc[True]) / ITERATIONS),
        True: round(counted.instructions[True] / ITERATIONS),
    }
    calls = {function: number / ITERATIONS for function, number in counted.calls.items()}
    calls["malloc"] = counted.allocations[False] / ITERATIONS
    if not all(instructions.values()) or not calls:
        sys.exit(f"{name}: nothing was counted")
    return Cost(instructions, calls)


def differences(kinds: dict[str, Cost]) -> list[str]:
    (first, reference), *others = kinds.items()
    found = []
    for kind, cost in others:
        is_public = kind.startswith("public-")
        for function in sorted(reference.calls.keys() | cost.calls.keys()):
            was, now = reference.calls.get(function, 0), cost.calls.get(function, 0)
            if was != now and (not is_public or function in WITH_SECRETS):
                found.append(f"{function} is called {was:g} times for {first}, {now:g} times for {kind}")
        for where, tolerance in TOLERANCE.items():
            was, more = reference.instructions[where], cost.instructions[where] - reference.instructions[where]
            if not is_public and abs(more) > tolerance:
                found.append(f"{was} {'instructions within libcrypto' if where else 'of our instructions'} for {first}, {more:+} for {kind}")
    return found


if __name__ == "__main__":
    main()

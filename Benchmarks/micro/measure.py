"""Counts the instructions and allocations of the micro benchmarks with valgrind's callgrind.

usage: measure.py PROGRAM [NAME...]            prints the cost of all benchmarks of `micro --list`, or of those named
       measure.py PROGRAM --table [NAME...]    prints the same as a Markdown table, with times
       measure.py PROGRAM --check              compares with figures.json; exit status 1 if a cost rose by over one percent
       measure.py PROGRAM --accept             rewrites figures.json
       measure.py PROGRAM --encrypted          prints how long an encrypted ID Token takes, compared with OpenSSL alone

PROGRAM is micro as `swift build -c release --product micro` builds it, or openssl_patterns; nothing is built here.

Only the program's function `measured` counts, which runs the iterations. Startup, key generation and first uses do not.
The figures are instructions and calls of libc's allocator per iteration, outside of libcrypto and within it. Only those
outside are compared: OpenSSL's own cost is not ours, and changes with Debian's updates.

The figures do not depend on the machine's load. ENVIRONMENT holds everything else constant.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FIGURES = pathlib.Path(__file__).parent / "figures.json"
TOLERANCE = 0.01
# Callgrind collects instructions within `measured` only, but counts calls from the start. The difference between two
# runs gives the calls of an iteration.
ITERATIONS = (1, 21)
# The whole environment: its size moves the stack, and the caller's variables could change anything.
ENVIRONMENT = {
    # Without this, Swift seeds its hash tables at random, and the JSON parser's name hashes use the same seed.
    "SWIFT_DETERMINISTIC_HASHING": "1",
    # Valgrind emulates a Haswell on every machine that has AVX2, and an older processor elsewhere. Libraries that choose
    # code by processor are limited to what all have: libcrypto (no AVX, AVX2, BMI), and libc's memcpy and similar
    # functions, whose thresholds also depend on cache sizes.
    "OPENSSL_ia32cap": "~0x1000000000000000:~0x128",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX,-BMI2,-ERMS,-FSRM,-RTM,-MOVBE,-LZCNT"
    ":glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.cpu.x86_rep_movsb_threshold=0x800",
    # Otherwise, the first call of a library function would include its lookup.
    "LD_BIND_NOW": "1",
}
ALLOCATORS = {"malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc"}

Figures = collections.namedtuple("Figures", "instructions allocations libcrypto_instructions libcrypto_allocations")
Profile = collections.namedtuple("Profile", "instructions allocations calls libc")


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    mode = parser.add_mutually_exclusive_group()
    for name in ("table", "check", "accept", "encrypted"):
        mode.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    for tool, package in (("valgrind", "valgrind"), ("objcopy", "binutils")):
        if not shutil.which(tool):
            sys.exit(f"{tool} is needed: apt-get install {package}")
    program = options.program.resolve(strict=True)
    if options.encrypted:
        return print_encrypted(program)
    known = run([program, "--list"]).split()
    if unknown := set(options.names) - set(known):
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.names and (options.check or options.accept):
        sys.exit("--check and --accept take no names: they apply to all benchmarks")
    figures = measure_all(program, options.names or known)
    if options.accept:
        accept(figures)
    elif options.check:
        check(figures)
    elif options.table:
        print_table(figures, times(program))
    else:
        for name, of_one in figures.items():
            print(f"{name:22}", *(f"{figure:10}" for figure in of_one))


def run(command: list, **options) -> str:
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def measure_all(program: pathlib.Path, names: list[str]) -> dict[str, Figures]:
    with tempfile.TemporaryDirectory() as directory:
        # Valgrind 3.19 cannot read the debug information of newer compilers; the symbols are enough.
        stripped = pathlib.Path(directory, program.name)
        run([shutil.which("objcopy"), "--strip-debug", program, stripped])
        # In parallel on all processors: instruction counts do not depend on other load.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            return dict(zip(names, threads.map(lambda name: measure(stripped, name), names)))


def measure(program: pathlib.Path, name: str) -> Figures:
    few, many = (count(program, name, iterations) for iterations in ITERATIONS)
    if many.instructions == 0:
        sys.exit(f"{name}: {program.name} has no function named `measured`")
    per_iteration = [(more - less) / (ITERATIONS[1] - ITERATIONS[0]) for less, more in zip(few, many)]
    # Rounded: jansson seeds its tables at random, so startup may need one allocation more or less.
    return Figures(*map(round, per_iteration))


def count(program: pathlib.Path, name: str, iterations: int) -> Figures:
    counted = profile(program, name, iterations)
    return Figures(
        counted.instructions[False], counted.allocations[False], counted.instructions[True], counted.allocations[True])


def profile(program: pathlib.Path, name: str, iterations: int) -> Profile:
    """Runs a benchmark under callgrind. The program has no debug information."""
    output = program.parent / f"{name}.{iterations}"
    # In a directory of our own, which has no .valgrindrc.
    run([shutil.which("valgrind"), "--tool=callgrind", "--toggle-collect=*measured*", f"--callgrind-out-file={output}",
         program, name, str(iterations)], cwd=program.parent)
    return read(output)


def read(path: pathlib.Path) -> Profile:
    """Sums instructions and allocator calls by whether they are in libcrypto, our calls of libcrypto by function, and libc's
    instructions, which are also among those outside of libcrypto."""
    # A name appears once as `(number) name`, and then as `(number)`. Objects and functions are numbered separately.
    names: dict[tuple[str, str], str] = {}
    sums = Profile(collections.Counter(), collections.Counter(), collections.Counter(), collections.Counter())
    here = {"ob": "", "fn": ""}
    called = dict(here)
    is_callee = False
    with open(path) as lines:
        for line in lines:
            if match := re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.+))?", line):
                is_called, kind, number, name = match.groups()
                if name:
                    names[kind, number] = name
                (called if is_called else here)[kind] = names[kind, number]
                if not is_called:
                    called = dict(here)
            elif match := re.match(r"calls=(\d+)", line):
                if is_allocator(called) and not is_allocator(here):
                    sums.allocations[is_libcrypto(here["ob"])] += int(match[1])
                # Libcrypto's calls of itself through its table of symbols have no known object.
                if is_libcrypto(called["ob"]) and not is_libcrypto(here["ob"]) and here["ob"] != "???":
                    sums.calls[called["fn"].split("'")[0]] += int(match[1])
                called = dict(here)
                is_callee = True
            elif match := re.match(r"[-+*\d]\S* (\d+)", line):
                # The line after a call has the callee's inclusive cost, which is also listed under its own name.
                if not is_callee:
                    sums.instructions[is_libcrypto(here["ob"])] += int(match[1])
                    sums.libc[is_libc(here["ob"])] += int(match[1])
                is_callee = False
    return sums


def is_libcrypto(path: str) -> bool:
    return pathlib.PurePath(path).name.startswith("libcrypto.so")


def is_libc(path: str) -> bool:
    return pathlib.PurePath(path).name.startswith("libc.so")


def is_allocator(function: dict[str, str]) -> bool:
    return function["fn"].split("'")[0] in ALLOCATORS and is_libc(function["ob"])


def times(program: pathlib.Path, *names: str) -> dict[str, int]:
    """Nanoseconds per iteration of the original program, without valgrind."""
    lines = subprocess.run([program, "--time", *names], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: int(nanoseconds) for name, nanoseconds in map(str.split, lines)}


def print_encrypted(program: pathlib.Path) -> None:
    token, *bare = names = ("verify-encrypted", "bare-agreement", "bare-signature")
    # Each round measures all three, because a machine's speed changes within minutes.
    rounds = [times(program, *names) for _ in range(3)]
    microseconds = {name: statistics.median(of_one[name] for of_one in rounds) / 1000 for name in names}
    ratio = microseconds[token] / sum(microseconds[name] for name in bare)
    print(*(f"{name:22}{microseconds[name]:8.1f} µs" for name in names), sep="\n")
    print(f"An encrypted ID Token takes {ratio:.2f} times as long as OpenSSL alone needs for its two operations with keys.")


def print_table(figures: dict[str, Figures], nanoseconds: dict[str, int]) -> None:
    columns = ("benchmark", *(name.replace("_", " ") for name in Figures._fields), "µs")
    print(f"| {' | '.join(columns)} |", f"|---|{'--:|' * (len(columns) - 1)}", sep="\n")
    for name, of_one in figures.items():
        print(f"| {name} | {' | '.join(map(str, of_one))} | {nanoseconds[name] / 1000:.2f} |")


def accept(figures: dict[str, Figures]) -> None:
    benchmarks = {
        name: {what: getattr(of_one, what) for what in ("instructions", "allocations")}
        for name, of_one in figures.items()
    }
    FIGURES.write_text(json.dumps({"made with": circumstances(), "benchmarks": benchmarks}, indent=1) + "\n")
    print(f"{len(figures)} benchmarks written to {FIGURES}")


def check(figures: dict[str, Figures]) -> None:
    committed = json.loads(FIGURES.read_text())
    if platform.machine() != committed["made with"]["machine"]:
        sys.exit(f"{FIGURES.name} is for {committed['made with']['machine']}, but this machine is {platform.machine()}")
    faults: list[str] = []
    gains: list[str] = []
    for name in committed["benchmarks"].keys() | figures.keys():
        if name not in figures or name not in committed["benchmarks"]:
            faults.append(f"{name}: only in {'the figures' if name not in figures else 'the program'}")
            continue
        for what, was in committed["benchmarks"][name].items():
            now = getattr(figures[name], what)
            if abs(now - was) > TOLERANCE * was:
                change = f"{(now / was - 1) * 100:+.1f} %" if was else "from none"
                (faults if now > was else gains).append(f"{name}: {what} {was} -> {now} ({change})")
    if gains:
        # A gain is no failure. But until it is accepted, a regression to the old figures goes unnoticed.
        print(f"Cheaper by more than {TOLERANCE:.0%}; --accept records it:", *(f"  {gain}" for gain in sorted(gains)), sep="\n")
    if not faults:
        print(f"none of {len(figures)} benchmarks costs more than {FIGURES.name} allows (tolerance {TOLERANCE:.0%})")
        return
    lines = [f"More expensive by more than {TOLERANCE:.0%}:", *(f"  {fault}" for fault in sorted(faults))]
    for what, now in circumstances().items():
        if now != (was := committed["made with"].get(what)):
            lines.append(f"The figures were made with another {what}: {was}; this is {now}.")
    lines.append(f"If this is intended, run {sys.argv[0]} {sys.argv[1]} --accept, and commit {FIGURES.name}.")
    sys.exit("\n".join(lines))


def circumstances() -> dict[str, str]:
    """What the figures depend on besides the code; reported when they differ."""
    swift = subprocess.run("swift --version", shell=True, capture_output=True, text=True).stdout
    return {
        "machine": platform.machine(),
        "Swift": (re.search(r"Swift version (\S+)", swift) or ["", "unknown"])[1],
        "libc": " ".join(platform.libc_ver()),
        "valgrind": run([shutil.which("valgrind"), "--version"]).strip().removeprefix("valgrind-"),
    }


if __name__ == "__main__":
    main()

"""Two cores against one."""

import contextlib

import wrk
from measure import Bench, bare, interleave, loaded
from processes import Unavailable, two_cores
from report import Section
from service import Assay, apple, settings


def measure(bench: Bench, section: Section) -> None:
    cores = two_cores()
    if len(cores) < 2:
        raise Unavailable("there is only one core")
    made = bench.pools
    with contextlib.ExitStack() as stack:

        def service(confined: list[int]) -> Assay:
            content = settings([apple(jwks_file=str(made.key_set))])
            return stack.enter_context(Assay(bench.assay, bench.directory, content, cores=confined))

        def both(seconds: float) -> wrk.Figures:
            found = bench.bare(made.tokens("RS256"), "RS256", min(seconds, 2), at_once=2)
            cost = sum(figures.cpu for figures in found) / 2
            return wrk.Figures(0, sum(figures.rate for figures in found), cost, 0, 0)

        one, two = service(cores[:1]), service(cores)
        series = interleave(
            bench,
            {
                "batches of 64, one core": loaded(one, one.port, made.batches("RS256")),
                "batches of 64, two cores": loaded(two, two.port, made.batches("RS256")),
                "single calls, one core": loaded(one, one.port, made.good("RS256")),
                "single calls, two cores": loaded(two, two.port, made.good("RS256")),
                "bare check, one core": bare(bench, "RS256"),
                "bare check, both cores at once": both,
            },
            "cores",
        )
    section.text(
        "The service is confined to one core or to two, and has an event loop on each. The load generator runs on "
        "the same machine. With batches it needs little CPU time, so throughput is compared with batches. The gain "
        "of the bare check from a second core is the most that the machine allows."
    )
    names = list(series)
    section.table(
        ["RS256", "tokens/s", "× one core", "CPU µs a token"],
        [
            [
                name,
                f"{series[name].median('rate'):,.0f}",
                f"{series[name].ratio(series[names[index - index % 2]], 'rate'):.2f}",
                f"{series[name].median():.1f}",
            ]
            for index, name in enumerate(names)
        ],
    )
    section.figures["cores"] = series[names[1]].ratio(series[names[0]], "rate")

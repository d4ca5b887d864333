"""A strict parser for the Prometheus text format: it rejects everything that `promtool` rejects."""

import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}


class Metrics:
    def __init__(self, text: str):
        assert text.endswith("\n")
        self.types: dict[str, str] = {}
        self.help: dict[str, str] = {}
        self.samples: dict[tuple[str, frozenset], float] = {}
        family = None
        closed = set()
        for line in text.splitlines():
            if not line:
                continue
            if match := re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line):
                kind, name, rest = match.groups()
                if name != family:
                    assert name not in closed, f"the samples of {name} are not contiguous"
                    closed.add(family)
                    family = name
                if kind == "TYPE":
                    assert rest in TYPES and name not in self.types, line
                    self.types[name] = rest
                else:
                    assert name not in self.help, line
                    self.help[name] = rest
                continue
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line!r}"
            name, labels, value = match.groups()
            assert family and self._belongs(name, family), f"{line!r} does not belong to the family before it"
            key = (name, frozenset(self._labels(labels or "").items()))
            assert key not in self.samples, f"duplicate: {line!r}"
            self.samples[key] = float(value.replace("Inf", "inf"))
        self._check_histograms()

    def _belongs(self, name: str, family: str) -> bool:
        suffixes = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}
        return name in {family + suffix for suffix in suffixes.get(self.types.get(family, ""), ("",))}

    @staticmethod
    def _labels(text: str) -> dict[str, str]:
        labels, position = {}, 0
        while position < len(text):
            match = LABEL.match(text, position)
            assert match, f"no label: {text!r}"
            assert match[1] not in labels, text
            labels[match[1]] = match[2]
            position = match.end()
        return labels

    def _check_histograms(self) -> None:
        for family, kind in self.types.items():
            if kind != "histogram":
                continue
            series: dict[frozenset, list[tuple[float, float]]] = {}
            for (name, labels), value in self.samples.items():
                if name == family + "_bucket":
                    bound = next(float(text.replace("Inf", "inf")) for label, text in labels if label == "le")
                    rest = frozenset(pair for pair in labels if pair[0] != "le")
                    series.setdefault(rest, []).append((bound, value))
            for rest, buckets in series.items():
                buckets.sort()
                assert buckets[-1][0] == math.inf, f"{family} without +Inf"
                counts = [count for _, count in buckets]
                assert counts == sorted(counts), f"{family} is not cumulative"
                assert self.samples[(family + "_count", rest)] == counts[-1]
                assert (family + "_sum", rest) in self.samples

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples with these labels."""
        wanted = set(labels.items())
        return sum(value for (found, has), value in self.samples.items() if found == name and wanted <= set(has))

    def label_values(self, name: str, label: str) -> set[str]:
        return {dict(has)[label] for (found, has) in self.samples if found == name and label in dict(has)}


def overloaded(service) -> dict[str, float]:
    """The number of shed requests by limit, without zeros."""
    found = Metrics(service.admin.get("/metrics").text)
    name = "assay_overloaded_total"
    counts = {limit: found.value(name, limit=limit) for limit in found.label_values(name, "limit")}
    assert set(counts) == {"max_connections", "max_in_flight", "max_buffered", "queue_timeout"}
    return {limit: count for limit, count in counts.items() if count}


def verified(service) -> float:
    """The number of verified tokens."""
    return Metrics(service.admin.get("/metrics").text).value("assay_verifications_total", code="ok")

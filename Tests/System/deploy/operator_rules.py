"""Generates the PrometheusRule and the dashboard in `deploy/kubernetes` from the files in `deploy/observability`.

    python Tests/System/deploy/operator_rules.py
"""

import pathlib
import re

DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "deploy"
ALERTS = DEPLOY / "observability/alerts.yaml"
FILE = DEPLOY / "kubernetes/components/prometheus-operator/prometheusrule.yaml"
DASHBOARD = DEPLOY / "observability/dashboard.json"
DASHBOARD_COPY = DEPLOY / "kubernetes/components/grafana-dashboard/dashboard.json"
HEAD = """\
# The rules of `observability/alerts.yaml` for the Prometheus operator. Change them there, then run
# `python Tests/System/deploy/operator_rules.py`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: assay
  labels: { app.kubernetes.io/name: assay }
spec:
"""


def text() -> str:
    groups = re.search(r"(?ms)^groups:\n.*", ALERTS.read_text(encoding="utf-8"))[0]
    return HEAD + re.sub(r"(?m)^(?=.)", "  ", groups)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    DASHBOARD_COPY.write_bytes(DASHBOARD.read_bytes())

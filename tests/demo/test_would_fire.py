from demo.measures import AxisShare
from demo.programs import ROOT
from demo.would_fire import would_fire

ALERT = "CitationValidityBurnFast"


def test_the_alert_would_fire_above_the_rule_s_own_line() -> None:
    alert = would_fire(ALERT, "demo-agent", AxisShare(good=2, bad=18, unscorable=0))
    assert alert is not None
    assert alert["labels"]["alertname"] == ALERT
    assert alert["labels"]["severity"] == "page"
    assert "demo-agent" in alert["annotations"]["summary"]
    assert "18" not in alert["annotations"]["summary"]
    assert "90% of 20 scored runs" in alert["annotations"]["description"]
    assert (ROOT / alert["annotations"]["runbook_url"]).is_file()


def test_it_would_not_fire_on_good_runs_on_few_or_on_none() -> None:
    for share in (AxisShare(18, 2, 0), AxisShare(0, 2, 0), AxisShare(0, 0, 50)):
        assert would_fire(ALERT, "demo-agent", share) is None

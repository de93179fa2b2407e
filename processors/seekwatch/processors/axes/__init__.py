"""The four axes, one module each; every one is `judge(run: RunView) -> AxisVerdict`."""

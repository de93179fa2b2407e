"""Settings of the models that judge."""

from typing import Any, cast

from pydantic import SecretStr, field_validator, model_validator

from .declaring import Section, setting
from .pairs import alone


class JudgesSettings(Section):
    """Models that judge a sample of the runs; off until an endpoint is named."""

    endpoint: str = setting(
        "",
        "Base URL of an OpenAI-compatible API, such as `https://host/v1`. Empty: nobody judges.",
        unit="URL",
        pattern=r"^(https?://\S+)?$",
    )
    model: str = setting("", "The model's name there; needed with `endpoint`.", unit="-")
    key: SecretStr | None = setting(
        None, "API key, best given as a variable. Empty: none is sent.", unit="-"
    )
    rubrics: str = setting(
        "claim-support",
        "What is judged: names of rubrics that come with Seekwatch, or paths of YAML files of "
        "one's own, joined by commas.",
        unit="-",
        min_length=1,
    )
    share: float = setting(
        0.05,
        "Share of the traces that is judged, chosen by a hash of their ids. 0: none.",
        unit="ratio",
        ge=0,
        le=1,
    )
    timeout: float = setting(
        15.0,
        "Longest wait for one answer. All of an episode end with `worker.evidence_deadline`.",
        unit="seconds",
        gt=0,
        le=600,
    )
    threads: int = setting(2, "Answers waited for at a time.", unit="count", ge=1, le=64)
    calls_per_hour: int = setting(
        200, "Calls in any hour; beyond it nothing is judged. 0: none.", unit="count", ge=0
    )
    dollars_per_hour: float | None = setting(
        None,
        "US dollars in any hour; needs the two prices. 0: nothing that has a price is asked. "
        "Empty: only the number of calls is limited.",
        unit="usd",
        ge=0,
    )
    input_price: float | None = setting(
        None, "US dollars per million tokens read. 0: free. Empty: not known.", unit="usd", ge=0
    )
    output_price: float | None = setting(
        None, "US dollars per million tokens written. 0: free. Empty: not known.", unit="usd", ge=0
    )
    remembered: int = setting(
        4096,
        "Judgements kept in memory, so that the same text is judged once.",
        unit="count",
        ge=1,
    )

    @field_validator("rubrics", mode="before")
    @classmethod
    def _join(cls, value: Any) -> Any:
        return ",".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else value

    @property
    def rubric_names(self) -> list[str]:
        """The rubrics one by one."""
        return [name.strip() for name in self.rubrics.split(",") if name.strip()]

    @model_validator(mode="after")
    def _fit_together(self) -> "JudgesSettings":
        if self.endpoint and not self.model:
            raise alone("endpoint", self.endpoint, "judges.model")
        if self.dollars_per_hour is not None:
            for name in ("input_price", "output_price"):
                if getattr(self, name) is None:
                    raise alone("dollars_per_hour", self.dollars_per_hour, f"judges.{name}")
        return self

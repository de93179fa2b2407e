"""Cleans what carries spans and metrics: resources, instrumentation scopes, points of metrics.

A resource may hold the command line of the process, a scope or a point whatever its author thought
of. Resources and scopes are few and live long, so each is cleaned once.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from opentelemetry.sdk.metrics.export import MetricsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from seekwatch.core.redaction import Redactor

from .masking import Masking
from .withholding import Withholder

_T = TypeVar("_T")
_MOST_KEPT: Final = 256


class Carriers:
    """Cleans resources, scopes and metrics.

    Args:
        redactor: what a secret is.
        withholder: set where content must not leave the process.
    """

    def __init__(self, redactor: Redactor, withholder: Withholder | None) -> None:
        self._redactor = redactor
        self._withholder = withholder
        self._cleaned: dict[int, tuple[Any, Any]] = {}

    def attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return attributes as they may leave."""
        ready = Masking(self._redactor).attributes(values)
        return ready if self._withholder is None else self._withholder.attributes(ready)

    def resource(self, resource: Resource) -> Resource:
        """Return a resource as it may leave; the same one where nothing is to be cleaned."""
        kept = self._kept(resource)
        if kept is not None:
            return kept
        held = dict(resource.attributes)
        ready = self.attributes(held)
        return self._keep(
            resource, resource if ready == held else Resource(ready, resource.schema_url)
        )

    def scope(self, scope: InstrumentationScope | None) -> InstrumentationScope | None:
        """Return a scope as it may leave; the same one where nothing is to be cleaned."""
        if scope is None or not scope.attributes:
            return scope
        kept = self._kept(scope)
        if kept is not None:
            return kept
        held = dict(scope.attributes)
        ready = self.attributes(held)
        if ready == held:
            return self._keep(scope, scope)
        return self._keep(
            scope, InstrumentationScope(scope.name, scope.version, scope.schema_url, ready)
        )

    def _kept(self, original: _T) -> _T | None:
        found = self._cleaned.get(id(original))
        return found[1] if found is not None and found[0] is original else None

    def _keep(self, original: _T, cleaned: _T) -> _T:
        if len(self._cleaned) >= _MOST_KEPT:
            self._cleaned.clear()
        # With the original, so that its id stays its own.
        self._cleaned[id(original)] = (original, cleaned)
        return cleaned

    def metrics(self, data: MetricsData) -> MetricsData:
        """Return metrics as they may leave."""
        return dataclasses.replace(
            data,
            resource_metrics=[
                dataclasses.replace(
                    each,
                    resource=self.resource(each.resource),
                    scope_metrics=[
                        dataclasses.replace(
                            scoped,
                            scope=self.scope(scoped.scope) or scoped.scope,
                            metrics=[self._metric(metric) for metric in scoped.metrics],
                        )
                        for scoped in each.scope_metrics
                    ],
                )
                for each in data.resource_metrics
            ],
        )

    def _metric(self, metric: Any) -> Any:
        points = [self._point(point) for point in metric.data.data_points]
        return dataclasses.replace(
            metric, data=dataclasses.replace(metric.data, data_points=points)
        )

    def _point(self, point: Any) -> Any:
        exemplars = [
            dataclasses.replace(
                each, filtered_attributes=self.attributes(each.filtered_attributes or {})
            )
            for each in point.exemplars or ()
        ]
        return dataclasses.replace(
            point, attributes=self.attributes(point.attributes or {}), exemplars=exemplars
        )

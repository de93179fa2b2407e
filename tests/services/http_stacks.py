"""The HTTP libraries of agents behind one small interface, for tests that want the same of each."""

import asyncio
import gc
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, TypeVar

import aiohttp
import httpx
import httpx2
import requests
import urllib3

_T = TypeVar("_T")


@dataclass(frozen=True)
class Got:
    """What the agent sees of an answer."""

    status: int
    body: bytes


class Stack(Protocol):
    """One library as an agent uses it."""

    @property
    def name(self) -> str: ...

    @property
    def refused(self) -> type[Exception]:
        """What is raised when nobody listens."""
        ...

    @property
    def timed_out(self) -> type[Exception]: ...

    @property
    def broken(self) -> type[Exception]:
        """What is raised when a body breaks off."""
        ...

    def fetch(
        self,
        url: str,
        method: str = "GET",
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        follow: bool = True,
        timeout: float = 20.0,
    ) -> Got:
        """Fetch a page and read it."""
        ...

    def stream(self, url: str) -> bytes:
        """Read a body in chunks, all of it."""
        ...

    def peek(self, url: str) -> bytes:
        """Read the first chunk of a body and close it."""
        ...

    def ignore(self, url: str) -> int:
        """Close a body unread; returns the status."""
        ...

    def drop(self, url: str) -> None:
        """Forget a response neither read nor closed."""
        ...


class HttpxStack:
    """httpx and httpx2, synchronous."""

    def __init__(self, library: ModuleType) -> None:
        self._library: Any = library
        self.name = library.__name__
        self.refused: type[Exception] = self._library.ConnectError
        self.timed_out: type[Exception] = self._library.ReadTimeout
        self.broken: type[Exception] = self._library.RemoteProtocolError

    def fetch(
        self,
        url: str,
        method: str = "GET",
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        follow: bool = True,
        timeout: float = 20.0,
    ) -> Got:
        with self._library.Client(follow_redirects=follow, timeout=timeout) as client:
            options: dict[str, Any] = {"headers": headers, "json": json, "data": form}
            if params:
                options["params"] = params
            response = client.request(method, url, **options)
        return Got(response.status_code, response.content)

    def stream(self, url: str) -> bytes:
        with self._library.Client() as client, client.stream("GET", url) as response:
            return b"".join(response.iter_bytes())

    def peek(self, url: str) -> bytes:
        with self._library.Client() as client, client.stream("GET", url) as response:
            first: bytes = next(response.iter_raw())
            return first

    def ignore(self, url: str) -> int:
        with self._library.Client() as client, client.stream("GET", url) as response:
            status: int = response.status_code
            return status

    def drop(self, url: str) -> None:
        client = self._library.Client()
        client.send(client.build_request("GET", url), stream=True)
        gc.collect()
        client.close()


class HttpxAsyncStack(HttpxStack):
    """httpx and httpx2 under asyncio."""

    def __init__(self, library: ModuleType) -> None:
        super().__init__(library)
        self.name = f"{library.__name__}-async"

    def fetch(self, url: str, method: str = "GET", **options: Any) -> Got:
        return asyncio.run(self._fetch(url, method, **options))

    async def _fetch(
        self,
        url: str,
        method: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        follow: bool = True,
        timeout: float = 20.0,
    ) -> Got:
        async with self._library.AsyncClient(follow_redirects=follow, timeout=timeout) as client:
            options: dict[str, Any] = {"headers": headers, "json": json, "data": form}
            if params:
                options["params"] = params
            response = await client.request(method, url, **options)
        return Got(response.status_code, response.content)

    def stream(self, url: str) -> bytes:
        async def work() -> bytes:
            async with self._library.AsyncClient() as client, client.stream("GET", url) as response:
                return b"".join([chunk async for chunk in response.aiter_bytes()])

        return asyncio.run(work())

    def peek(self, url: str) -> bytes:
        async def work() -> bytes:
            async with self._library.AsyncClient() as client, client.stream("GET", url) as response:
                first: bytes = await anext(response.aiter_raw())
                return first

        return asyncio.run(work())

    def ignore(self, url: str) -> int:
        async def work() -> int:
            async with self._library.AsyncClient() as client, client.stream("GET", url) as response:
                status: int = response.status_code
                return status

        return asyncio.run(work())

    def drop(self, url: str) -> None:
        async def work() -> None:
            async with self._library.AsyncClient() as client:
                await client.send(client.build_request("GET", url), stream=True)

        asyncio.run(work())
        gc.collect()


class RequestsStack:
    """requests."""

    name = "requests"
    refused: type[Exception] = requests.ConnectionError
    timed_out: type[Exception] = requests.ReadTimeout
    broken: type[Exception] = requests.exceptions.ChunkedEncodingError

    def fetch(
        self,
        url: str,
        method: str = "GET",
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        follow: bool = True,
        timeout: float = 20.0,
    ) -> Got:
        with requests.Session() as session:
            response = session.request(
                method,
                url,
                headers=headers,
                json=json,
                data=form,
                params=params,
                allow_redirects=follow,
                timeout=timeout,
            )
        return Got(response.status_code, response.content)

    def stream(self, url: str) -> bytes:
        with requests.get(url, stream=True, timeout=5) as response:
            return b"".join(response.iter_content(1000))

    def peek(self, url: str) -> bytes:
        with requests.get(url, stream=True, timeout=5) as response:
            first: bytes = next(response.iter_content(1000))
            return first

    def ignore(self, url: str) -> int:
        with requests.get(url, stream=True, timeout=5) as response:
            return response.status_code

    def drop(self, url: str) -> None:
        with requests.Session() as session:
            session.get(url, stream=True, timeout=5)


class Urllib3Stack:
    """urllib3, without the retries that it has by default."""

    name = "urllib3"
    refused: type[Exception] = urllib3.exceptions.NewConnectionError
    timed_out: type[Exception] = urllib3.exceptions.ReadTimeoutError
    broken: type[Exception] = urllib3.exceptions.ProtocolError

    def fetch(
        self,
        url: str,
        method: str = "GET",
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        follow: bool = True,
        timeout: float = 20.0,
    ) -> Got:
        options: dict[str, Any] = {"headers": dict(headers) if headers else None}
        if json is not None:
            options |= _json_body(json, headers)
        if form is not None:
            options |= {"fields": dict(form), "encode_multipart": False}
        if params is not None:
            options |= {"fields": dict(params)}
        with urllib3.PoolManager(timeout=timeout) as pools:
            retries = urllib3.Retry(
                total=30, connect=False, read=False, redirect=20, respect_retry_after_header=False
            )
            response = pools.request(method, url, redirect=follow, retries=retries, **options)
            return Got(response.status, response.data)

    def stream(self, url: str) -> bytes:
        with urllib3.PoolManager() as pools:
            response = pools.request("GET", url, preload_content=False)
            return b"".join(response.stream(1000, decode_content=True))

    def peek(self, url: str) -> bytes:
        with urllib3.PoolManager() as pools:
            response = pools.request("GET", url, preload_content=False)
            first = next(iter(response.stream(1000, decode_content=True)))
            response.close()
            return first

    def ignore(self, url: str) -> int:
        with urllib3.PoolManager() as pools:
            response = pools.request("GET", url, preload_content=False)
            response.close()
            return response.status

    def drop(self, url: str) -> None:
        with urllib3.PoolManager() as pools:
            pools.request("GET", url, preload_content=False)


def _json_body(value: object, headers: Mapping[str, str] | None) -> dict[str, Any]:
    # urllib3 1.26 knows no `json`.
    return {
        "body": json.dumps(value).encode(),
        "headers": {"Content-Type": "application/json", **(headers or {})},
    }


class AiohttpStack:
    """aiohttp."""

    name = "aiohttp"
    refused: type[Exception] = aiohttp.ClientConnectorError
    timed_out: type[Exception] = asyncio.TimeoutError
    broken: type[Exception] = aiohttp.ClientPayloadError

    def fetch(self, url: str, method: str = "GET", **options: Any) -> Got:
        return asyncio.run(self._fetch(url, method, **options))

    async def _fetch(
        self,
        url: str,
        method: str,
        *,
        form: Mapping[str, str] | None = None,
        follow: bool = True,
        timeout: float = 20.0,
        **options: Any,
    ) -> Got:
        limit = aiohttp.ClientTimeout(total=timeout)
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                method,
                url,
                data=form,
                allow_redirects=follow,
                timeout=limit,
                max_redirects=20,
                **options,
            ) as response,
        ):
            return Got(response.status, await response.read())

    def stream(self, url: str) -> bytes:
        async def work(response: aiohttp.ClientResponse) -> bytes:
            return b"".join([chunk async for chunk in response.content.iter_chunked(1000)])

        return self._with(url, work)

    def peek(self, url: str) -> bytes:
        async def work(response: aiohttp.ClientResponse) -> bytes:
            return await response.content.readany()

        return self._with(url, work)

    def ignore(self, url: str) -> int:
        async def work(response: aiohttp.ClientResponse) -> int:
            return response.status

        return self._with(url, work)

    def drop(self, url: str) -> None:
        async def work() -> None:
            async with aiohttp.ClientSession() as session:
                await session.get(url)

        asyncio.run(work())
        gc.collect()

    @staticmethod
    def _with(url: str, use: Callable[[aiohttp.ClientResponse], Coroutine[Any, Any, _T]]) -> _T:
        async def work() -> _T:
            async with aiohttp.ClientSession() as session, session.get(url) as response:
                return await use(response)

        return asyncio.run(work())


STACKS: tuple[Stack, ...] = (
    HttpxStack(httpx),
    HttpxAsyncStack(httpx),
    HttpxStack(httpx2),
    HttpxAsyncStack(httpx2),
    RequestsStack(),
    Urllib3Stack(),
    AiohttpStack(),
)

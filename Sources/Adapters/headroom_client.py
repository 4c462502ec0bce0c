"""Headroom inside a Python program: OpenAI's and Anthropic's SDKs, or any httpx client, by one line.

    from openai import OpenAI
    import headroom_client

    client = OpenAI(http_client=headroom_client.http_client(pool="openai:gpt-4o", tenant="acme"))

    from anthropic import AsyncAnthropic
    client = AsyncAnthropic(http_client=headroom_client.async_http_client(pool="anthropic:claude", tenant="acme"))

Each call waits for its turn before it is sent, and what it really cost is read from its answer, after streams too. When its wait is
over, the SDK gets a 429 with the time after which it should try again, and does. A request may say more in the headers of
`extra_headers`: x-headroom-tenant, x-headroom-criticality, x-headroom-max-wait-ms, x-headroom-task, x-headroom-task-kind.

Around calls of other clients:

    with headroom_client.call(pool="openai:gpt-4o", tenant="acme", input_tokens=1200, max_tokens=300) as slot:
        answer = …
        slot.answered(200, answer.headers, input_tokens=1180, output_tokens=250)

Copy this file and `headroom_litellm.py`, which has the law and the connection, into the program's folder. Settings are the same
environment variables; HEADROOM_TENANT_NAME is the tenant where none is given. The SDKs are built on httpx, newer ones on httpx2, and
get a client of the same; `call` needs neither.
"""

import asyncio
import contextlib
import functools
import importlib
import json
import os
import sys

from headroom_litellm import Denied, Headroom, Slot, comes_back, size_of, wishes_of

__all__ = ["http_client", "async_http_client", "call", "Denied", "Headroom", "Slot"]

_headroom = Headroom()


@contextlib.contextmanager
def call(pool, tenant, headroom=None, **wishes):
    """Waits for a turn; raises Denied. `wishes` are those of `Headroom.ask`. A slot that was not answered counts as an error when
    the block raised, else as a success at its estimate."""
    slot = (headroom or _headroom).ask(pool, tenant, **wishes)
    try:
        slot.wait()
    except BaseException:
        slot.cancel()
        raise
    try:
        yield slot
    except BaseException:
        slot.answered(500)
        raise
    slot.answered(200)


def http_client(pool, tenant=None, headroom=None, **options):
    """An `httpx.Client` whose calls wait for their turn; for `OpenAI(http_client=…)` and `Anthropic(http_client=…)`.

    `options` are those of httpx's client; `httpx=` names the library, where a program has both.
    """
    return _client("Client", "HTTPTransport", pool, tenant, headroom, options)


def async_http_client(pool, tenant=None, headroom=None, **options):
    """The same for `AsyncOpenAI` and `AsyncAnthropic`."""
    return _client("AsyncClient", "AsyncHTTPTransport", pool, tenant, headroom, options)


def _client(kind, inner, pool, tenant, headroom, options):
    httpx = _library(options.pop("httpx", None))
    options.setdefault("timeout", httpx.Timeout(600, connect=5))
    transport = _transport(httpx)(
        _Turns(pool, tenant, headroom, httpx), options.pop("transport", None) or getattr(httpx, inner)())
    return getattr(httpx, kind)(transport=transport, **options)


def _library(given):
    """httpx or httpx2: the one that is given, else that of the SDK which the program has imported, else what is installed."""
    if given is not None:
        return given
    for sdk in ("openai", "anthropic"):
        module = sys.modules.get(f"{sdk}._base_client")
        for name in ("httpx2", "httpx"):
            if hasattr(module, name):
                return getattr(module, name)
    try:
        return importlib.import_module("httpx2")
    except ImportError:
        return importlib.import_module("httpx")


class _Turns:
    """What both transports do besides sending."""

    def __init__(self, pool, tenant, headroom, httpx):
        self.httpx = httpx
        self.pool, self.headroom = pool, headroom or _headroom
        self.tenant = tenant or os.environ.get("HEADROOM_TENANT_NAME", "unknown")

    def begin(self, request, content):
        """A slot; None for requests that are no calls of a model, such as a list of models."""
        if request.method != "POST":
            return None
        try:
            body = json.loads(content)
        except ValueError:
            body = {}
        body = body if isinstance(body, dict) else {}
        headers = {name.lower(): value for name, value in request.headers.items()}
        characters, bound = size_of(body)
        read_timeout = request.extensions.get("timeout", {}).get("read")
        wishes = wishes_of(headers, body)
        return self.headroom.ask(
            self.pool, headers.get("x-headroom-tenant") or self.tenant, characters=characters, max_tokens=bound,
            attempt=int(headers.get("x-stainless-retry-count") or 0) + 1, model=body.get("model"),
            endpoint=request.url.path, comes_back=comes_back(headers), **dict(wishes, timeout=wishes["timeout"] or read_timeout))

    def refusal(self, request, denied):
        timeout = request.extensions.get("timeout", {}).get("read")
        error = {"message": str(denied), "type": "rate_limit_error", "code": "rate_limit_exceeded"}
        return self.httpx.Response(
            429, headers=denied.headers(timeout), json={"type": "error", "error": error}, request=request)


class _Reading:
    """Reads tokens out of an answer as it passes; keeps no more than its last part."""

    MOST = 1 << 20

    def __init__(self, slot, status, headers):
        self.slot, self.status, self.headers = slot, status, headers
        self.is_stream = "text/event-stream" in headers.get("content-type", "")
        self.kept = b""
        self.input_tokens = self.output_tokens = self.cached_tokens = None

    def take(self, chunk):
        self.kept += chunk
        if self.is_stream:
            *lines, self.kept = self.kept.split(b"\n")
            for line in lines:
                if line.startswith(b"data:") and b'usage"' in line:
                    self.read(line[5:])
        self.kept = self.kept[-self.MOST:]

    def read(self, text):
        try:
            event = json.loads(text)
        except ValueError:
            return
        for part in (event, event.get("message"), event.get("response")):
            usage = part.get("usage") if isinstance(part, dict) else None
            if not isinstance(usage, dict):
                continue
            cached = (usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}).get("cached_tokens")
            counts = (
                usage.get("prompt_tokens", usage.get("input_tokens")),
                usage.get("completion_tokens", usage.get("output_tokens")), usage.get("cache_read_input_tokens", cached))
            known = (self.input_tokens, self.output_tokens, self.cached_tokens)
            self.input_tokens, self.output_tokens, self.cached_tokens = (
                old if new is None else new for new, old in zip(counts, known))

    def end(self):
        body = ""
        if not self.is_stream:
            self.read(self.kept)
            body = self.kept.decode(errors="replace") if self.status >= 400 else ""
        self.slot.answered(
            self.status, self.headers, body, self.input_tokens, self.output_tokens, self.cached_tokens)


@functools.lru_cache
def _transport(httpx):
    """A transport of that library, for clients and async clients alike: both carry out the same steps."""

    class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
        """Passes an answer on, and settles its slot when it ends or is closed before."""

        def __init__(self, response, reading):
            self.response, self.reading = response, reading

        def __iter__(self):
            for chunk in self.response.stream:
                self.reading.take(chunk)
                yield chunk

        async def __aiter__(self):
            async for chunk in self.response.stream:
                self.reading.take(chunk)
                yield chunk

        def close(self):
            self.reading.end()
            self.response.close()

        async def aclose(self):
            self.reading.end()
            await self.response.aclose()

    class Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
        def __init__(self, turns, inner):
            self.turns, self.inner = turns, inner

        def steps(self, request, content):
            """One call: yields what is to be done, a slot to wait for or a request to send, and is sent the result."""
            slot = self.turns.begin(request, content)
            if slot is None:
                return (yield request)
            try:
                yield slot
                # The tokens are read as they pass, which a compressed answer would not allow.
                request.headers["accept-encoding"] = "identity"
                response = yield request
            except Denied as denied:
                return self.turns.refusal(request, denied)
            except BaseException:
                slot.cancel()
                raise
            headers = {name.lower(): value for name, value in response.headers.items()}
            reading = _Reading(slot, response.status_code, headers)
            return httpx.Response(
                response.status_code, headers=response.headers, stream=Stream(response, reading),
                extensions=response.extensions)

        def handle_request(self, request):
            steps = self.steps(request, request.read())
            resume, result = steps.send, None
            while True:
                try:
                    step = resume(result)
                except StopIteration as end:
                    return end.value
                try:
                    resume = steps.send
                    result = step.wait() if isinstance(step, Slot) else self.inner.handle_request(step)
                except BaseException as error:
                    resume, result = steps.throw, error

        async def handle_async_request(self, request):
            steps = self.steps(request, await request.aread())
            resume, result = steps.send, None
            while True:
                try:
                    step = resume(result)
                except StopIteration as end:
                    return end.value
                try:
                    resume = steps.send
                    if isinstance(step, Slot):
                        result = await asyncio.wrap_future(step.future)
                    else:
                        result = await self.inner.handle_async_request(step)
                except BaseException as error:
                    resume, result = steps.throw, error

        def close(self):
            self.inner.close()

        async def aclose(self):
            await self.inner.aclose()

    return Transport

"""OpenAI's and Anthropic's SDKs, or any httpx client, behind `headroom gate`, by one line.

    from openai import OpenAI
    import headroom_client

    client = OpenAI(http_client=headroom_client.http_client(pool="openai:gpt-4o", tenant="acme"))

    from anthropic import AsyncAnthropic
    client = AsyncAnthropic(http_client=headroom_client.async_http_client(pool="anthropic:claude", tenant="acme"))

Each call asks the gate before it is sent, and the gate hears what the call cost, after streams too. When its wait is over, the SDK gets
a 429 with the time after which it should try again, and does. One request may say more in the headers of `extra_headers`:
x-headroom-tenant, x-headroom-criticality, x-headroom-max-wait-ms, x-headroom-task and the others that the gate reads.

Around calls of other clients:

    with headroom_client.call(pool="openai:gpt-4o", tenant="acme", input_tokens=1200, max_tokens=300) as slot:
        answer = …
        slot.answered(200, answer.headers, usage=answer.json()["usage"])

The file needs Python 3.9 and the standard library; httpx (or httpx2) is imported for the clients alone. Settings:

    HEADROOM_GATE                where the gate listens: http://127.0.0.1:8421 (the default) or unix:/run/headroom/gate.sock
    HEADROOM_TENANT_NAME         the tenant where none is given
    HEADROOM_MAX_WAIT_SECONDS    the longest wait of a call that names none; default 30
    HEADROOM_GATE_GONE           what becomes of calls while the gate is away: pass (the default) or refuse
"""

import asyncio
import atexit
import collections
import contextlib
import functools
import importlib
import json
import logging
import os
import queue
import socket
import sys
import threading
import time
import urllib.parse
import weakref

__all__ = ["http_client", "async_http_client", "call", "async_call", "Denied", "Gate", "Slot"]

log = logging.getLogger("headroom")


class Denied(Exception):
    """The call may not be sent. `headers` and `body` are an answer that OpenAI's and Anthropic's SDKs obey."""

    def __init__(self, status, headers, body):
        super().__init__(f"Headroom: {status} {body.decode(errors='replace')}")
        self.status, self.headers, self.body = status, headers, body

    @property
    def retry_after(self):
        """Seconds after which another try is worth while; None if none is."""
        milliseconds = self.headers.get("retry-after-ms")
        return float(milliseconds) / 1000 if milliseconds and self.headers.get("x-should-retry") != "false" else None


class Slot:
    """A call that may be sent. Its holder says how it ended, once: `answered` or `cancel`."""

    def __init__(self, gate, tenant, id=None, pool=None):
        self.gate, self.tenant, self.id, self.pool = gate, tenant, id, pool
        self.begun = time.monotonic()

    def answered(self, status, headers=(), usage=None, body=None):
        """The provider's answer: its `usage` as the provider spells it, and the body of a failure."""
        report = {
            "status": status, "latency_ms": round((time.monotonic() - self.begun) * 1000, 1),
            "headers": {str(name).lower(): str(value) for name, value in dict(headers or {}).items()}}
        if usage:
            report["body"] = {"usage": usage}
        elif body and status >= 400:
            report["body"] = body[:4096]
        self._end("POST", "/done", json.dumps(report).encode())

    def failed(self, outcome):
        """There was no answer: "timeout" or "connection"."""
        self._end("POST", "/done", json.dumps({"outcome": outcome}).encode())

    def cancel(self):
        """The call was not sent."""
        self._end("DELETE", "", b"")

    def _end(self, method, path, body):
        id, self.id = self.id, None
        if id is not None:
            self.gate.tell(_request(method, f"/v1/slots/{id}{path}", {"content-type": "application/json"}, body))


def _request(method, path, headers, body=b""):
    head = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(body)}"]
    head += [f"{name}: {value}" for name, value in headers.items() if "\n" not in f"{name}{value}"]
    return "\r\n".join(head).encode("utf-8", "replace") + b"\r\n\r\n" + body


def _head(data):
    """(status, headers by names in lower case) of an answer's head."""
    first, *lines = data.decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines if line)
    return int(first.split(" ", 2)[1]), {name.strip().lower(): value.strip() for name, _, value in fields}


class _Connection:
    """One to the gate, which answers with Content-Length or without a body."""

    def __init__(self, gate, timeout=None):
        if gate.path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(Gate.CONNECT_SECONDS)
            self.socket.connect(gate.path)
        else:
            self.socket = socket.create_connection((gate.host, gate.port), Gate.CONNECT_SECONDS)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(timeout)

    def exchange(self, request):
        self.socket.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._read()
        head, _, body = data.partition(b"\r\n\r\n")
        status, headers = _head(head)
        while len(body) < int(headers.get("content-length", 0)):
            body += self._read()
        return status, headers, body

    def _read(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the gate closed the connection")
        return data

    def abort(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.socket.close()


class Gate:
    """The gate beside this program.

    One thread tells it how calls ended, and while calls wait it looks each second whether the gate is alive: so a gate that hangs holds
    nobody for longer than six seconds. Calls that passed while it was away are counted, and told when it is back.
    """

    CONNECT_SECONDS = 0.5
    LOOK_SECONDS = 1.0
    ANSWER_SECONDS = 2.0
    #: Ends that are not told yet; older ones go first. Their slots then count at their estimate.
    MOST_ENDS = 10_000
    MOST_KEPT = 64
    #: Of a call that the gate reads; of a larger one it hears the size.
    MOST_BYTES = 1_000_000
    #: A slot that nobody ends counts as sent after the SDKs' own time-out.
    SLOT_MILLISECONDS = 600_000

    def __init__(self, address=None, when_gone=None, max_wait=None):
        environ = os.environ.get
        address = address or environ("HEADROOM_GATE") or "http://127.0.0.1:8421"
        self.when_gone = when_gone or environ("HEADROOM_GATE_GONE") or "pass"
        self.max_wait = float(max_wait if max_wait is not None else environ("HEADROOM_MAX_WAIT_SECONDS") or 30)
        url = urllib.parse.urlsplit(address)
        self.path = address[5:] if address.startswith("unix:") else None
        if self.when_gone not in ("pass", "refuse"):
            raise ValueError(f"HEADROOM_GATE_GONE={self.when_gone}: must be pass or refuse")
        if not self.path and (url.scheme != "http" or not url.hostname):
            raise ValueError(f"HEADROOM_GATE={address}: must be as http://127.0.0.1:8421 or unix:/run/headroom/gate.sock")
        self.host, self.port = url.hostname, url.port or 8421
        self.lock = threading.Lock()
        self.pid = None

    def _begin(self):
        """Once in each process: a fork inherits no threads, and must not use its parent's connections."""
        with self.lock:
            if self.pid == os.getpid():
                return
            self.is_gone, self.waits, self.idle, self.late = False, {}, [], 0
            self.idle_of_loops = weakref.WeakKeyDictionary()
            self.ends = queue.Queue()
            self.missed, self.missed_bytes = collections.Counter(), collections.Counter()
            self.pid = os.getpid()
            threading.Thread(target=self._watch, name="headroom gate", daemon=True).start()
            atexit.register(self.flush)

    def flush(self, seconds=0.5):
        """Waits until the gate knows how the calls so far have ended."""
        end = time.monotonic() + seconds
        while self.pid == os.getpid() and self.ends.unfinished_tasks and not self.is_gone and time.monotonic() < end:
            time.sleep(0.01)

    # Before a call

    def ask(self, headers, body=b"", path="/"):
        """Waits for the call's turn; raises Denied. `headers` (names in lower case) are those of the call, with x-headroom-tenant and
        x-headroom-pool; by `body`, the call's own, the gate estimates what it costs."""
        self._begin()
        request, seconds = self._question(headers, body, path)
        while not self.is_gone:
            kept = self._kept()
            connection, wait = kept, _Wait(seconds)
            try:
                connection = kept or _Connection(self)
                with self._watched(wait, connection.abort):
                    reply = connection.exchange(request)
            except (OSError, ValueError):
                if kept and not wait.is_over:
                    continue  # The gate had closed it.
                self._lose(wait)
                break
            except BaseException:
                connection.close()
                raise
            self.idle.append(connection)
            return self._slot(headers, reply)
        return self._miss(headers, body)

    async def async_ask(self, headers, body=b"", path="/"):
        """The same in a coroutine. One that is cancelled gives its place up."""
        self._begin()
        request, seconds = self._question(headers, body, path)
        loop = asyncio.get_running_loop()
        idle = self.idle_of_loops.setdefault(loop, [])
        while not self.is_gone:
            kept = idle.pop() if idle else None
            reader = writer = None
            wait = _Wait(seconds)
            try:
                reader, writer = kept or await asyncio.wait_for(self._open(), self.CONNECT_SECONDS)
                with self._watched(wait, functools.partial(loop.call_soon_threadsafe, writer.transport.abort)):
                    writer.write(request)
                    status, fields = _head(await reader.readuntil(b"\r\n\r\n"))
                    reply = status, fields, await reader.readexactly(int(fields.get("content-length", 0)))
            except (OSError, EOFError, ValueError, asyncio.TimeoutError):
                if writer:
                    writer.close()
                if kept and not wait.is_over:
                    continue
                self._lose(wait)
                break
            except BaseException:
                if writer:
                    writer.transport.abort()
                raise
            if len(idle) < self.MOST_KEPT:
                idle.append((reader, writer))
            else:
                writer.close()
            return self._slot(headers, reply)
        return self._miss(headers, body)

    def _question(self, headers, body, path):
        """The request, and the seconds after which no answer will come any more."""
        fields = {
            name: value for name, value in headers.items()
            if name.startswith(("x-headroom-", "x-stainless-", "x-litellm-", "x-llm-d-", "x-claude-code-"))
            or name in ("baggage", "traceparent", "idempotency-key", "session-id", "thread-id", "x-session-id")}
        if "headroom.max-wait-ms" not in fields.get("baggage", ""):
            timeout = float(fields.get("x-stainless-read-timeout") or 600)
            fields.setdefault("x-headroom-max-wait-ms", str(int(min(self.max_wait, 0.8 * timeout) * 1000)))
        fields["x-original-uri"] = path
        if len(body) > self.MOST_BYTES:
            fields.setdefault("x-headroom-bytes", str(len(body)))
            body = b""
        seconds = float(fields.get("x-headroom-max-wait-ms") or 600_000) / 1000 + 5
        return _request("POST", f"/check?expires_ms={self.SLOT_MILLISECONDS}", fields, body), seconds

    def _kept(self):
        try:
            return self.idle.pop()
        except IndexError:
            return None

    def _open(self):
        return asyncio.open_unix_connection(self.path) if self.path else asyncio.open_connection(self.host, self.port)

    @contextlib.contextmanager
    def _watched(self, wait, abort):
        self.waits[wait] = abort
        try:
            yield
        finally:
            self.waits.pop(wait, None)

    def _slot(self, headers, reply):
        status, fields, body = reply
        if status == 200:
            return Slot(
                self, fields.get("x-headroom-tenant") or headers.get("x-headroom-tenant"),
                fields.get("x-headroom-slot"), fields.get("x-headroom-pool"))
        raise Denied(status, {name: fields[name] for name in REFUSAL_HEADERS if name in fields}, body)

    def _miss(self, headers, body):
        """The gate is away: the call passes and is counted, or is refused."""
        if self.when_gone == "refuse":
            raise Denied(503, {"retry-after": "2", "retry-after-ms": "2000", "x-should-retry": "true"}, GONE_BODY)
        key = headers.get("x-headroom-tenant"), headers.get("x-headroom-pool")
        with self.lock:
            self.missed[key] += 1
            self.missed_bytes[key] += len(body)
        return Slot(self, headers.get("x-headroom-tenant"))

    # After a call

    def tell(self, request):
        """Sends it in time; the caller does not wait."""
        self._begin()
        self.ends.put(request)
        while self.ends.qsize() > self.MOST_ENDS:
            with contextlib.suppress(queue.Empty):
                self.ends.get_nowait()
                self.ends.task_done()

    def _watch(self):
        line, looked = _Line(self), 0.0
        while True:
            if self.is_gone:
                time.sleep(self.LOOK_SECONDS)
            else:
                try:
                    request = self.ends.get(timeout=self.LOOK_SECONDS)
                except queue.Empty:
                    pass
                else:
                    if line.send(request) is None:
                        self.ends.put(request)
                        if line.is_refused:
                            self._lose()
                    self.ends.task_done()
            if self.is_gone or (self.waits and time.monotonic() - looked > self.LOOK_SECONDS):
                looked = time.monotonic()
                self._look(line)

    def _look(self, line):
        if line.send(_request("GET", "/healthz", {})) is None:
            # Late once may be this process.
            self.late += 1
            if self.late > 1 or line.is_refused:
                self._lose()
            return
        self.late = 0
        now = time.monotonic()
        for wait, abort in list(self.waits.items()):
            if now > wait.until:
                wait.is_over = True
                abort()
        if self.is_gone:
            with self.lock:
                missed, sizes = self.missed, self.missed_bytes
                self.missed, self.missed_bytes = collections.Counter(), collections.Counter()
            for (tenant, pool), calls in missed.items():
                report = {"tenant": tenant, "pool": pool, "calls": min(calls, 10_000), "tokens": sizes[tenant, pool] // calls // 4}
                line.send(_request("POST", "/v1/missed", {"content-type": "application/json"}, json.dumps(report).encode()))
            log.warning("the gate is back; %d calls passed while it was away", sum(missed.values()))
            self.is_gone = False

    def _lose(self, wait=None):
        """No answer: until the gate is back nobody asks, and those who wait go on. One `wait` alone that is over loses no gate."""
        if wait is not None and wait.is_over:
            return
        if not self.is_gone:
            self.is_gone = True
            log.warning("the gate does not answer: calls %s until it does", "pass" if self.when_gone == "pass" else "are refused")
        for other, abort in list(self.waits.items()):
            other.is_over = True
            with contextlib.suppress(RuntimeError):  # A loop that has ended.
                abort()


class _Wait:
    """One question that is out."""

    def __init__(self, seconds):
        self.until, self.is_over = time.monotonic() + seconds, False


class _Line:
    """The watching thread's own connection."""

    def __init__(self, gate):
        self.gate, self.connection, self.is_refused = gate, None, False

    def send(self, request):
        """The answer; None if there is none within two seconds. A connection that was kept may have ended: then a second one is tried."""
        while True:
            kept = self.connection
            try:
                self.connection = kept or _Connection(self.gate, Gate.ANSWER_SECONDS)
                return self.connection.exchange(request)
            except (OSError, ValueError) as error:
                if self.connection:
                    self.connection.close()
                self.connection = None
                self.is_refused = not isinstance(error, socket.timeout)
                if kept is None or not self.is_refused:
                    return None


REFUSAL_HEADERS = ("retry-after-ms", "retry-after", "x-should-retry", "ratelimit", "ratelimit-policy", "content-type")
GONE_BODY = b'{"type":"error","error":{"type":"overloaded_error","code":"gate_gone","message":"Headroom\'s gate does not answer"}}'

_gate = None


def default_gate():
    """The one of this program, by the settings above."""
    global _gate
    _gate = _gate or Gate()
    return _gate


def headers_of(pool, tenant, wishes):
    """As the gate reads them: criticality="batch" is x-headroom-criticality: batch."""
    headers = {"x-headroom-" + name.replace("_", "-"): str(value) for name, value in wishes.items() if value is not None}
    return {**headers, "x-headroom-pool": pool, "x-headroom-tenant": tenant}


def _question(pool, tenant, input_tokens, max_tokens, wishes):
    headers = headers_of(pool, tenant, {"tokens": input_tokens, **wishes})
    return headers, json.dumps({} if max_tokens is None else {"max_tokens": max_tokens}).encode()


@contextlib.contextmanager
def call(pool, tenant, input_tokens=None, max_tokens=None, gate=None, **wishes):
    """Waits for a turn; raises Denied. `wishes` are the gate's headers without x-headroom-, as criticality="batch" or
    max_wait_ms=5000. A slot that was not answered counts as an error when the block raised, else as a success at its estimate."""
    slot = (gate or default_gate()).ask(*_question(pool, tenant, input_tokens, max_tokens, wishes))
    with _ended(slot):
        yield slot


@contextlib.asynccontextmanager
async def async_call(pool, tenant, input_tokens=None, max_tokens=None, gate=None, **wishes):
    """The same for `async with`."""
    slot = await (gate or default_gate()).async_ask(*_question(pool, tenant, input_tokens, max_tokens, wishes))
    with _ended(slot):
        yield slot


@contextlib.contextmanager
def _ended(slot):
    try:
        yield
    except BaseException:
        slot.answered(500)
        raise
    slot.answered(200)


# ---- Clients of httpx ----------------------------------------------------------------------------------------------------


def http_client(pool, tenant=None, gate=None, **options):
    """An `httpx.Client` whose calls wait for their turn; for `OpenAI(http_client=…)` and `Anthropic(http_client=…)`.

    `options` are those of httpx's client; `httpx=` names the library, where a program has both.
    """
    return _client("Client", "HTTPTransport", pool, tenant, gate, options)


def async_http_client(pool, tenant=None, gate=None, **options):
    """The same for `AsyncOpenAI` and `AsyncAnthropic`."""
    return _client("AsyncClient", "AsyncHTTPTransport", pool, tenant, gate, options)


def _client(kind, inner, pool, tenant, gate, options):
    httpx = _library(options.pop("httpx", None))
    options.setdefault("timeout", httpx.Timeout(600, connect=5))
    transport = _transport(httpx)(
        pool, tenant or os.environ.get("HEADROOM_TENANT_NAME") or "unknown", gate or default_gate(),
        options.pop("transport", None) or getattr(httpx, inner)())
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


class _Reading:
    """Reads the usage out of an answer as it passes; keeps no more than a part of it."""

    MOST = 1 << 20

    def __init__(self, slot, status, headers):
        self.slot, self.status, self.headers = slot, status, headers
        self.is_stream = "text/event-stream" in headers.get("content-type", "")
        self.kept, self.usage = b"", {}

    def take(self, chunk):
        self.kept += chunk
        if self.is_stream:
            *lines, self.kept = self.kept.split(b"\n")
            for line in lines:
                if line.startswith(b"data:") and b'"usage"' in line:
                    self.read(line[5:])
        self.kept = self.kept[-self.MOST:]

    def read(self, text):
        """Anthropic says the input when a stream begins, and the output when it ends."""
        with contextlib.suppress(ValueError):
            event = json.loads(text)
            for part in (event, event.get("message"), event.get("response")) if isinstance(event, dict) else ():
                usage = part.get("usage") if isinstance(part, dict) else None
                self.usage.update(usage if isinstance(usage, dict) else {})

    def end(self):
        if not self.is_stream:
            self.read(self.kept)
        self.slot.answered(self.status, self.headers, self.usage, self.kept.decode(errors="replace"))


@functools.lru_cache
def _transport(httpx):
    """A transport of that library, for clients and async clients alike: both carry out the same steps."""

    class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
        """Passes an answer on, and tells how it ended when it ends or is closed before."""

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
        def __init__(self, pool, tenant, gate, inner):
            self.pool, self.tenant, self.gate, self.inner = pool, tenant, gate, inner

        def question(self, request):
            headers = {name.lower(): value for name, value in request.headers.items()}
            headers.setdefault("x-headroom-tenant", self.tenant)
            headers.setdefault("x-headroom-pool", self.pool)
            read = request.extensions.get("timeout", {}).get("read")
            if read:
                headers.setdefault("x-stainless-read-timeout", str(read))
            # The usage is read as it passes, which a compressed answer would not allow.
            request.headers["accept-encoding"] = "identity"
            return headers, request.content, request.url.path

        @staticmethod
        def refusal(request, denied):
            return httpx.Response(denied.status, headers=denied.headers, content=denied.body, request=request)

        @staticmethod
        def passed_on(slot, response):
            headers = {name.lower(): value for name, value in response.headers.items()}
            return httpx.Response(
                response.status_code, headers=response.headers, extensions=response.extensions,
                stream=Stream(response, _Reading(slot, response.status_code, headers)))

        @staticmethod
        def fail(slot, error):
            if isinstance(error, httpx.ConnectError):
                slot.cancel()
            else:
                slot.failed("timeout" if isinstance(error, httpx.TimeoutException) else "connection")

        def handle_request(self, request):
            request.read()
            if request.method != "POST":  # No call of a model.
                return self.inner.handle_request(request)
            try:
                slot = self.gate.ask(*self.question(request))
            except Denied as denied:
                return self.refusal(request, denied)
            try:
                return self.passed_on(slot, self.inner.handle_request(request))
            except BaseException as error:
                self.fail(slot, error)
                raise

        async def handle_async_request(self, request):
            await request.aread()
            if request.method != "POST":
                return await self.inner.handle_async_request(request)
            try:
                slot = await self.gate.async_ask(*self.question(request))
            except Denied as denied:
                return self.refusal(request, denied)
            try:
                return self.passed_on(slot, await self.inner.handle_async_request(request))
            except BaseException as error:
                self.fail(slot, error)
                raise

        def close(self):
            self.inner.close()

        async def aclose(self):
            await self.inner.aclose()

    return Transport

"""LiteLLM behind `headroom gate`: copy this one file next to LiteLLM's config.yaml and name it there:

    litellm_settings:
      callbacks: headroom_litellm.gateway
    model_list:
      - model_name: gpt-4o
        litellm_params: {...}
        model_info: {headroom_pool: "openai:gpt-4o"}

Each attempt at a call asks the gate for a slot, and the gate hears how the attempt ended. All workers ask one gate, so they share its
queue and its budget. It needs nothing but what LiteLLM brings. Settings are environment variables:

    HEADROOM_GATE                where the gate listens: http://127.0.0.1:8421 (the default) or unix:/run/headroom/gate.sock
    HEADROOM_GATE_GONE           what becomes of calls while the gate is away: pass (the default) or refuse
    HEADROOM_POOL                the pool of deployments that name none; without it they are left alone
    HEADROOM_TENANT              where a tenant's name is looked for, in order; default: team_id,org_id,key_alias,end_user_id,user_id
    HEADROOM_TRUST_HEADERS       1: callers may name their tenant in x-headroom-tenant
    HEADROOM_MAX_WAIT_SECONDS    the longest wait of a call that names none; default 30
"""

import asyncio
import collections
import contextlib
import contextvars
import json
import math
import os
import re
import socket
import sys
import time
import urllib.request

import aiohttp
from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

# ---- The gate ------------------------------------------------------------------------------------------------------------


class Denied(Exception):
    """The gate refuses the call. `headers` are those that OpenAI's and Anthropic's SDKs obey."""

    def __init__(self, status, headers, message):
        super().__init__(message)
        self.status, self.headers = status, headers


class Gate:
    """The connection of this process to the gate.

    While calls wait, one task looks each second whether the gate is alive: so a gate that hangs holds nobody for longer than six
    seconds. Calls that passed while it was away are counted, and told when it is back.
    """

    CONNECT_SECONDS = 0.5
    LOOK_SECONDS = 1.0
    ANSWER_SECONDS = 2.0
    #: Ends that are on their way; beyond that they are dropped, and their slots count at their estimate.
    MOST_ENDS = 10_000
    #: A slot that nobody ends counts as sent after the SDKs' own time-out.
    SLOT_MILLISECONDS = 600_000

    def __init__(self):
        environ = os.environ.get
        self.address = environ("HEADROOM_GATE") or "http://127.0.0.1:8421"
        self.when_gone = environ("HEADROOM_GATE_GONE") or "pass"
        self.max_wait = float(environ("HEADROOM_MAX_WAIT_SECONDS") or 30)
        if self.when_gone not in ("pass", "refuse"):
            raise ValueError(f"HEADROOM_GATE_GONE={self.when_gone}: must be pass or refuse")
        if not re.match(r"unix:.|http://[^/]", self.address):
            raise ValueError(f"HEADROOM_GATE={self.address}: must be as http://127.0.0.1:8421 or unix:/run/headroom/gate.sock")
        self.path = self.address[5:] if self.address.startswith("unix:") else None
        self.url = "http://127.0.0.1" if self.path else self.address.rstrip("/")
        self.session = self.lost = self.watcher = None
        self.waiting, self.ends = 0, set()
        self.missed, self.missed_bytes = collections.Counter(), collections.Counter()

    @property
    def is_gone(self):
        return self.lost is not None and self.lost.done()

    async def _send(self, method, path, seconds, headers=None, body=None):
        if self.session is None:
            # No limit: each call that waits for its turn holds a connection.
            kind, where = (aiohttp.UnixConnector, {"path": self.path}) if self.path else (aiohttp.TCPConnector, {})
            self.session = aiohttp.ClientSession(connector=kind(limit=0, keepalive_timeout=30, **where))
        limits = aiohttp.ClientTimeout(total=seconds, sock_connect=self.CONNECT_SECONDS)
        async with self.session.request(method, self.url + path, headers=headers, data=body, timeout=limits) as answer:
            return answer.status, answer.headers, await answer.read()

    async def ask(self, headers, body, seconds, gone=None):
        """(slot, pool) once the call may go, (None, None) when it passes because the gate is away; raises Denied. A caller that is
        cancelled, or whose future `gone` is done, gives its place up."""
        if self.watcher is None:
            self.lost = asyncio.get_running_loop().create_future()
            self.watcher = asyncio.ensure_future(self._watch())
        faults = 0
        while not self.is_gone:
            question = asyncio.ensure_future(
                self._send("POST", f"/check?expires_ms={self.SLOT_MILLISECONDS}", seconds + 5, headers, body))
            self.waiting += 1
            try:
                await asyncio.wait({question, self.lost} | ({gone} if gone else set()), return_when=asyncio.FIRST_COMPLETED)
                if question.done():
                    return self._read(*question.result())
                if not self.is_gone:
                    raise Denied(499, {}, "the client has gone")
            except aiohttp.ServerTimeoutError:
                pass  # LiteLLM's own work can hold up its event loop. The task that looks says whether the gate is away.
            except FAULTS:
                faults += 1
                if faults > 1:  # The gate may have ended a connection that was kept.
                    self._lose()
            finally:
                self.waiting -= 1
                question.cancel()
        if self.when_gone == "refuse":
            raise Denied(503, {"retry-after": "2", "retry-after-ms": "2000", "x-should-retry": "true"}, "Headroom's gate is away")
        key = headers["x-headroom-tenant"], headers["x-headroom-pool"]
        self.missed[key] += 1
        self.missed_bytes[key] += len(body) or int(headers.get("x-headroom-bytes", 0))
        return None, None

    @staticmethod
    def _read(status, fields, content):
        if status == 200:
            return fields.get("x-headroom-slot"), fields.get("x-headroom-pool")
        problem = json.loads(content)
        error = problem.get("error")
        message = error.get("message") if isinstance(error, dict) else problem.get("detail")
        raise Denied(status, {name: fields[name] for name in REFUSAL_HEADERS if name in fields}, message or "refused")

    async def end(self, slot, report):
        """How the call ended; the gate's advice: {"retry": "after", "retry_after_ms": 2000}. {} from a gate that is away."""
        if slot is None or self.is_gone:
            return {}
        try:
            status, _, content = await self._send(
                "POST", f"/v1/slots/{slot}/done", self.ANSWER_SECONDS, JSON_BODY, json.dumps(report))
            return json.loads(content) if status == 200 else {}
        except FAULTS:
            return {}  # The task that looks says whether the gate is away.

    async def withdraw(self, slot):
        """The call is not sent."""
        if slot is not None and not self.is_gone:
            with contextlib.suppress(*FAULTS):
                await self._send("DELETE", f"/v1/slots/{slot}", self.ANSWER_SECONDS)

    def later(self, work):
        """Does it beside the call."""
        task = asyncio.ensure_future(work)
        if len(self.ends) >= self.MOST_ENDS:
            task.cancel()
        self.ends.add(task)
        task.add_done_callback(self.ends.discard)

    async def _watch(self):
        late = 0
        while True:
            await asyncio.sleep(self.LOOK_SECONDS)
            if not self.waiting and not self.is_gone:
                continue
            try:
                await self._send("GET", "/healthz", self.ANSWER_SECONDS)
            except asyncio.TimeoutError:
                # Once may be this process: LiteLLM's own work can hold up its event loop.
                late += 1
                if late > 1:
                    self._lose()
            except FAULTS:
                self._lose()
            else:
                late = 0
                await self._return()

    def _lose(self):
        if not self.is_gone:
            self.lost.set_result(None)
            say(f"the gate at {self.address} does not answer: calls {'pass' if self.when_gone == 'pass' else 'are refused'} until it does")

    async def _return(self):
        if not self.is_gone:
            return
        self.lost = asyncio.get_running_loop().create_future()
        missed, self.missed = self.missed, collections.Counter()
        say(f"the gate is back; {sum(missed.values())} calls passed while it was away")
        for (tenant, pool), calls in missed.items():
            tokens = self.missed_bytes.pop((tenant, pool)) // calls // 4
            report = {"tenant": tenant, "pool": pool, "calls": min(calls, 10_000), "tokens": tokens}
            with contextlib.suppress(*FAULTS):
                await self._send("POST", "/v1/missed", self.ANSWER_SECONDS, JSON_BODY, json.dumps(report))

    def greet(self):
        """Says that the file is loaded, and whether the gate is there."""
        state = "answers"
        try:
            if self.path:
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.settimeout(0.3)
                    probe.connect(self.path)
            else:
                urllib.request.urlopen(self.url + "/healthz", timeout=0.3).read()
        except OSError:
            state = "does not answer yet"
        say(f"loaded in process {os.getpid()}; the gate at {self.address} {state}")


#: Of a gate that does not answer.
FAULTS = (aiohttp.ClientError, OSError, asyncio.TimeoutError, ValueError)
JSON_BODY = {"content-type": "application/json"}
#: Of a refusal, for the caller.
REFUSAL_HEADERS = ("retry-after-ms", "retry-after", "x-should-retry", "ratelimit", "ratelimit-policy")


def say(text):
    """To standard error: LiteLLM shows no log but its own."""
    print(f"headroom: {text}", file=sys.stderr, flush=True)


# ---- The client's request ------------------------------------------------------------------------------------------------

#: The HTTP request that a task answers, and the call that it makes.
EXCHANGE = contextvars.ContextVar("headroom_exchange", default=None)
WORK = contextvars.ContextVar("headroom_work", default=None)


class Exchange:
    """One HTTP request to the proxy: its headers, whether its client is still there, and the calls made for it."""

    def __init__(self, scope):
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
        self.path = scope.get("path", "/")
        self.gone = asyncio.get_running_loop().create_future()
        self.watcher = None
        self.works = []


class Watch:
    """Notices clients that hang up. LiteLLM lets their calls wait and sends them all the same; this takes them out of the queue.

    An ASGI application around LiteLLM's. Once the body has been read, only the watcher reads on.
    """

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = Exchange(scope)
        EXCHANGE.set(exchange)

        async def read_on():
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    if not exchange.gone.done():
                        exchange.gone.set_result(None)
                    return message

        async def watched():
            if exchange.watcher is not None:
                return await asyncio.shield(exchange.watcher)
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                exchange.watcher = asyncio.ensure_future(read_on())
            return message

        try:
            await self.app(scope, watched, send)
        finally:
            if exchange.watcher is not None:
                exchange.watcher.cancel()
            # LiteLLM logs a success after its answer; what is open then was broken off.
            if any(work.slot for work in exchange.works):
                asyncio.get_running_loop().call_later(5, self._end, exchange.works)

    @staticmethod
    def _end(works):
        for work in works:
            work.break_off()

    @classmethod
    def install(cls):
        """Around LiteLLM's application, whose middleware is closed to additions once it serves."""
        proxy = sys.modules.get("litellm.proxy.proxy_server")
        app = getattr(proxy, "app", None)
        stack = getattr(app, "middleware_stack", None)
        if stack is not None and not isinstance(stack, cls):
            app.middleware_stack = cls(stack)


class Work:
    """One client request, over all its attempts."""

    def __init__(self, gateway, id, tenant, data, exchange, headers):
        self.gateway, self.id, self.tenant, self.exchange = gateway, id, tenant, exchange
        self.slot = self.name = self.pool = self.denied = None
        self.has_turn = False  # With a slot, or without one while the gate is away.
        self.attempts, self.retry_in = 0, 0.0
        self.begun = self.sent_at = time.monotonic()
        self.headers = {
            name: value for name, value in headers.items()
            if name in CALLER_HEADERS or name.startswith(("x-litellm-", "x-stainless-", "x-llm-d-", "x-claude-code-"))}
        self.headers.update({
            "x-headroom-tenant": tenant, "x-original-uri": exchange.path if exchange else "/", "content-type": "application/json"})
        self.retries = int(number_of(headers.get("x-stainless-retry-count")) or 0)
        timeouts = (headers.get(name) for name in ("x-litellm-timeout", "x-stainless-read-timeout", "x-stainless-timeout"))
        self.timeout = next((found for found in map(number_of, (*timeouts, data.get("timeout"))) if found), None)
        asked = number_of(headers.get("x-headroom-max-wait-ms") or headers.get("x-llm-d-slo-ttft-ms"))
        self.wait = gateway.gate.max_wait if asked is None else asked / 1000
        self.body = json.dumps({name: data[name] for name in SIZED if name in data}, default=lambda _: None).encode()
        if len(self.body) > MOST_BYTES:
            self.body = re.sub(rb"[A-Za-z0-9+/=_-]{4096,}", b"", self.body)  # The gate knows what a picture costs.
        if len(self.body) > MOST_BYTES:
            self.headers["x-headroom-bytes"] = str(len(self.body))
            self.body = b""

    async def turn(self, pool):
        """Takes a slot for the next attempt; raises an answer to the client if there is none."""
        if self.denied:
            raise self.refusal()  # The router tries again what was refused; its own pauses are all that this costs.
        self.attempts += 1
        left = math.inf if self.timeout is None else self.timeout - (time.monotonic() - self.begun)
        # Over all attempts, four fifths of the caller's time.
        wait = self.wait if self.timeout is None else max(0.0, min(self.wait, left - 0.2 * self.timeout))
        headers = dict(self.headers)
        headers["x-headroom-pool"] = pool
        headers["x-headroom-max-wait-ms"] = str(int(wait * 1000))
        headers["x-stainless-retry-count"] = str(self.retries + self.attempts - 1)
        if self.timeout is not None:
            headers["x-litellm-timeout"] = f"{max(0.001, left):.3f}"
        self.pool = pool
        try:
            self.slot, given = await self.gateway.gate.ask(
                headers, self.body, wait, self.exchange.gone if self.exchange else None)
            self.pool = given or pool
        except Denied as denied:
            self.denied = denied
            raise self.refusal() from None
        self.has_turn = True
        self.name, self.sent_at = self.slot, time.monotonic()

    def refusal(self):
        error = {"message": str(self.denied), "type": "rate_limit_error", "code": "rate_limit_exceeded"}
        return HTTPException(status_code=self.denied.status, detail={"error": error}, headers=self.denied.headers)

    def take_slot(self):
        slot, self.slot, self.has_turn = self.slot, None, False
        return slot

    async def end(self, report):
        slot = self.take_slot()
        if slot is None:
            return {}
        return await self.gateway.gate.end(
            slot, {"latency_ms": round((time.monotonic() - self.sent_at) * 1000, 1), **report})

    def withdraw(self):
        self.gateway.gate.later(self.gateway.gate.withdraw(self.take_slot()))

    def break_off(self):
        """The client has gone in the middle of the answer: the estimate stands."""
        self.gateway.works.pop(self.id, None)
        if self.slot is not None:
            self.gateway.gate.later(self.end({"outcome": "ok"}))


#: Of the caller's headers, those that the gate reads from anyone.
CALLER_HEADERS = frozenset(
    "x-headroom-criticality x-headroom-task x-headroom-task-kind x-headroom-parent x-headroom-work x-headroom-step"
    " x-headroom-request idempotency-key baggage traceparent session-id thread-id x-session-id x-parent-session-id".split())
#: Of a call's body, what its cost is estimated by.
SIZED = (
    "model", "messages", "prompt", "input", "system", "instructions", "tools", "max_tokens", "max_completion_tokens",
    "max_output_tokens", "n", "service_tier")
MOST_BYTES = 1_000_000


def number_of(text):
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < math.inf else None


def name_of(text):
    """As Headroom allows names: 1 to 128 characters out of A-Z a-z 0-9 . _ : @ -, the first a letter or digit."""
    if text is None:
        return None
    return re.sub(r"[^A-Za-z0-9._:@-]", "-", str(text)).lstrip("._:@-")[:128] or None


# ---- LiteLLM's hooks -----------------------------------------------------------------------------------------------------


class LiteLLMGateway(CustomLogger):
    """A slot before each attempt, and what became of it afterwards."""

    MOST_WORKS = 50_000

    def __init__(self):
        super().__init__()
        self.gate = Gate()
        environ = os.environ.get
        self.pool = environ("HEADROOM_POOL")
        self.tenant_fields = (environ("HEADROOM_TENANT") or "team_id,org_id,key_alias,end_user_id,user_id").split(",")
        self.trusts_headers = environ("HEADROOM_TRUST_HEADERS") == "1"
        self.works = collections.OrderedDict()
        self.gate.greet()

    # Before

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        """Once for a client's request: waits for its turn, or answers 429."""
        Watch.install()
        group = data.get("model")
        pool = self._pool_of(group)
        if pool is None:
            return data
        exchange = EXCHANGE.get()
        headers = exchange.headers if exchange else self._headers(data)
        work = Work(self, data.get("litellm_call_id"), self._tenant(user_api_key_dict, headers), data, exchange, headers)
        WORK.set(work)
        if exchange:
            exchange.works.append(work)
        await work.turn(pool)
        self.works[work.id] = work
        while len(self.works) > self.MOST_WORKS:
            self.works.popitem(last=False)[1].break_off()
        if work.pool != pool:
            # The gate holds the pool for broken, and names another.
            data["model"] = self._group_of(work.pool) or group
        return data

    async def async_pre_call_deployment_hook(self, kwargs, call_type):
        """Before each attempt: the router's retries take a slot each, in the pool of the deployment that it chose."""
        work = self.works.get(kwargs.get("litellm_call_id"))
        if work is None:
            return None
        info = kwargs.get("model_info") or (kwargs.get("metadata") or kwargs.get("litellm_metadata") or {}).get("model_info")
        pool = (info or {}).get("headroom_pool") or self.pool
        if pool is None:
            work.withdraw()
        elif work.pool != pool or not work.has_turn:
            work.withdraw()
            await work.turn(pool)
        return None

    def _tenant(self, key, headers):
        named = name_of(headers.get("x-headroom-tenant")) if self.trusts_headers else None
        fields = (name_of(getattr(key, field.strip(), None)) for field in self.tenant_fields)
        return named or next((field for field in fields if field), "unknown")

    @staticmethod
    def _headers(data):
        for place in (data.get("proxy_server_request"), data.get("metadata"), data.get("litellm_metadata")):
            if isinstance(place, dict) and isinstance(place.get("headers"), dict):
                return {str(name).lower(): str(value) for name, value in place["headers"].items()}
        return {}

    @staticmethod
    def _deployments(group=None):
        router = getattr(sys.modules.get("litellm.proxy.proxy_server"), "llm_router", None)
        return (router.get_model_list(model_name=group) if router else None) or []

    def _pool_of(self, group):
        """The pool of the model group's first deployment that has one."""
        named = ((deployment.get("model_info") or {}).get("headroom_pool") for deployment in self._deployments(group))
        return next((pool for pool in named if pool), self.pool)

    def _group_of(self, pool):
        return next(
            (deployment.get("model_name") for deployment in self._deployments()
             if (deployment.get("model_info") or {}).get("headroom_pool") == pool), None)

    # Afterwards

    async def async_post_call_failure_deployment_hook(self, request_data, exception, call_type, fallback_depth=None):
        """Each failed attempt, with the provider's own answer where there was one."""
        work = self.works.get(request_data.get("litellm_call_id"))
        if work is None or work.denied:
            return
        status, headers, body = provider_answer(exception)
        advice = await work.end({"status": status, "headers": headers, "body": body[:4096]})
        work.retry_in = (advice.get("retry_after_ms") or 1) / 1000

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        """Once, after streams too."""
        work = self.works.pop(kwargs.get("litellm_call_id"), None)
        if work is None:
            return
        record = kwargs.get("standard_logging_object") or {}
        if record.get("cache_hit"):
            work.withdraw()
            return
        headers = {
            str(name).lower().replace("llm_provider-", ""): str(value)
            for name, value in dict(kwargs.get("response_headers") or {}).items()}
        usage = (record.get("metadata") or {}).get("usage_object") or {}
        details = usage.get("prompt_tokens_details") or {}
        # LiteLLM counts as OpenAI does, whoever answered: cached tokens are part of the input. So they are told as OpenAI
        # spells them; plain numbers would be taken in the provider's own sense.
        await work.end({
            "status": 200, "headers": headers, "body": {"usage": {
                "prompt_tokens": record.get("prompt_tokens"), "completion_tokens": record.get("completion_tokens"),
                "prompt_tokens_details": {"cached_tokens": details.get("cached_tokens")}}}})

    async def async_post_call_failure_hook(self, request_data, original_exception, user_api_key_dict, traceback_str=None):
        """The client gets an error: nothing more will be tried."""
        work = self.works.pop(request_data.get("litellm_call_id"), None)
        if work is not None:
            work.withdraw()
        return None

    async def async_post_call_response_headers_hook(
        self, data, user_api_key_dict, response, request_headers=None, litellm_call_info=None
    ):
        """Whose call it was, and its slot. LiteLLM passes a provider's 429 on without Retry-After: it is added."""
        work = WORK.get()
        if work is None:
            return None
        headers = {"x-headroom-tenant": work.tenant, "x-headroom-pool": work.pool, "x-headroom-slot": work.name or "none"}
        if response is None and work.retry_in and not work.denied:
            headers.update({"retry-after-ms": str(math.ceil(work.retry_in * 1000)), "retry-after": str(math.ceil(work.retry_in))})
        return headers


def provider_answer(exception):
    """(status, headers, body) of the provider. LiteLLM changes some statuses (529 to 500): the first cause that has an answer of
    its own has the real one."""
    status, headers, body = None, {}, ""
    link, depth = exception, 0
    while link is not None and depth < 8:
        response = getattr(link, "response", None)
        if depth > 0 and getattr(response, "status_code", None):
            status = int(response.status_code)
            headers = headers or dict(response.headers)
            try:
                body = body or response.text
            except Exception:  # A stream that was not read.
                pass
            break
        headers = headers or dict(getattr(link, "litellm_response_headers", None) or {})
        if status is None and isinstance(getattr(link, "status_code", None), int):
            status = link.status_code
        link, depth = link.__cause__ or link.__context__, depth + 1
    headers = {str(name).lower().replace("llm_provider-", ""): str(value) for name, value in headers.items()}
    return status or 500, headers, body or str(exception)


gateway = LiteLLMGateway()

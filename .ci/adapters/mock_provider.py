"""A provider that limits requests and tokens per minute, for trials: OpenAI's and Anthropic's chat calls, with and without streams.

    python3 mock_provider.py --port 8561 --rpm 600 --tpm 60000

Each call costs 250 tokens (50 in, 200 out), and its buckets hold five seconds. `POST /halve?factor=0.5` takes half of its capacity away
while its headers go on to claim the contract. A stream says its usage to those who ask for it, as OpenAI's do; Anthropic's always do.
`GET /stats` has what it served and refused.
"""

import argparse
import asyncio
import json
import time

INPUT_TOKENS, OUTPUT_TOKENS = 50, 200
TOKENS_A_WRITE = 20
BURST_SECONDS = 5


class Buckets:
    """Requests and tokens, each refilled at its rate."""

    def __init__(self, limits):
        self.limits, self.factor, self.refilled_at = limits, 1.0, time.monotonic()
        self.levels = {name: limit / 60 * BURST_SECONDS for name, limit in limits.items()}

    def refill(self):
        now = time.monotonic()
        for name, limit in self.limits.items():
            rate = limit / 60 * self.factor
            self.levels[name] = min(rate * BURST_SECONDS, self.levels[name] + rate * (now - self.refilled_at))
        self.refilled_at = now

    def admits(self, cost):
        self.refill()
        return all(self.levels[name] >= cost[name] for name in cost)

    def charge(self, cost):
        for name in cost:
            self.levels[name] -= cost[name]


class Provider:
    def __init__(self, rpm, tpm, latency):
        limits = {"requests": rpm, "tokens": tpm}
        # What holds, and what the headers say: they know of no halving.
        self.real, self.claimed = Buckets(limits), Buckets(limits)
        self.latency = latency
        self.served, self.refused, self.broken_off = {}, {}, 0

    def admits(self):
        cost = {"requests": 1, "tokens": INPUT_TOKENS + OUTPUT_TOKENS}
        self.claimed.refill()
        if not self.real.admits(cost):
            return False
        self.real.charge(cost)
        self.claimed.charge(cost)
        return True

    def headers(self):
        fields = []
        for name, limit in self.claimed.limits.items():
            level = max(0.0, self.claimed.levels[name])
            fields += [
                f"x-ratelimit-limit-{name}: {limit}", f"x-ratelimit-remaining-{name}: {int(level)}",
                f"x-ratelimit-reset-{name}: {BURST_SECONDS - level * 60 / limit:.3f}s"]
        return fields

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                path = head[0].split(" ", 2)[1]
                fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in head[1:] if ":" in line}
                if fields.get("transfer-encoding") == "chunked":
                    body = b""
                    while size := int(await reader.readuntil(b"\r\n"), 16):
                        body += await reader.readexactly(size)
                        await reader.readexactly(2)
                    await reader.readexactly(2)
                else:
                    body = await reader.readexactly(int(fields.get("content-length", 0)))
                if path == "/stats":
                    self.send(writer, 200, json.dumps(
                        {"served": self.served, "refused": self.refused, "broken_off": self.broken_off}))
                elif path.startswith("/halve"):
                    self.real.refill()
                    self.real.factor = float(path.partition("factor=")[2] or 0.5)
                    self.send(writer, 200, "{}")
                else:
                    await self.answer(path, json.loads(body or b"{}"), fields, writer)
                await writer.drain()
                if fields.get("connection", "").lower() == "close":
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path, request, fields, writer):
        tenant = fields.get("authorization", "all").removeprefix("Bearer ")
        is_anthropic = "/messages" in path
        if not self.admits():
            self.refused[tenant] = self.refused.get(tenant, 0) + 1
            error = {"type": "rate_limit_error" if is_anthropic else "tokens", "code": "rate_limit_exceeded",
                     "message": "Rate limit reached for tokens per min (TPM)"}
            self.send(writer, 429, json.dumps({"type": "error", "error": error}), self.headers())
            return
        self.served[tenant] = self.served.get(tenant, 0) + 1
        model = request.get("model", "mock")
        await asyncio.sleep(self.latency / 2)
        if not request.get("stream"):
            await asyncio.sleep(self.latency / 2)
            self.send(writer, 200, json.dumps(message(model) if is_anthropic else completion(model)), self.headers())
            return
        asks_usage = bool((request.get("stream_options") or {}).get("include_usage"))
        head = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", *self.headers()]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        parts = list(message_events(model) if is_anthropic else completion_events(model, asks_usage))
        try:
            for part in parts:
                await asyncio.sleep(self.latency / 2 / len(parts))
                writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                await writer.drain()
        except ConnectionError:
            self.broken_off += 1
            raise
        writer.write(b"0\r\n\r\n")

    @staticmethod
    def send(writer, status, body, headers=()):
        head = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(body.encode())}", *headers]
        writer.write(("\r\n".join(head) + "\r\n\r\n" + body).encode())


def completion(model):
    return {
        "id": "c-1", "object": "chat.completion", "created": int(time.time()), "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "word " * OUTPUT_TOKENS}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}}


def completion_events(model, asks_usage):
    """One chunk a token, several of them in one write."""
    def event(more):
        return b"data: " + json.dumps(
            {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": model, **more}).encode() + b"\n\n"

    tokens = [
        event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": f"word{number} "}, "finish_reason": None}]})
        for number in range(OUTPUT_TOKENS)]  # Each another word: LiteLLM breaks off answers that repeat themselves.
    for begin in range(0, OUTPUT_TOKENS, TOKENS_A_WRITE):
        yield b"".join(tokens[begin:begin + TOKENS_A_WRITE])
    last = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if asks_usage:
        last += event({"choices": [], "usage": completion(model)["usage"]})
    yield last + b"data: [DONE]\n\n"


def message(model):
    return {
        "id": "m-1", "type": "message", "role": "assistant", "model": model, "stop_reason": "end_turn", "stop_sequence": None,
        "content": [{"type": "text", "text": "word " * OUTPUT_TOKENS}],
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}}


def message_events(model):
    def event(type, **more):
        return f"event: {type}\ndata: {json.dumps(dict(type=type, **more))}\n\n".encode()

    start = dict(message(model), content=[], stop_reason=None, usage={"input_tokens": INPUT_TOKENS, "output_tokens": 1})
    yield event("message_start", message=start) + event(
        "content_block_start", index=0, content_block={"type": "text", "text": ""})
    token = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "word "})
    for _ in range(OUTPUT_TOKENS // TOKENS_A_WRITE):
        yield token * TOKENS_A_WRITE
    yield event("content_block_stop", index=0) + event(
        "message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": OUTPUT_TOKENS}
    ) + event("message_stop")


async def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, required=True)
    arguments.add_argument("--rpm", type=int, default=600)
    arguments.add_argument("--tpm", type=int, default=60000)
    arguments.add_argument("--latency", type=float, default=0.05, help="seconds of an answer")
    options = arguments.parse_args()
    provider = Provider(options.rpm, options.tpm, options.latency)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", options.port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

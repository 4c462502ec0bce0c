"""A provider that limits requests and tokens per minute, for trials: OpenAI's and Anthropic's chat calls, with and without streams.

    python3 mock_provider.py --port 8561 --rpm 600 --tpm 60000

Every call costs 250 tokens (200 in, 50 out). Its buckets hold six seconds. `GET /stats` says how many calls it served and refused.
"""

import argparse
import asyncio
import json
import time

INPUT_TOKENS, OUTPUT_TOKENS = 200, 50
BURST_SECONDS = 6


class Provider:
    def __init__(self, rpm, tpm, latency):
        self.limits = {"requests": rpm, "tokens": tpm}
        self.levels = {name: limit / 60 * BURST_SECONDS for name, limit in self.limits.items()}
        self.refilled_at = time.monotonic()
        self.latency = latency
        self.served, self.refused, self.broken_off = {}, {}, 0

    def admits(self):
        now = time.monotonic()
        for name, limit in self.limits.items():
            room = limit / 60 * BURST_SECONDS
            self.levels[name] = min(room, self.levels[name] + limit / 60 * (now - self.refilled_at))
        self.refilled_at = now
        cost = {"requests": 1, "tokens": INPUT_TOKENS + OUTPUT_TOKENS}
        if any(self.levels[name] < cost[name] for name in cost):
            return False
        for name in cost:
            self.levels[name] -= cost[name]
        return True

    def headers(self):
        fields = []
        for name, limit in self.limits.items():
            reset = (limit / 60 * BURST_SECONDS - self.levels[name]) / (limit / 60)
            fields += [
                f"x-ratelimit-limit-{name}: {limit}", f"x-ratelimit-remaining-{name}: {int(self.levels[name])}",
                f"x-ratelimit-reset-{name}: {reset:.3f}s"]
        return fields

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ", 2)
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
                    stats = {"served": self.served, "refused": self.refused, "broken_off": self.broken_off}
                    self.send(writer, 200, json.dumps(stats))
                else:
                    await self.answer(path, json.loads(body or b"{}"), fields, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path, request, fields, writer):
        tenant = fields.get("x-tenant", "all")
        is_anthropic = "/messages" in path
        if not self.admits():
            self.refused[tenant] = self.refused.get(tenant, 0) + 1
            error = {"type": "rate_limit_error" if is_anthropic else "tokens", "code": "rate_limit_exceeded",
                     "message": "Rate limit reached for tokens per min (TPM)"}
            self.send(writer, 429, json.dumps({"type": "error", "error": error}), self.headers())
            return
        self.served[tenant] = self.served.get(tenant, 0) + 1
        model = request.get("model", "mock")
        if not request.get("stream"):
            await asyncio.sleep(self.latency)
            self.send(writer, 200, json.dumps(message(model) if is_anthropic else completion(model)), self.headers())
            return
        head = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", *self.headers()]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        try:
            for event in (message_events if is_anthropic else completion_events)(model):
                await asyncio.sleep(self.latency / 8)
                writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
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
        "usage": usage()}


def usage():
    return {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}


def completion_events(model):
    for index in range(6):
        delta = {"role": "assistant", "content": "word " * (OUTPUT_TOKENS // 5)} if index < 5 else {}
        chunk = {"id": "c-1", "object": "chat.completion.chunk", "created": int(time.time()), "model": model,
                 "choices": [{"index": 0, "delta": delta, "finish_reason": None if index < 5 else "stop"}]}
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    last = {"id": "c-1", "object": "chat.completion.chunk", "created": int(time.time()), "model": model, "choices": [],
            "usage": usage()}
    yield f"data: {json.dumps(last)}\n\n".encode()
    yield b"data: [DONE]\n\n"


def message(model):
    return {
        "id": "m-1", "type": "message", "role": "assistant", "model": model, "stop_reason": "end_turn", "stop_sequence": None,
        "content": [{"type": "text", "text": "word " * OUTPUT_TOKENS}],
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}}


def message_events(model):
    start = dict(message(model), content=[], stop_reason=None, usage={"input_tokens": INPUT_TOKENS, "output_tokens": 1})
    events = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word " * 10}} for _ in range(5)),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
         "usage": {"output_tokens": OUTPUT_TOKENS}},
        {"type": "message_stop"}]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


async def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, required=True)
    arguments.add_argument("--rpm", type=int, default=600)
    arguments.add_argument("--tpm", type=int, default=60000)
    arguments.add_argument("--latency", type=float, default=0.2)
    options = arguments.parse_args()
    provider = Provider(options.rpm, options.tpm, options.latency)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", options.port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

"""The load of a trial: acme and beta call once a second, gamma six times a second as batch work; the provider takes four.

Each caller sends an OpenAI chat call, waits 60 s at most, and does not try again: so a refusal is a refusal.
"""

import asyncio
import json
import random
import time

TENANTS = {"acme": (1.0, "interactive"), "beta": (1.0, "interactive"), "gamma": (6.0, "batch")}
PATIENCE_SECONDS = 60
PROMPT = "Summarise this. " * 50


class Tally:
    def __init__(self):
        self.offered = self.served = self.denied = self.failed = 0
        self.latencies = []
        self.without_retry_after = 0


async def call(port, tenant, criticality, stream, tally):
    body = {"model": "mock", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 100}
    if stream:
        body["stream"] = True
    payload = json.dumps(body).encode()
    head = [
        "POST /v1/chat/completions HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Connection: close",
        f"Content-Length: {len(payload)}", f"Authorization: Bearer {tenant}", f"x-headroom-criticality: {criticality}",
        f"x-headroom-tenant: {tenant}", f"x-stainless-read-timeout: {PATIENCE_SECONDS}"]
    start = time.monotonic()
    tally.offered += 1
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(("\r\n".join(head) + "\r\n\r\n").encode() + payload)
            answer = await reader.read()
            writer.close()
        head, _, content = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status == 200 and (not stream or b"[DONE]" in content):
            tally.served += 1
            tally.latencies.append(time.monotonic() - start)
        elif status == 429:
            tally.denied += 1
            tally.without_retry_after += b"\nretry-after:" not in head.lower()
        else:
            tally.failed += 1
    except (OSError, TimeoutError, IndexError, ValueError):
        tally.failed += 1


async def arrive(port, tenant, rate, criticality, stream, seconds, tally, seed):
    chance = random.Random(f"{seed} {tenant}")
    end = time.monotonic() + seconds
    calls = []
    while True:
        await asyncio.sleep(chance.expovariate(rate))
        if time.monotonic() >= end:
            break
        calls.append(asyncio.create_task(call(port, tenant, criticality, stream, tally)))
    await asyncio.gather(*calls)


async def run(port, seconds, stream=False, seed=1):
    """{tenant: Tally} after every call has ended."""
    tallies = {tenant: Tally() for tenant in TENANTS}
    await asyncio.gather(*(
        arrive(port, tenant, rate, criticality, stream, seconds, tallies[tenant], seed)
        for tenant, (rate, criticality) in TENANTS.items()))
    return tallies

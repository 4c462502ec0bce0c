"""OpenAI's and Anthropic's real SDKs and LangChain behind `headroom_client`, with streams and without, sync and async.

For each SDK eight calls a second for ten seconds, against a provider that takes four. Checks that all are served, that the provider
refuses nothing, that Headroom hears the real tokens, and what becomes of calls when the gate hangs and when it is away.
"""

import asyncio
import collections
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import trial

sys.path.insert(0, str(trial.ADAPTERS))

import headroom_client
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

MESSAGES = [{"role": "user", "content": trial.PROMPT}]


async def openai_async(provider, gate, stream):
    client = AsyncOpenAI(
        api_key="none", base_url=f"http://127.0.0.1:{provider}/v1", max_retries=2,
        http_client=headroom_client.async_http_client("mock:mock", "acme", gate))
    answer = await client.chat.completions.create(model="mock", messages=MESSAGES, stream=stream)
    if stream:
        async for _ in answer:
            pass


async def anthropic_async(provider, gate, stream):
    client = AsyncAnthropic(
        api_key="none", base_url=f"http://127.0.0.1:{provider}", max_retries=2,
        http_client=headroom_client.async_http_client("mock:mock", "beta", gate))
    answer = await client.messages.create(model="mock", messages=MESSAGES, max_tokens=300, stream=stream)
    if stream:
        async for _ in answer:
            pass


def openai_sync(provider, gate):
    with OpenAI(
        api_key="none", base_url=f"http://127.0.0.1:{provider}/v1",
        http_client=headroom_client.http_client("mock:mock", "acme", gate),
    ) as client:
        return client.chat.completions.create(model="mock", messages=MESSAGES).usage.total_tokens


def anthropic_sync(provider, gate):
    with Anthropic(
        api_key="none", base_url=f"http://127.0.0.1:{provider}",
        http_client=headroom_client.http_client("mock:mock", "beta", gate),
    ) as client:
        with client.messages.stream(model="mock", messages=MESSAGES, max_tokens=300) as stream:
            return stream.get_final_message().usage.output_tokens


async def burst(send, provider, gate, seconds):
    outcomes = collections.Counter()

    async def one(stream):
        try:
            await send(provider, gate, stream)
            outcomes["served"] += 1
        except Exception as error:
            outcomes[type(error).__name__] += 1

    calls = []
    for number in range(8 * seconds):
        calls.append(asyncio.create_task(one(number % 2 == 0)))
        await asyncio.sleep(1 / 8)
    await asyncio.gather(*calls)
    return outcomes


async def cancelled(gate):
    """Callers that wait and then give up leave the queue: the next call does not wait behind them."""
    async def hold():
        async with headroom_client.async_call("mock:mock", "acme", input_tokens=50, max_tokens=200, gate=gate):
            pass

    calls = [asyncio.create_task(hold()) for _ in range(100)]
    await asyncio.sleep(0.5)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


def langchain(gate):
    from langchain_core.language_models import FakeListChatModel

    from headroom_langchain import HeadroomRateLimiter

    limiter = HeadroomRateLimiter("mock:mock", "acme", gate)
    model = FakeListChatModel(responses=["yes"], rate_limiter=limiter)
    return model.invoke("?").content, asyncio.run(model.ainvoke("?")).content


def typescript(control, gate, provider, folder):
    """headroom-fetch.ts, checked and compiled by tsc, in Node."""
    subprocess.run(
        ["tsc", "--strict", "--target", "es2022", "--module", "es2022", "--lib", "es2022,dom,dom.iterable", "--outDir", folder,
         trial.ADAPTERS / "headroom-fetch.ts"], check=True)
    (folder / "headroom-fetch.js").rename(folder / "headroom-fetch.mjs")
    (folder / "try.mjs").write_text((trial.HERE / "try-fetch.mjs").read_text())
    done = subprocess.run(
        ["node", folder / "try.mjs", gate.url, f"http://127.0.0.1:{provider}/v1/chat/completions"], capture_output=True, text=True,
        timeout=60)
    print("TypeScript:", done.stdout.strip(), done.stderr.strip())
    return done.returncode == 0


def main():
    program = sys.argv[sys.argv.index("--headroom") + 1]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headroom-trial-"))
    processes = trial.Processes(folder)
    faults = []

    def check(what, is_right):
        print(("   " if is_right else "NOT ") + what, flush=True)
        if not is_right:
            faults.append(what)

    try:
        provider = trial.free_port()
        processes.start("provider", sys.executable, trial.HERE / "mock_provider.py", "--port", provider)
        control = trial.Control(program, processes)
        control.start()
        control.import_contracts()
        beside = trial.Gate(control)
        beside.start()
        trial.wait_for(f"http://127.0.0.1:{provider}/stats")
        time.sleep(3)
        gate = headroom_client.Gate(beside.url)
        check("whole answers and streams say what they cost", openai_sync(provider, gate) == 250 and anthropic_sync(provider, gate) == 200)
        for name, send in (("openai", openai_async), ("anthropic", anthropic_async)):
            outcomes = asyncio.run(burst(send, provider, gate, 10))
            check(f"{name}: {dict(outcomes)} of 80", outcomes["served"] >= 78)
        stats = trial.get(f"http://127.0.0.1:{provider}/stats")
        check(f"the provider refused nothing: {stats}", not stats["refused"])
        check(f"LangChain: {langchain(gate)}", True)
        check("TypeScript", typescript(control, beside, provider, folder))
        asyncio.run(cancelled(gate))
        time.sleep(1)
        start = time.monotonic()
        with headroom_client.call("mock:mock", "acme", input_tokens=50, max_tokens=200, gate=gate) as slot:
            slot.answered(200, usage={"prompt_tokens": 50, "completion_tokens": 200})
        check(f"after 100 cancelled waits a call waits {time.monotonic() - start:.2f} s", time.monotonic() - start < 3)
        gate.flush(2)
        time.sleep(2)
        stored = trial.stored(folder / "headroom.sqlite")
        check(f"Headroom stored {stored}", stored["ok"]["calls"] >= 160)
        process = processes.running["gate"]
        process.send_signal(signal.SIGSTOP)
        start, asked = time.monotonic(), []

        def ask():
            with headroom_client.call("mock:mock", "acme", input_tokens=50, max_tokens=200, gate=gate):
                asked.append(time.monotonic() - start)

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(f"20 calls before a gate that hangs passed within {max(asked):.1f} s", max(asked) < 7)
        start = time.monotonic()
        openai_sync(provider, gate)
        check(f"the next one at once: {time.monotonic() - start:.2f} s", time.monotonic() - start < 1)
        process.send_signal(signal.SIGCONT)
        time.sleep(3)
        check("the gate is asked again when it is back", not gate.is_gone)
        processes.end("gate", signal.SIGKILL)
        start = time.monotonic()
        openai_sync(provider, gate)
        check(f"without a gate a call passes: {time.monotonic() - start:.2f} s", time.monotonic() - start < 1)
        refusing = headroom_client.Gate(beside.url, when_gone="refuse")
        try:
            with headroom_client.call("mock:mock", "acme", gate=refusing):
                check("or is refused, by HEADROOM_GATE_GONE=refuse", False)
        except headroom_client.Denied as denied:
            check(f"or is refused, by HEADROOM_GATE_GONE=refuse: {denied.status}", denied.status == 503)
        cost = subprocess.run(
            [sys.executable, "-c", "import time; start = time.monotonic(); import headroom_client; "
             "seconds = round(time.monotonic() - start, 3); lines = open('/proc/self/status').read().split(); "
             "print(seconds, int(lines[lines.index('VmHWM:') + 1]) // 1024)"],
            capture_output=True, text=True, cwd=trial.ADAPTERS, env={"PYTHONDONTWRITEBYTECODE": "1"}).stdout.split()
        check(f"importing headroom_client takes {cost[0]} s, and the process {cost[1]} MB", float(cost[0]) < 1 and int(cost[1]) < 40)
        sys.exit(1 if faults else 0)
    finally:
        processes.end_all()


if __name__ == "__main__":
    main()

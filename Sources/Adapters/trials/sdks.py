"""OpenAI's and Anthropic's real SDKs behind `headroom_client`, with streams and without, sync and async.

For each: eight calls a second for some seconds against a provider that takes four. Checks that the provider refuses nothing, and that
Headroom is told the real tokens.
"""

import asyncio
import collections
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

import headroom_client
import headroom_litellm
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

import trial

MESSAGES = [{"role": "user", "content": "Summarise this. " * 50}]


def connection(control, name):
    return headroom_litellm.Headroom(url=control.url, gateway=name, max_wait=20)


async def openai_async(provider, headroom, stream):
    client = AsyncOpenAI(
        api_key="none", base_url=f"http://127.0.0.1:{provider}/v1", max_retries=0,
        http_client=headroom_client.async_http_client("mock:mock", "acme", headroom))
    answer = await client.chat.completions.create(model="mock", messages=MESSAGES, max_tokens=100, **(
        {"stream": True, "stream_options": {"include_usage": True}} if stream else {}))
    if stream:
        async for _ in answer:
            pass


async def anthropic_async(provider, headroom, stream):
    client = AsyncAnthropic(
        api_key="none", base_url=f"http://127.0.0.1:{provider}", max_retries=0,
        http_client=headroom_client.async_http_client("mock:mock", "beta", headroom))
    answer = await client.messages.create(model="mock", messages=MESSAGES, max_tokens=100, stream=stream)
    if stream:
        async for _ in answer:
            pass


def openai_sync(provider, headroom):
    with OpenAI(
        api_key="none", base_url=f"http://127.0.0.1:{provider}/v1", max_retries=0,
        http_client=headroom_client.http_client("mock:mock", "acme", headroom),
    ) as client:
        return client.chat.completions.create(model="mock", messages=MESSAGES, max_tokens=100).usage.total_tokens


def anthropic_sync(provider, headroom):
    with Anthropic(
        api_key="none", base_url=f"http://127.0.0.1:{provider}", max_retries=0,
        http_client=headroom_client.http_client("mock:mock", "beta", headroom),
    ) as client:
        with client.messages.stream(model="mock", messages=MESSAGES, max_tokens=100) as stream:
            return stream.get_final_message().usage.output_tokens


async def burst(send, provider, headroom, seconds):
    outcomes = collections.Counter()

    async def one(stream):
        try:
            await send(provider, headroom, stream)
            outcomes["served"] += 1
        except Exception as error:
            outcomes[type(error).__name__] += 1

    calls = []
    for number in range(8 * seconds):
        calls.append(asyncio.create_task(one(number % 2 == 0)))
        await asyncio.sleep(1 / 8)
    await asyncio.gather(*calls)
    return outcomes


def main():
    program = pathlib.Path(sys.argv[sys.argv.index("--headroom") + 1]).resolve()
    processes = trial.Processes(pathlib.Path(tempfile.mkdtemp(prefix="headroom-trial-")))
    try:
        provider = trial.free_port()
        processes.start("provider", sys.executable, trial.HERE / "mock_provider.py", "--port", provider)
        control = trial.Control(program, processes)
        control.start()
        control.import_contracts()
        trial.wait_for(f"http://127.0.0.1:{provider}/stats")
        time.sleep(3)
        headroom = connection(control, "sdks").start()
        headroom.has_part.wait(10)
        assert openai_sync(provider, headroom) == 250 and anthropic_sync(provider, headroom) == 50
        for name, send in (("openai", openai_async), ("anthropic", anthropic_async)):
            print(f"{name:10}", dict(asyncio.run(burst(send, provider, headroom, 10))))
        with headroom_client.call("mock:mock", "acme", headroom, input_tokens=200, max_tokens=100) as slot:
            slot.answered(200, input_tokens=200, output_tokens=50)
        print(f"estimate of a call before it is sent: {headroom.estimator.estimate('acme', 200, 100)[1]:.0f} tokens; it costs 250")
        headroom.close()
        stats = trial.get(f"http://127.0.0.1:{provider}/stats")
        print("provider:", stats)
        sys.exit(0 if not stats["refused"] else 1)
    finally:
        processes.end_all()


if __name__ == "__main__":
    main()

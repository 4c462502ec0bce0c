"""A real proxy or library behind `headroom gate`, in front of a provider that takes four calls a second, with eight offered.

    python3 trial.py litellm --headroom ../../.build/release/headroom --workers 4
    python3 trial.py nginx-check --headroom … --normal 20 --halved 15 --killed 10 --gateless 5

Started by `.ci/try-adapters`, which installs what is needed. The provider's capacity is as agreed, then halved while its headers go on to
claim the contract, then it is whole again; then Headroom is killed and started again, and last the gate. The calls have no
`max_tokens`, half of them are streams, and half of those ask for their usage. Callers do not try again: a refusal is a refusal.

Standard output is one line of JSON. The exit code says whether all was as it should be; what was not is on standard error.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ADAPTERS = ROOT / "Sources" / "Adapters"
POOL = '{ pool: "mock:mock", provider: "openai", nominal: { rpm: %d, tpm: %d }, provider_burst_seconds: 5, burst_seconds: 4 }'
CONTRACTS = "tenant,tier,pool,floor_tpm\nacme,premium,mock:mock,15000\nbeta,premium,mock:mock,15000\ngamma,standard,,\n"
#: Calls a second.
TENANTS = {"acme": (1.0, "interactive"), "beta": (1.0, "interactive"), "gamma": (6.0, "batch")}
PROVIDER_CALLS = 4.0
CALL_TOKENS = 250
PROMPT = "Summarise: " + "word " * 36


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def get(url, method="GET"):
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=5) as answer:
        return json.load(answer)


def wait_for(url, seconds=180):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=2).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"nothing answers at {url}")


class Processes:
    """What the trial started; all of it ends with the trial."""

    def __init__(self, folder):
        self.folder, self.running = folder, {}

    def start(self, name, *command, **environment):
        output = open(self.folder / f"{name}.log", "ab")
        self.running[name] = subprocess.Popen(
            [str(part) for part in command], stdout=output, stderr=output, cwd=self.folder, start_new_session=True,
            env={**os.environ, **environment})

    def end(self, name, how=signal.SIGTERM):
        process = self.running.pop(name, None)
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def end_all(self):
        for name in reversed(list(self.running)):
            self.end(name)


class Control:
    """The service itself, with a pool that is the mock provider's, and contracts."""

    def __init__(self, program, processes, rpm=600, tpm=60_000):
        self.program, self.processes, self.port = pathlib.Path(program).resolve(), processes, free_port()
        policies = processes.folder / "policies"
        (policies / "pools").mkdir(parents=True)
        shutil.copy(ROOT / "policies" / "rules.json5", policies)
        (policies / "pools" / "mock.json5").write_text(POOL % (rpm, tpm))
        (processes.folder / "contracts.csv").write_text(CONTRACTS)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self.processes.start(
            "headroom", self.program, "serve", "--policies", "policies", "--database", "headroom.sqlite", "--listen",
            f"127.0.0.1:{self.port}")
        wait_for(self.url + "/healthz")

    def import_contracts(self):
        subprocess.run(
            [self.program, "tenants", "import", "contracts.csv", "--url", self.url, "--yes"], check=True,
            cwd=self.processes.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pool(self):
        pools = get(self.url + "/v1/pools")["pools"]
        return next(pool for pool in pools if pool["pool"] == "mock:mock")


class Gate:
    """`headroom gate` beside the proxy."""

    def __init__(self, control, *options):
        self.control, self.port, self.options = control, free_port(), options

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self.control.processes.start(
            "gate", self.control.program, "gate", "--listen", f"127.0.0.1:{self.port}", "--url", self.control.url, "--name",
            "gate", "--directory", "gate-files", *self.options)
        wait_for(self.url + "/healthz")


# ---- The programs --------------------------------------------------------------------------------------------------------


class LiteLLM:
    """From PyPI, as it is. Its keys are tenants' names."""

    health = "/health/liveliness"
    gate_options = ()
    tells_missed = True

    @staticmethod
    def spared(options):
        """The phases whose calls may still wait when the gate is killed. They all pass then, the provider refuses most of them, and
        LiteLLM tries each of those twice again, with pauses that no patience bounds."""
        left, spared = 0, []
        for name in ("after", "gateless", "back", "killed", "whole_again", "halved", "normal"):
            if left < options.patience:
                spared.append(name)
            left += getattr(options, name) if name not in ("after", "gateless") else 0
        return spared

    AUTH = "from litellm.proxy._types import UserAPIKeyAuth\n\nasync def check(request, api_key):\n" \
        "    return UserAPIKeyAuth(api_key=api_key, key_alias=api_key)\n"

    def start(self, port, options, processes, provider, gate):
        folder = processes.folder
        (folder / "trial_auth.py").write_text(self.AUTH)
        settings = "  num_retries: 2\n"
        if gate:
            shutil.copy(ADAPTERS / "headroom_litellm.py", folder)
            settings += "  callbacks: headroom_litellm.gateway\n"
        (folder / "config.yaml").write_text(
            "model_list:\n- model_name: mock\n"
            f"  litellm_params: {{model: openai/mock, api_base: 'http://127.0.0.1:{provider}/v1', api_key: none}}\n"
            "  model_info: {headroom_pool: 'mock:mock'}\n"
            f"litellm_settings:\n{settings}general_settings:\n  custom_auth: trial_auth.check\n")
        # Gunicorn's parent waits for workers that start slowly; uvicorn's ends them after five seconds.
        several = ["--run_gunicorn"] if options.workers > 1 and not options.uvicorn else []
        processes.start(
            "litellm", pathlib.Path(sys.executable).parent / "litellm", "--config", "config.yaml", "--port", port, "--host",
            "127.0.0.1", "--num_workers", options.workers, *several, LITELLM_MASTER_KEY="sk-trial",
            LITELLM_LOCAL_MODEL_COST_MAP="True", HEADROOM_GATE=gate.url if gate else "")


class Proxy:
    """One that reads a file of Sources/Adapters, in which the addresses and the pool are put in. Without Headroom it asks nobody."""

    health = "/stats"
    gate_options = ()
    tells_missed = True
    file, files = "", ()

    @staticmethod
    def spared(options):
        return ()

    def configure(self, port, options, processes, provider, gate):
        text = (ADAPTERS / self.file).read_text().replace("openai:gpt-4o", "mock:mock")
        for before, after in ((8080, port), (9000, provider), (8421, gate.port if gate else free_port()), (8422, free_port())):
            for form in ("127.0.0.1:{}", "port_value: {}"):
                text = text.replace(form.format(before), form.format(after))
        if not gate:
            text = self.without(text)
        path = processes.folder / pathlib.Path(self.file).name
        path.write_text(self.adjusted(text, options, provider))
        for name in self.files:
            shutil.copy(ADAPTERS / name, processes.folder)
        return path

    def adjusted(self, text, options, provider):
        return text

    def without(self, text):
        """The lines between `headroom {` and `headroom }`, in comments, are what a plain proxy has not."""
        kept, inside = [], False
        for line in text.splitlines():
            if line.strip() == "# headroom {":
                inside = True
            elif line.strip() == "# headroom }":
                inside = False
            elif not inside:
                kept.append(line)
        return "\n".join(kept) + "\n"


class NginxCheck(Proxy):
    """From Debian, without any module: `auth_request`. It reads no tokens, so the gate is told their mean."""

    file = "nginx/nginx-check.conf"
    gate_options = ("--default-output", "200")
    tells_missed = False

    def adjusted(self, text, options, provider):
        text = text.replace("worker_processes 1;", f"worker_processes {options.workers};")
        before, mark, after = text.rpartition("location / {")
        return before + "location /stats { proxy_pass http://provider; }\n        " + mark + after

    def start(self, port, options, processes, provider, gate):
        file = self.configure(port, options, processes, provider, gate)
        processes.start("nginx", "nginx", "-p", processes.folder, "-c", file)


class Nginx(NginxCheck):
    """From Debian, with its Lua module."""

    file, files = "nginx/nginx.conf", ("nginx/headroom_nginx.lua",)
    gate_options = ()
    tells_missed = True


class HAProxy(Proxy):
    """From Debian."""

    file, files = "haproxy/haproxy.cfg", ("haproxy/headroom.lua",)

    def start(self, port, options, processes, provider, gate):
        file = self.configure(port, options, processes, provider, gate)
        processes.start("haproxy", "haproxy", "-f", file, PWD=str(processes.folder))


class Envoy(Proxy):
    """From PyPI."""

    file = "envoy/envoy-check.yaml"

    def start(self, port, options, processes, provider, gate):
        file = self.configure(port, options, processes, provider, gate)
        processes.start(
            "envoy", pathlib.Path(sys.executable).parent / "envoy", "-c", file, "--use-dynamic-base-id", "--concurrency",
            max(1, options.workers))


PROGRAMS = {"litellm": LiteLLM, "nginx": Nginx, "nginx-check": NginxCheck, "haproxy": HAProxy, "envoy": Envoy}


# ---- The load ------------------------------------------------------------------------------------------------------------


class Tally:
    def __init__(self):
        self.offered = self.served = self.denied = self.failed = self.without_retry_after = 0
        self.seconds = []
        self.faults = set()

    def report(self):
        times = sorted(self.seconds)
        p50, p95 = (times[int(part * (len(times) - 1))] for part in (0.5, 0.95)) if times else (0, 0)
        return {"offered": self.offered, "served": self.served, "denied": self.denied, "failed": self.failed,
                "p50": round(p50, 3), "p95": round(p95, 3)}


async def call(port, tenant, criticality, form, tally, patience):
    """`form`: 0 and 1 whole answers, 2 a stream, 3 a stream that says its usage."""
    body = {"model": "mock", "messages": [{"role": "user", "content": PROMPT}]}
    if form > 1:
        body.update({"stream": True}, **({"stream_options": {"include_usage": True}} if form == 3 else {}))
    payload = json.dumps(body).encode()
    head = [
        "POST /v1/chat/completions HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Connection: close",
        f"Content-Length: {len(payload)}", f"Authorization: Bearer {tenant}", f"x-headroom-criticality: {criticality}",
        f"x-stainless-read-timeout: {patience}"]
    start = time.monotonic()
    tally.offered += 1
    answer = b""
    try:
        async with asyncio.timeout(patience):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(("\r\n".join(head) + "\r\n\r\n").encode() + payload)
            answer = await reader.read()
            writer.close()
        head, _, content = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if b"\ntransfer-encoding: chunked" in head.lower():
            content = unchunked(content)
        if status == 200 and (form < 2 or b"[DONE]" in content):
            tally.served += 1
            tally.seconds.append(time.monotonic() - start)
        elif status == 429:
            tally.denied += 1
            tally.without_retry_after += b"\nretry-after:" not in head.lower()
        else:
            tally.failed += 1
            tally.faults.add(f"{status} {content[:200]!r}")
    except (OSError, TimeoutError, IndexError, ValueError) as error:
        tally.failed += 1
        tally.faults.add(f"{type(error).__name__} after {answer[:80]!r}")


def unchunked(content):
    parts = []
    while content:
        size, _, content = content.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            break
        parts.append(content[:length])
        content = content[length + 2:]
    return b"".join(parts)


async def warm_up(port, options):
    """LiteLLM imports half of itself with its first calls."""
    for form in range(4):
        await asyncio.gather(*(call(port, "gamma", "batch", form, Tally(), 60) for _ in range(options.workers)))


async def arrive(port, tenant, phases, tallies, chance, patience):
    """`phases`: (name, end). A call belongs to the phase in which it arrives."""
    rate, criticality = TENANTS[tenant]
    calls = []
    for name, end in phases:
        while True:
            wait = chance.expovariate(rate)
            if time.monotonic() + wait >= end:
                await asyncio.sleep(max(0, end - time.monotonic()))
                break
            await asyncio.sleep(wait)
            calls.append(asyncio.create_task(call(port, tenant, criticality, chance.randrange(4), tallies[name][tenant], patience)))
    await asyncio.gather(*calls)


async def conduct(phases, provider, control, gate, seen):
    """What happens at each phase's beginning, and what is read at its end."""
    def counts():
        stats = get(f"http://127.0.0.1:{provider}/stats")
        return {name: sum(stats[name].values()) for name in ("served", "refused")}

    estimates = []

    async def watch_estimate(end):
        while time.monotonic() < end - 1:
            await asyncio.sleep(1)
            with contextlib.suppress(OSError, KeyError):
                capacity = (await asyncio.to_thread(control.pool))["capacity"]
                # Refusals that do not say what is used up leave it to Headroom which of the two has shrunk.
                estimates.append(round(min(capacity["rpm"], capacity["tpm"] / CALL_TOKENS)))

    processes = control.processes
    for name, end in phases:
        before = await asyncio.to_thread(counts)
        if name == "halved":
            await asyncio.to_thread(get, f"http://127.0.0.1:{provider}/halve?factor=0.5", "POST")
            await watch_estimate(end)
        elif name == "killed":
            processes.end("headroom", signal.SIGKILL)
        elif name == "gateless":
            processes.end("gate", signal.SIGKILL)
        await asyncio.sleep(max(0, end - time.monotonic()))
        if name == "halved":
            await asyncio.to_thread(get, f"http://127.0.0.1:{provider}/halve?factor=1", "POST")
        elif name == "killed":
            await asyncio.to_thread(control.start)
        elif name == "gateless":
            await asyncio.to_thread(gate.start)
        after = await asyncio.to_thread(counts)
        seen[name] = {key: after[key] - before[key] for key in after}
    if estimates:
        seen["estimates"] = estimates


async def load(port, options, provider, control, gate):
    lengths = {
        "normal": options.normal, "halved": options.halved, "whole_again": options.whole_again, "killed": options.killed,
        "back": options.back, "gateless": options.gateless, "after": options.after}
    if control is None:
        lengths = {"normal": options.normal}
    start, phases = time.monotonic(), []
    for name, seconds in lengths.items():
        if seconds:
            start += seconds
            phases.append((name, start))
    tallies = {name: {tenant: Tally() for tenant in TENANTS} for name, _ in phases}
    seen = {}
    work = [
        arrive(port, tenant, phases, tallies, random.Random(f"{options.seed} {tenant}"), options.patience) for tenant in TENANTS]
    if control:
        work.append(conduct(phases, provider, control, gate, seen))
    await asyncio.gather(*work)
    return {name: end for name, end in lengths.items() if end}, tallies, seen


# ---- The trial -----------------------------------------------------------------------------------------------------------


def measure(program, options, folder, processes):
    provider = free_port()
    processes.start("provider", sys.executable, HERE / "mock_provider.py", "--port", provider)
    wait_for(f"http://127.0.0.1:{provider}/stats")
    control = gate = None
    if not options.alone:
        control = Control(options.headroom, processes)
        control.start()
        control.import_contracts()
        gate = Gate(control, *program.gate_options)
        gate.start()
    port = free_port()
    program.start(port, options, processes, provider, gate)
    wait_for(f"http://127.0.0.1:{port}{program.health}")
    if options.ready:
        options.ready.touch()
    asyncio.run(warm_up(port, options))
    time.sleep(3)
    lengths, tallies, seen = asyncio.run(load(port, options, provider, control, gate))
    stats = get(f"http://127.0.0.1:{provider}/stats")
    result = {
        "program": options.program, "workers": options.workers, "with": not options.alone, "load_average": os.getloadavg()[0],
        "phases": {name: {"seconds": lengths[name], **{tenant: tally.report() for tenant, tally in tallies[name].items()},
                          "provider": seen.get(name)} for name in tallies},
        "provider": {name: sum(stats[name].values()) for name in ("served", "refused")},
        "estimates_in_halving": seen.get("estimates"),
        "refusals_without_retry_after": sum(tally.without_retry_after for each in tallies.values() for tally in each.values()),
        "faults": sorted({fault for each in tallies.values() for tally in each.values() for fault in tally.faults})[:5]}
    if control:
        time.sleep(3)
        result["gate"] = get(gate.url + "/v1/state")
        result["stored"] = stored(folder / "headroom.sqlite")
    return result


def stored(database):
    """What Headroom heard of the calls."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        rows = connection.execute(
            "SELECT outcome, count(*), sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) FROM call GROUP BY outcome").fetchall()
    # As Headroom numbers them, from 0 on.
    names = ("ok", "cached", "denied", "quota", "overload", "ramp", "billing", "auth", "client", "server", "error")
    return {names[outcome]: {"calls": calls, "tokens": tokens} for outcome, calls, tokens in rows}


#: What is asked for: the least share of acme and beta that is served, the most of its calls that the provider refuses, each as it is
#: agreed and while its capacity is halved or Headroom still looks for it; acme's p95; and the calls a minute that Headroom may see at a
#: halving's end. A halving of twelve seconds is hardly more than the time that Headroom needs to find it, and p95 of ten calls is the
#: slowest of them, so short runs ask for less.
GOALS = {"served": (0.98, 0.98), "refused": (0.01, 0.05), "p95": (0.3, 1.0), "estimate": 150}
SHORT = {"served": (0.9, 0.8), "refused": (0.05, 0.25), "p95": (0.3, 2.0), "estimate": 220}


def faults_of(result, slack, asked, tells_missed, spared):
    """What is not as it should be. `slack`: how many times longer than on a quiet machine calls may take. `tells_missed`: the door tells
    the gate, when it is back, of the calls that passed without it. `spared`: calls of these phases may outlast their callers."""
    faults = []

    def check(is_right, text):
        if not is_right:
            faults.append(text)

    for name, phase in result["phases"].items():
        check(name in spared or not any(phase[tenant]["failed"] for tenant in TENANTS), f"{name}: calls failed")
        if name in ("back", "gateless", "after"):
            # All that is asked for is that nothing hangs. Calls that wait when the gate is killed, at the end of `back`, pass.
            continue
        # A capacity that is back is found by trying, which takes half a minute.
        is_short = name != "normal" and result["phases"].get("whole_again", {}).get("seconds", 0) < 40
        is_scarce = int(is_short or name in ("halved", "whole_again"))
        for tenant in ("acme", "beta"):
            tally = phase[tenant]
            check(tally["served"] >= asked["served"][is_scarce] * tally["offered"] - 1,
                  f"{name}: {tenant} was served {tally['served']} of {tally['offered']}")
        attempts = phase["provider"]["served"] + phase["provider"]["refused"]
        check(phase["provider"]["refused"] <= max(1, asked["refused"][is_scarce] * attempts),
              f"{name}: the provider refused {phase['provider']}")
        served = phase["acme"]["served"] + phase["beta"]["served"]
        left = PROVIDER_CALLS * phase["seconds"] - served
        gamma = phase["provider"]["served"] - served
        check(is_scarce or gamma >= 0.95 * left, f"{name}: gamma got {gamma} of the {left:.0f} that were left")
        check(phase["acme"]["p95"] <= slack * asked["p95"][is_scarce], f"{name}: p95 of acme is {phase['acme']['p95']} s")
    if result["estimates_in_halving"]:
        last = result["estimates_in_halving"][-1]
        check(last <= asked["estimate"], f"at the end of the halving Headroom took the capacity for {last} calls a minute")
    told = result["phases"].get("gateless", {}).get("provider") or {"served": 0, "refused": 0}
    if told["served"] and tells_missed:
        missed = result["gate"]["pools"]["mock:mock"]["calls"]["missed"]
        check(missed >= 0.8 * (told["served"] + told["refused"]) - 3, f"the gate heard of {missed} calls that passed without it: {told}")
    ok = result["stored"].get("ok", {"calls": 0})["calls"]
    refused = sum(kind["calls"] for name, kind in result["stored"].items() if name in ("quota", "overload"))
    # The gate was killed with ends in its hands, and those of the last seconds are on their way. One that comes back within the lease
    # is refused until that has passed.
    lost = 20 + PROVIDER_CALLS * result["phases"].get("after", {}).get("seconds", 0)
    check(ok >= 0.9 * (result["provider"]["served"] - told["served"]) - lost, f"Headroom stored {ok} calls of {result['provider']}")
    check(refused >= 0.8 * (result["provider"]["refused"] - told["refused"]) - lost, f"Headroom stored {refused} refusals")
    return faults


# ---- Overhead ------------------------------------------------------------------------------------------------------------

STATIC = """daemon off; worker_processes 1; pid static.pid; error_log stderr crit; events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000; server { listen 127.0.0.1:%d; location / { default_type application/json;
return 200 '{"id":"c-1","object":"chat.completion","created":1,"model":"mock","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":200,"total_tokens":250}}'; } } }"""
WRK = """wrk.method = "POST"
wrk.body = '{"model":"mock","messages":[{"role":"user","content":"%s"}]}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer acme"
"""


def overhead(program, options, folder, processes):
    """Calls that never wait, alone and with the gate, in turns: median of one connection, calls a second of sixteen."""
    provider, ports = free_port(), {}
    (folder / "static.conf").write_text(STATIC % provider)
    processes.start("provider", "nginx", "-p", folder, "-c", folder / "static.conf")
    control = Control(options.headroom, processes, rpm=6_000_000, tpm=6_000_000_000)
    control.start()
    control.import_contracts()
    gate = Gate(control)
    gate.start()
    for name in ("alone", "with"):
        (folder / name).mkdir()
        inner, ports[name] = Processes(folder / name), free_port()
        program.start(ports[name], options, inner, provider, gate if name == "with" else None)
        processes.running.update({f"{name} {key}": process for key, process in inner.running.items()})
        wait_for(f"http://127.0.0.1:{ports[name]}{program.health}")
    time.sleep(3)
    (folder / "call.lua").write_text(WRK % PROMPT)
    result = {"program": options.program, "workers": options.workers, "load_average": os.getloadavg()[0]}
    found = {name: {"p50_ms": [], "p99_ms": [], "calls_per_second": []} for name in ports}
    for _ in range(3):
        for name, port in ports.items():
            one, many = (wrk(folder, port, connections) for connections in (1, 16))
            found[name]["p50_ms"].append(one[0])
            found[name]["p99_ms"].append(one[1])
            found[name]["calls_per_second"].append(many[2])
    return {**result, **found, "load_average_after": os.getloadavg()[0], "gate": get(gate.url + "/v1/state")["pools"]}


def wrk(folder, port, connections):
    """(p50, p99, calls a second) of three seconds."""
    text = subprocess.run(
        ["wrk", "--latency", "-t1", f"-c{connections}", "-d3s", "-s", folder / "call.lua", f"http://127.0.0.1:{port}/v1/chat/completions"],
        capture_output=True, text=True, check=True).stdout
    words = text.split()
    unit = {"us": 0.001, "ms": 1.0, "s": 1000.0}

    def milliseconds(word):
        digits = word.rstrip("mus")
        return round(float(digits) * unit[word[len(digits):]], 3)

    bad = "Non-2xx" in text
    return (*(milliseconds(words[words.index(part) + 1]) for part in ("50%", "99%")),
            "refusals" if bad else float(words[words.index("Requests/sec:") + 1]))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", choices=sorted(PROGRAMS))
    arguments.add_argument("--headroom", help="the program; needed but for --alone")
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--uvicorn", action="store_true", help="LiteLLM's workers without --run_gunicorn")
    arguments.add_argument("--alone", action="store_true", help="without Headroom, in the first phase only")
    arguments.add_argument("--patience", type=int, default=30, help="seconds after which a caller gives up")
    arguments.add_argument("--seed", type=int, default=1)
    for name, seconds, what in (
        ("normal", 60, "at the contract's capacity"), ("halved", 30, "at half of it"), ("whole-again", 40, "at all of it"),
        ("killed", 30, "without Headroom"), ("back", 15, "after its return"), ("gateless", 10, "without the gate"),
        ("after", 10, "after its return")):
        arguments.add_argument(f"--{name}", type=int, default=seconds, metavar="SECONDS", help=f"{what}; {seconds}")
    arguments.add_argument("--slack", type=float, default=1.0, help="how many times longer calls may take than on a quiet machine")
    arguments.add_argument("--short", action="store_true", help="ask for what a run of half a minute can show")
    arguments.add_argument("--overhead", action="store_true", help="measure what asking the gate costs, by wrk, in place of the phases")
    arguments.add_argument("--ready", type=pathlib.Path, metavar="FILE", help="a file that is made when the program has started")
    arguments.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = arguments.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headroom-trial-"))
    # A proxy that root starts reads its files as another user.
    folder.chmod(0o755)
    processes = Processes(folder)
    try:
        result = (overhead if options.overhead else measure)(PROGRAMS[options.program](), options, folder, processes)
    finally:
        processes.end_all()
        if options.keep:
            print(f"logs: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(result), flush=True)
    if options.overhead or options.alone:
        return
    faults = faults_of(
        result, options.slack, SHORT if options.short else GOALS, PROGRAMS[options.program].tells_missed,
        PROGRAMS[options.program].spared(options))
    for fault in faults:
        print(f"{options.program}: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

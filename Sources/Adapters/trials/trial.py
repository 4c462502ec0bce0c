"""A gateway in front of a provider that takes four calls a second, with eight offered: once alone, once with Headroom.

    python3 trial.py litellm --headroom ../../../.build/release/headroom
    python3 trial.py litellm --headroom … --workers 4 --stream --kill-headroom

Started by `.ci/try-adapters`, which installs the gateways. Prints who was served, and what the provider refused.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import gateways
import load

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
POOL = """{ pool: "mock:mock", provider: "openai", nominal: { rpm: 600, tpm: 60000 }, provider_burst_seconds: 6, burst_seconds: 5 }"""
CONTRACTS = "tenant,tier,pool,floor_tpm\nacme,premium,mock:mock,15000\nbeta,premium,mock:mock,15000\ngamma,standard,,\n"


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.load(answer)


def wait_for(url, seconds=300):
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

    def __init__(self, program, processes):
        self.program, self.processes, self.port = program, processes, free_port()
        policies = processes.folder / "policies"
        (policies / "pools").mkdir(parents=True)
        shutil.copy(ROOT / "policies" / "rules.json5", policies)
        (policies / "pools" / "mock.json5").write_text(POOL)
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


async def kill_for_a_while(control, seconds):
    """Kills the service in the middle of the load, and starts it again 30 s later."""
    await asyncio.sleep(seconds / 4)
    control.processes.end("headroom", signal.SIGKILL)
    await asyncio.sleep(30)
    await asyncio.to_thread(control.start)


async def measure(options, with_headroom):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="headroom-trial-"))
    # A gateway that root starts reads its files as another user.
    folder.chmod(0o755)
    processes = Processes(folder)
    try:
        provider = free_port()
        processes.start("provider", sys.executable, HERE / "mock_provider.py", "--port", provider)
        wait_for(f"http://127.0.0.1:{provider}/stats")
        control = None
        if with_headroom:
            control = Control(pathlib.Path(options.headroom).resolve(), processes)
            control.start()
            control.import_contracts()
            time.sleep(3)
        gateway = gateways.GATEWAYS[options.gateway](options, processes, provider, control)
        port = gateway.start(free_port())
        wait_for(f"http://127.0.0.1:{port}{gateway.health}")
        before = get(f"http://127.0.0.1:{provider}/stats")
        tasks = [load.run(port, options.seconds, stream=options.stream)]
        if control and options.kill_headroom:
            tasks.append(kill_for_a_while(control, options.seconds))
        tallies = (await asyncio.gather(*tasks))[0]
        after = get(f"http://127.0.0.1:{provider}/stats")
        refused = sum(after["refused"].values()) - sum(before["refused"].values())
        return tallies, sum(after["served"].values()) - sum(before["served"].values()), refused
    finally:
        processes.end_all()
        if options.keep:
            print(f"logs: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def show(title, tallies, served, refused):
    print(f"\n{title}")
    print(f"{'tenant':8}{'offered':>9}{'served':>9}{'share':>8}{'429':>6}{'failed':>8}{'p50 s':>8}{'p95 s':>8}")
    for tenant, tally in tallies.items():
        times = sorted(tally.latencies)
        p50, p95 = (statistics.median(times), times[int(0.95 * (len(times) - 1))]) if times else (0, 0)
        print(
            f"{tenant:8}{tally.offered:9}{tally.served:9}{tally.served / max(1, tally.offered):8.1%}{tally.denied:6}"
            f"{tally.failed:8}{p50:8.2f}{p95:8.2f}")
    bare = sum(tally.without_retry_after for tally in tallies.values())
    print(f"provider: {served} served, {refused} refused; {bare} of the 429s without Retry-After", flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("gateway", choices=sorted(gateways.GATEWAYS))
    arguments.add_argument("--headroom", required=True, help="the program")
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--stream", action="store_true")
    arguments.add_argument("--kill-headroom", action="store_true", help="for 30 s, after a quarter of the time")
    arguments.add_argument("--only", choices=["alone", "with"], help="one of the two runs")
    arguments.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = arguments.parse_args()
    words = [f"{options.workers} worker{'s' * (options.workers > 1)}"] + ["streams"] * options.stream
    if options.only != "with":
        show(f"{options.gateway} alone, {', '.join(words)}", *asyncio.run(measure(options, False)))
    if options.only != "alone":
        words += ["Headroom killed for 30 s"] * options.kill_headroom
        tallies, served, refused = asyncio.run(measure(options, True))
        show(f"{options.gateway} with Headroom, {', '.join(words)}", tallies, served, refused)
        good = refused == 0 and all(tallies[name].served > 0.95 * tallies[name].offered for name in ("acme", "beta"))
        print("acme and beta above 95 %, no call refused by the provider: " + ("yes" if good else "NO"))
        sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

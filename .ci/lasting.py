"""What the dashboard holds on to, and what an update of it costs: many pages, an hour of updates, 5,000 tenants."""

import json
import os
import time

from browser import Failure

# In place of the long poll: its last answer again with the next tick, at once, and a clock that keeps step. So an hour of
# updates, one each two seconds, passes in minutes; what a page asks for at times of its own comes as much sooner.
FAST = """
(() => {
  const fetched = window.fetch, now = Date.now, later = window.setTimeout;
  let last = null, ahead = 0;
  window.ticks = { done: 0, until: 0 };
  Date.now = () => now() + ahead;
  window.setTimeout = (run, wait, ...rest) => later(run, window.ticks.done < window.ticks.until ? wait / 60 : wait, ...rest);
  window.fetch = async (path, options) => {
    if (!String(path).startsWith("/v1/live?") || !last || ticks.done >= ticks.until) {
      const reply = await fetched(path, options);
      if (!String(path).startsWith("/v1/live?") || !reply.ok) return reply;
      const text = await reply.text();
      const state = JSON.parse(text);
      // Real ticks follow those that were made up.
      if (last && state.tick < last.tick) { state.tick = last.tick + 1; state.at = new Date(Date.parse(last.at) + 2000).toISOString(); }
      last = state;
      return new Response(JSON.stringify(state), { status: 200 });
    }
    // Drawn before the next one comes.
    await new Promise((done) => requestAnimationFrame(() => later(done, 0)));
    if (options?.signal?.aborted) throw options.signal.reason;
    ticks.done += 1;
    ahead += 2000;
    last = structuredClone(last);
    last.tick += 1;
    last.at = new Date(Date.parse(last.at) + 2000).toISOString();
    const wave = 0.75 + 0.25 * Math.sin(ticks.done / 20);
    for (const pool of last.pools) {
      for (const resource of Object.keys(pool.nominal)) pool.capacity[resource] = Math.round(pool.nominal[resource] * wave);
      pool.waiting = ticks.done % 40;
    }
    last.events = ticks.done % 50 ? [] : last.pools.map((pool) => ({ at: last.at, kind: "capacity", pool: pool.pool, tenant: null, text: `capacity at ${Math.round(100 * wave)} %` }));
    return new Response(JSON.stringify(last), { status: 200 });
  };
})();
"""
# An hour, at a tick each two seconds; before it half an hour, until all that is kept of the past is full.
HOUR, FILLING = 1800, 900
# How much more there may be at the end: what is shown differs a little from tick to tick.
MOST_NODES, MOST_LISTENERS, MOST_MEGABYTES = 400, 40, 1.0


class Weight:
    """What a page holds, after a forced collection."""

    def __init__(self, page):
        for _ in range(2):
            page.send("HeapProfiler.collectGarbage")
        self.megabytes = page.send("Runtime.getHeapUsage")["usedSize"] / 1e6
        counters = page.send("Memory.getDOMCounters")
        self.nodes, self.listeners = counters["nodes"], counters["jsEventListeners"]

    def __str__(self):
        return f"heap {self.megabytes:.1f} MB, {self.nodes} nodes, {self.listeners} listeners"

    def check(self, later, what):
        print(f"  {what}: {self}; then {later}", flush=True)
        faults = [
            f"{name} grew from {before:.1f} to {after:.1f}"
            for name, before, after, most in (
                ("the heap in MB", self.megabytes, later.megabytes, MOST_MEGABYTES),
                ("nodes", self.nodes, later.nodes, MOST_NODES),
                ("listeners", self.listeners, later.listeners, MOST_LISTENERS))
            if after > before + most]
        if faults:
            raise Failure(f"{what}: {'; '.join(faults)}")


def visits(page, url, addresses, count):
    """Many pages, each left as soon as it shows something: nothing of them stays."""

    def visit(times):
        for index in range(times):
            page.open(f"{url}/#/{addresses[index % len(addresses)]}")
            page.wait("Boolean(document.querySelector('main h1'))")
        page.open(url + "/#/")
        page.wait("document.querySelectorAll('.canvas path').length > 2")
        # What was asked for meanwhile is answered.
        time.sleep(2)

    visit(2 * len(addresses))
    before = Weight(page)
    visit(count)
    before.check(Weight(page), f"{count} pages later")


def hour(page, url, addresses):
    """Pages that stay open for an hour: nothing grows once half an hour of samples is there."""
    page.send("Page.addScriptToEvaluateOnNewDocument", source=FAST)
    page.send("Page.reload")
    page.wait("Boolean(window.ticks)")
    for address in addresses:
        page.open(f"{url}/#/{address}")
        page.wait("document.querySelectorAll('.canvas path').length > 2")
        page.run("(() => { const s = document.querySelector('.bar select'); s.value = '1800'; s.dispatchEvent(new Event('change')); })()")

        def pass_by(count):
            page.run(f"ticks.until = ticks.done + {count}")
            page.wait("ticks.done >= ticks.until", 240)
            time.sleep(2)

        pass_by(FILLING)
        before = Weight(page)
        begun = time.monotonic()
        pass_by(HOUR)
        before.check(Weight(page), f"/{address} open for an hour ({HOUR} updates in {time.monotonic() - begun:.0f} s)")


def scale(browser, service, reports=14):
    """5,000 tenants in 20 pools: the first view within a second, updates within 100 ms, all below 300 KB."""
    pools = [f"scale:{index:02}" for index in range(20)]
    directory = os.path.join(service.policies, "pools")
    with open(os.path.join(directory, os.listdir(directory)[0])) as file:
        text = file.read()
    for pool in pools:
        with open(os.path.join(directory, pool.replace(":", "-") + ".json5"), "w") as file:
            file.write(text.replace(service.pool, pool))
    service.start()
    try:
        def report(round):
            lines = []
            for index in range(5000):
                lines.append(json.dumps({
                    "type": "call", "id": f"gw-1:{round:03}{index:06}", "gateway": "gw-1", "tenant": f"tenant-{index:04}",
                    "pool": pools[index % 20], "outcome": "ok", "latency_ms": 400,
                    "input_tokens": 300 + 7 * ((index + round) % 50), "output_tokens": 50}))
            service.call("gw-1", "POST", "/v1/telemetry", "\n".join(lines) + "\n", "application/x-ndjson")

        for round in range(4):
            report(round)
            time.sleep(2)
        page = browser.page()
        page.open(service.url + "/")
        page.text("Sign in")
        page.fill("token", service.tokens["sre"])
        page.key("Enter")
        page.text("Sign out")
        page.text("scale:00")
        # Anew, as somebody who is signed in opens it. The page itself notes when its first plots are there.
        browser.requests.clear()
        page.send("Network.clearBrowserCache")
        page.send("Page.addScriptToEvaluateOnNewDocument", source="""
            new MutationObserver((_, observer) => {
              if (document.querySelectorAll(".canvas svg .mark-line").length < 4) return;
              window.plotted = performance.now() / 1000;
              observer.disconnect();
            }).observe(document, { childList: true, subtree: true });
            new PerformanceObserver((list) => {
              for (const entry of list.getEntries()) window.longest = Math.max(window.longest ?? 0, entry.duration);
            }).observe({ type: "longtask" });""")
        page.send("Page.reload", ignoreCache=True)
        seconds = page.wait("window.plotted")
        time.sleep(3)
        size = sum(browser.requests.values())
        print(f"  first view with plots after {seconds:.2f} s, {size / 1000:.0f} KB in all", flush=True)
        faults = []
        if seconds > 1:
            faults.append(f"the first view took {seconds:.2f} s, more than 1 s")
        if size > 300_000:
            faults.append(f"{size} bytes were loaded, more than 300,000")

        def busy():
            return next(m["value"] for m in page.send("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")

        def tick():
            return page.run(
                "fetch('/v1/live?tenants=0&pool=scale:00', {headers: {'Headroom-Request': 'dashboard'}})"
                ".then(reply => reply.json()).then(state => state.tick)")

        for address in ("", "pool/scale:00"):
            page.open(f"{service.url}/#/{address}")
            page.wait("document.querySelectorAll('.canvas svg .mark-line').length >= 4")
            time.sleep(2)
            page.run("window.longest = 0")
            first, before = tick(), busy()
            for _ in range(reports // 2):
                round += 1
                report(round)
                time.sleep(2)
            updates = tick() - first
            mean, longest = 1000 * (busy() - before) / max(1, updates), page.run("window.longest")
            print(f"  /{address}: {mean:.0f} ms of main thread an update, over {updates} of them; "
                  f"longest task {f'{longest:.0f} ms' if longest else 'below 50 ms'}", flush=True)
            if updates < reports // 2:
                faults.append(f"/{address} saw {updates} updates only")
            if mean > 100 or longest > 100:
                faults.append(f"an update of /{address} took {mean:.0f} ms, its longest task {longest:.0f} ms; more than 100 ms")
        # Before the service goes, which the page would complain of.
        page.close()
        if faults:
            raise Failure("\n".join(faults))
    finally:
        service.stop()

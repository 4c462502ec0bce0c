"""The connection of `headroom_litellm.py` against a control plane that says what the test wants: draws, places, the saved snapshot."""

import collections
import concurrent.futures
import gzip
import http.server
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

import headroom_litellm as headroom

POOL = {
    "state": "healthy", "mode": "full", "enforce": True, "capacity": {"rpm": 6000}, "budget": {"rpm": 60},
    "fallback": {"rpm": 30}, "float": {"rpm": 5940}, "burst_seconds": 5, "failover": [],
    "retry": {"after_ms": 1000, "jitter_ms": 0}, "unlisted": {"rpm": 1},
    "tenants": {"acme": {"rpm": 30, "ceiling": {"rpm": 6000}, "safe": {"rpm": 30}, "weight": 1, "service_clock": 0}}}


class ControlPlane(http.server.ThreadingHTTPServer):
    """Serves one allocation for ever; `draws` has what was drawn, and each draw is granted all that waits."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.draws, self.has_drawn = [], threading.Event()
        self.ending = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def end(self):
        self.ending.set()
        self.shutdown()
        self.server_close()


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        is_known = "applied=" in self.path
        if "since=" in self.path:
            self.server.ending.wait(1)  # A long poll.
            self.answer(200, {"epoch": 7, "generation": 1, "lease_seconds": 15, "since": "7.1", "pools": {}})
        else:
            self.answer(
                200, {"epoch": 7, "generation": 1, "lease_seconds": 15, "pools": {"p": dict(POOL, enforce=is_known)}})

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/v1/draw":
            return self.answer(200, {"accepted": 0})
        if self.headers["Content-Encoding"] == "gzip":
            content = gzip.decompress(content)
        draw = json.loads(content)
        granted = {tenant: len(heads) for tenant, heads in draw["waiting"].items()}
        self.answer(200, {
            "sequence": draw["sequence"], "granted": granted, "granted_total": {}, "service_clocks": {"acme": 3.5}, "wait_ms": 50})
        self.server.draws.append(draw)
        if granted:
            self.server.has_drawn.set()

    def do_DELETE(self):
        self.answer(200, {})

    def log_message(self, *arguments):
        pass


class OnItsOwnClock(headroom.Headroom):
    """Without threads and without a service: the test says what time it is."""

    def __init__(self):
        super().__init__("http://127.0.0.1:9", gateway="gw", max_wait=10, directory="")
        self.clock, self.pid = 1_000_000, os.getpid()
        self._begin()
        self.name = "gw.1"
        self.version, self.allocations = (7, 1), {"p": headroom.Allocation(POOL)}
        self.lease_until = self.clock + 10_000_000

    def now(self):
        return self.clock

    def pass_time(self, milliseconds):
        self.clock += milliseconds
        self._pump(self.gates["p"], self.clock)
        self._drop_places(self.clock)


class DrawTests(unittest.TestCase):
    def test_what_waits_is_drawn_from_the_float(self):
        control = ControlPlane()
        with tempfile.TemporaryDirectory() as folder:
            gateway = headroom.Headroom(control.url, gateway="draws", max_wait=20, directory=folder).start()
            try:
                self.assertTrue(gateway.has_part.wait(5))
                # The budget is a call a second; what it does not have at once comes by draws.
                slots = [gateway.ask("p", "acme", input_tokens=10, max_tokens=1) for _ in range(40)]
                done = concurrent.futures.wait([slot.future for slot in slots], timeout=5)
                self.assertEqual(len(done.not_done), 0)
                self.assertTrue(control.has_drawn.is_set())
                counts = gateway.gates["p"].counts
                self.assertGreaterEqual(counts["drawn"], 30)
                self.assertEqual(counts["assured"] + counts["lent"] + counts["drawn"], 40)
                first = next(draw for draw in control.draws if draw["waiting"])
                self.assertEqual((first["gateway"], first["pool"], first["epoch"]), (gateway.name, "p", 7))
                self.assertEqual(first["waiting"]["acme"][0]["tokens"], 11)
                self.assertEqual([draw["sequence"] for draw in control.draws], sorted({d["sequence"] for d in control.draws}))
            finally:
                gateway.close()
                control.end()

    def test_a_process_that_starts_alone_begins_with_the_fallback_that_was_saved(self):
        control = ControlPlane()
        with tempfile.TemporaryDirectory() as folder:
            before = headroom.Headroom(control.url, gateway="saved", directory=folder).start()
            self.assertTrue(before.has_part.wait(5))
            before.close()
            control.end()
            alone = headroom.Headroom(control.url, gateway="saved", max_wait=0, directory=folder).start()
            try:
                self.assertFalse(alone.has_part.is_set())
                slots = [alone.ask("p", "acme", input_tokens=1, max_tokens=1) for _ in range(20)]
                served = sum(1 for slot in slots if slot.future.done() and slot.future.exception() is None)
                # Half a call a second, five seconds of it at once, and one more that makes a debt.
                self.assertIn(served, (2, 3))
            finally:
                alone.close()

    def test_a_saved_snapshot_that_cannot_be_read_is_as_none(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "broken.json").write_text("[]")
            gateway = headroom.Headroom("http://127.0.0.1:9", gateway="broken", max_wait=0, directory=folder).start()
            try:
                self.assertIsNone(gateway.ask("p", "acme", input_tokens=1).future.exception(1))
            finally:
                gateway.close()


class PlaceTests(unittest.TestCase):
    def fill(self, gateway):
        """Uses up what may go at once; the gate then has a call each second."""
        while True:
            slot = gateway.ask("p", "acme", input_tokens=1, max_tokens=1, max_wait=0.001)
            if not slot.future.done():
                gateway.pass_time(2)
                # What has come back meanwhile goes as well, and leaves a debt of nearly a second.
                self.assertTrue(gateway.ask("p", "acme", input_tokens=1, max_tokens=1).future.done())
                return slot.future.exception()

    def setUp(self):
        self.gateway = OnItsOwnClock()
        self.gateway.draws = False
        self.assertGreater(self.fill(self.gateway).retry_after, 0)

    def denied(self, count=1, **wishes):
        """The waits that so many callers at once are told."""
        slots = [
            self.gateway.ask("p", "acme", input_tokens=1, max_tokens=1, max_wait=0.001, **{"comes_back": True, **wishes})
            for _ in range(count)]
        self.gateway.pass_time(2)
        return [slot.future.exception(0).retry_after for slot in slots]

    def places(self):
        return sum(map(len, self.gateway.places.values()))

    def test_the_wait_that_a_refusal_names_is_held_for_its_caller(self):
        first, second, third = self.denied(3)
        # A place each, a second apart.
        self.assertTrue(0.9 < second - first < 1.1 and 0.9 < third - second < 1.1, (first, second, third))
        newer = self.gateway.ask("p", "acme", criticality="batch", input_tokens=1, max_tokens=1, max_wait=9)
        self.gateway.pass_time(int(second * 1000) + 20)
        for _ in range(2):
            back = self.gateway.ask("p", "acme", input_tokens=1, max_tokens=1, max_wait=0.001, attempt=2)
            self.assertIsNone(back.future.exception(0))
        self.assertFalse(newer.future.done())
        self.assertEqual(self.places(), 1)

    def test_who_comes_back_too_early_keeps_its_place(self):
        waits = [self.denied(attempt=number)[0] for number in (1, 2, 3)]
        self.assertEqual(self.places(), 1)
        self.assertLess(waits[-1], waits[0])

    def test_a_place_that_nobody_comes_back_for_flows_back(self):
        wait = self.denied()[0]
        self.gateway.lines.clear()
        self.gateway.pass_time(int(wait * 1000) + 20)
        granted = [place.call.grant for kept in self.gateway.places.values() for place in kept]
        self.assertEqual(len(granted), 1)
        self.assertIsNotNone(granted[0])
        level = self.gateway.gates["p"].budget.level[0]
        self.gateway.pass_time(3000)
        self.assertEqual(self.gateway.places, {})
        self.assertGreater(self.gateway.gates["p"].budget.level[0], level + 3.9)
        self.assertEqual([json.loads(line)["outcome"] for line in self.gateway.lines], ["denied"])

    def test_a_caller_who_gives_up_sooner_gets_no_place(self):
        self.denied(timeout=0.5)
        self.denied(comes_back=False)
        self.assertEqual(self.places(), 0)
        self.denied(timeout=60)
        self.assertEqual(self.places(), 1)

    def test_sdks_say_whether_they_come_back(self):
        for count, expected in ((None, False), ("0", True), ("1", True), ("2", False), ("x", False)):
            headers = {} if count is None else {"x-stainless-retry-count": count}
            self.assertEqual(headroom.comes_back(headers), expected)


class TaskKindTests(unittest.TestCase):
    """The cost breaker's hold on kinds of agent tasks."""

    def setUp(self):
        self.gateway = OnItsOwnClock()
        self.gateway.draws = False
        kinds = {"research": {"rpm": 6}, "paused": {"rpm": 0}}
        self.gateway.allocations = {"p": headroom.Allocation(dict(POOL, task_kinds=kinds))}

    def ask(self, kind, max_wait=0.0):
        return self.gateway.ask("p", "acme", input_tokens=1, max_tokens=1, max_wait=max_wait, task_kind=kind)

    def test_a_paused_kind_does_not_go_and_others_do(self):
        denied = self.ask("paused", 60).future.exception(0)
        self.assertIn('tasks of the kind "paused" are paused', str(denied))
        self.assertEqual(denied.headers()["x-should-retry"], "false")
        for kind in (None, "review", "research"):
            self.assertIsNone(self.ask(kind).future.exception(0))
        lines = [json.loads(line) for line in self.gateway.lines]
        self.assertEqual([(line["outcome"], line["task_kind"]) for line in lines], [("denied", "paused")])

    def test_a_slowed_kind_goes_at_its_rate(self):
        self.assertIsNone(self.ask("research").future.exception(0))
        denied = self.ask("research").future.exception(0)
        self.assertEqual(denied.retry_after, 10)
        self.assertEqual(denied.headers()["x-should-retry"], "true")
        waiting = self.ask("research", max_wait=15)
        self.gateway.pass_time(9_900)
        self.assertFalse(waiting.future.done())
        self.gateway.pass_time(200)
        self.assertIsNone(waiting.future.exception(0))
        went = 0
        for _ in range(600):
            self.gateway.pass_time(1000)
            went += self.ask("research").future.exception(0) is None
        self.assertTrue(58 <= went <= 61, went)

    def test_the_kind_is_read_from_the_header_and_from_baggage(self):
        self.assertEqual(headroom.wishes_of({"x-headroom-task-kind": "deep research"})["task_kind"], "deep research")
        self.assertEqual(headroom.wishes_of({"baggage": "headroom.task-kind=deep%20research"})["task_kind"], "deep research")
        self.assertIsNone(headroom.wishes_of({})["task_kind"])


if __name__ == "__main__":
    unittest.main()

"""Plays the vectors that Headroom's own gate wrote against the gate in Python: `python3 -m unittest discover Sources/Adapters/tests`.

A gate in another language can be tested in the same way; `headroom conformance --help` describes the file.
"""

import json
import math
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import headroom_litellm as headroom

AMOUNTS = ("requests", "tokens", "input_tokens", "output_tokens")


def work(fields):
    return tuple(float(fields.get(name, 0)) for name in AMOUNTS)


class Player:
    """One story on one gate. Each operation returns what the step's `expect` is compared with."""

    def __init__(self):
        self.gate = headroom.PoolGate(0)
        self.calls = {}

    def play(self, step):
        return getattr(self, step["do"])(step["at"], step)

    @staticmethod
    def sent(calls):
        return [{"id": call.id, "grant": call.grant} for call in calls]

    def load(self, now, step):
        pools = step["snapshot"]["pools"]
        self.gate.load(headroom.Allocation(pools["pool"]), step["lease_until"], now)

    def renew(self, now, step):
        self.gate.renew(step["lease_until"], now)

    def clocks(self, now, step):
        self.gate.update_clocks(step["service_clocks"], now)

    def enqueue(self, now, step):
        fields = step["call"]
        call = headroom.Call(
            fields["id"], fields["tenant"], headroom.CRITICALITIES.index(fields["criticality"]), work(fields["estimate"]),
            now, fields["deadline"])
        self.calls[call.id] = call
        return self.gate.enqueue(call, now)

    def kind(self, now, step):
        return self.gate.kinds.ask(step["kind"], step["patience"], now)

    def dispatch(self, now, step):
        return self.sent(self.gate.dispatch(now))

    def wake(self, now, step):
        return self.gate.next_wake(now)

    def expire(self, now, step):
        return [call.id for call in self.gate.expire(now)]

    def divert(self, now, step):
        return [call.id for call in self.gate.divert(now)]

    def settle(self, now, step):
        self.gate.settle(self.calls[step["id"]], work(step["actual"]), now)

    def refused(self, now, step):
        return self.gate.refused(self.calls[step["id"]], step.get("reset_seconds"), step["jitter"], now)

    def observe(self, now, step):
        windows = [
            (AMOUNTS.index(window["resource"]), window["limit"], window["remaining"], window["reset_ms"], window["window_s"])
            for window in step["windows"]]
        self.gate.observe(headroom.Signal(step["kind"], windows, step["retry_after_ms"]), now)

    def queues(self, now, step):
        return [
            {"tenant": tenant, "criticality": headroom.CRITICALITIES[criticality], "depth": depth, "tokens": tokens}
            for (tenant, criticality), (depth, tokens, _) in sorted(self.gate.queues().items())]

    def start_drawing(self, now, step):
        self.gate.start_drawing(step["boot"], now)

    def draw(self, now, step):
        request = self.gate.next_draw(step["epoch"], now)
        if request is None:
            return None
        return {
            "sequence": request["sequence"],
            "returned": self.amounts(request["returned"]), "granted_used": self.amounts(request["used"]),
            "spent": {tenant: spent[0] for tenant, spent in request["spent"]},
            "waiting": {tenant: [estimate[2] for estimate in (call.estimate for call in calls)]
                        for tenant, calls in request["waiting"]}}

    def answer(self, now, step):
        return self.sent(self.gate.receive(
            step["sequence"], step["granted"], step["service_clocks"], step["wait_ms"], now))

    @staticmethod
    def amounts(amounts):
        return {name: amount for name, amount in zip(AMOUNTS, amounts) if amount != 0}


def is_same(expected, found):
    """Numbers may differ in their last digits: sums were made in another order."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(is_same(expected[key], found[key]) for key in expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(is_same, expected, found))
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        return math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-6)
    return expected == found


class LawTests(unittest.TestCase):
    def test_the_gate_decides_as_headrooms_own_does(self):
        player, story, compared = None, None, 0
        for number, line in enumerate((HERE / "vectors.jsonl").read_text().splitlines(), 1):
            step = json.loads(line)
            if "story" in step:
                player, story = Player(), step["story"]
                continue
            found = player.play(step)
            if "expect" in step:
                compared += 1
                self.assertTrue(
                    is_same(step["expect"], found),
                    f"vectors.jsonl:{number}, {story}: {step['do']} at {step['at']}\nexpected {step['expect']}\nfound    {found}")
        self.assertGreater(compared, 1000)

    def test_a_flapping_rate_refills_nothing(self):
        bucket = headroom.Bucket((60.0, None, None, None), 5, 0)
        admitted = 0
        for now in range(0, 60_000, 10):
            bucket.change((60.0 if now // 1000 % 2 else 120.0, None, None, None), 5, now)
            while bucket.admits(now):
                bucket.charge(headroom.ONE_REQUEST, now)
                admitted += 1
        # One minute at 60 and 120 in turn is 90; the bucket begins with ten.
        self.assertLessEqual(admitted, 90 + 10 + 1)


class CallerTests(unittest.TestCase):
    def test_wishes_are_read_from_headers_and_from_baggage(self):
        wishes = headroom.wishes_of({
            "x-headroom-criticality": "batch", "x-headroom-max-wait-ms": "1500", "x-stainless-read-timeout": "60",
            "baggage": "headroom.task=t-9, other=1"})
        self.assertEqual(
            wishes, {"criticality": "batch", "max_wait": 1.5, "timeout": 60.0, "task": "t-9", "parent": None, "task_kind": None})

    def test_a_429_about_money_is_not_about_quota(self):
        self.assertEqual(headroom.kind_of(429, '{"error":{"code":"insufficient_quota"}}'), "billing")
        self.assertEqual(headroom.kind_of(429, '{"error":{"code":"rate_limit_exceeded"}}'), "quota")
        self.assertEqual(headroom.kind_of(529), "overload")

    def test_limits_are_read_from_both_kinds_of_headers(self):
        openai = headroom.signal_of(429, {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m0.5s"})
        self.assertEqual(openai.windows, [(1, None, 0.0, 60500.0, 86400.0)])
        anthropic = headroom.signal_of(200, {
            "anthropic-ratelimit-input-tokens-limit": "40000", "anthropic-ratelimit-input-tokens-remaining": "39000"})
        self.assertEqual(anthropic.windows, [(2, 40000.0, 39000.0, None, None)])

    def test_a_refusal_tells_sdks_how_long_to_wait_and_whether_it_pays(self):
        denied = headroom.Denied("acme", "pool", 2.4, "its wait is over")
        self.assertEqual(
            denied.headers(10), {"retry-after-ms": "2400", "retry-after": "3", "x-should-retry": "true"})
        self.assertEqual(denied.headers(1)["x-should-retry"], "false")


if __name__ == "__main__":
    unittest.main()

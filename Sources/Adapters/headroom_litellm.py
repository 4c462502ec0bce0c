"""Headroom beside LiteLLM: copy this one file next to LiteLLM's config.yaml and name it there:

    litellm_settings:
      callbacks: headroom_litellm.gateway
    model_list:
      - model_name: gpt-4o
        litellm_params: {...}
        model_info: {headroom_pool: "openai:gpt-4o"}

It needs Python 3.9 and nothing but the standard library. LiteLLM loads a callback by its path (or from a bucket) and finds no file
that lies beside it, so this one is whole: the law of a Headroom gateway (`Bucket` to `PoolGate`), its connection (`Headroom`), and
LiteLLM's hooks (`LiteLLMGateway`). `headroom_client.py` uses the first two for OpenAI's and Anthropic's SDKs.

The law is that of the Swift library `HeadroomEnforcement`, name by name; `tests/vectors.json` was written by it, and both are tested
with it. Instants are whole milliseconds of a monotonic clock; rates are per minute.

Settings are environment variables:

    HEADROOM_URL                 the service; default http://127.0.0.1:8420
    HEADROOM_TOKEN               a token of role gateway, for the names GATEWAY.*
    HEADROOM_GATEWAY             default: the host's name. Each worker process is GATEWAY.1, GATEWAY.2, …
    HEADROOM_POOL                the pool of deployments that name none; without it they are left alone
    HEADROOM_TENANT              where a tenant's name is looked for, in order; default: team_id,org_id,key_alias,end_user_id,user_id
    HEADROOM_TRUST_HEADERS       1: callers may name their tenant in x-headroom-tenant
    HEADROOM_MAX_WAIT_SECONDS    the longest wait of a call that names none; default 30
    HEADROOM_DRAW                0: never draw from the pool's float
    HEADROOM_DIRECTORY           where the last snapshot is kept; default: ~/.cache/headroom. Empty: nowhere
"""

import asyncio
import collections
import concurrent.futures
import contextvars
import gzip
import heapq
import http.client
import json
import logging
import math
import os
import random
import re
import socket
import ssl
import sys
import tempfile
import threading
import time
import urllib.parse

log = logging.getLogger("headroom")

# ---- Amounts -------------------------------------------------------------------------------------------------------------

#: What a pool may limit, per minute. `Rates` are four numbers in this order, None where a resource is not limited; `Work` is four
#: amounts.
RATE_NAMES = ("rpm", "tpm", "itpm", "otpm")
LANES = range(4)
UNLIMITED = (None, None, None, None)
NOTHING = (0.0, 0.0, 0.0, 0.0)
ONE_REQUEST = (1.0, 0.0, 0.0, 0.0)
CRITICALITIES = ("interactive", "near_real_time", "batch")
INTERACTIVE = 0
NEVER = 1 << 62


def rates_of(fields):
    """The rates in a JSON object, such as {"rpm": 60, "tpm": 6000}."""
    if not fields:
        return UNLIMITED
    return tuple(None if fields.get(name) is None else float(fields[name]) for name in RATE_NAMES)


def work_of(input_tokens, output_tokens):
    return (1.0, float(input_tokens + output_tokens), float(input_tokens), float(output_tokens))


def amounts_of(work):
    """As JSON has it; tokens of input and output only where there are any."""
    return {name: amount for name, amount in zip(("requests", "tokens", "input_tokens", "output_tokens"), work)
            if amount or name in ("requests", "tokens")}


def plus(left, right):
    return tuple(left[lane] + right[lane] for lane in LANES)


def minus(left, right):
    return tuple(left[lane] - right[lane] for lane in LANES)


def times(work, factor):
    return tuple(amount * factor for amount in work)


def work_over(rates, seconds):
    """What the rates allow in that time; 0 where nothing is limited."""
    return tuple(0.0 if rate is None else rate * (seconds / 60) for rate in rates)


def seconds_of(work, capacity):
    """How long the capacity is busy with the work, by its tightest resource."""
    busy = [work[lane] * 60 / capacity[lane] for lane in LANES if capacity[lane] is not None and capacity[lane] > 0]
    return max([0.0] + busy)


def after(now, seconds):
    return now + math.floor(seconds * 1000 + 0.5)


def decay(seconds, half_life):
    return 1.0 if seconds <= 0 else 0.5 ** (seconds / half_life)


# ---- The law -------------------------------------------------------------------------------------------------------------


class Bucket:
    """A token bucket in all limited resources together, that may go into debt by one call.

    A call is admitted when the level is above 0 in every limited resource and is then charged whole, so a call larger than the
    burst still goes. A change of rates keeps the level in proportion to the burst: it refills nothing and leaves no gap.
    """

    __slots__ = ("rates", "level", "burst", "refilled_at", "spilled", "passed_on")

    def __init__(self, rates, burst_seconds, now, at_least=ONE_REQUEST):
        self.rates = rates
        self.burst = self._burst(rates, burst_seconds, at_least)
        self.level = list(self.burst)
        self.refilled_at = now
        self.spilled = [0.0] * 4
        self.passed_on = 0.0

    def admits(self, now, keeping=NOTHING):
        self._refill(now)
        return all(self.rates[lane] is None or self.level[lane] > keeping[lane] for lane in LANES)

    def covers(self, work, now):
        """Whether the work may go without debt; work larger than the burst, from a full bucket."""
        self._refill(now)
        return all(
            self.rates[lane] is None or self.level[lane] >= min(work[lane], self.burst[lane]) for lane in LANES)

    def charge(self, work, now):
        """Negative work gives back; what flows over is lost."""
        self._refill(now)
        for lane in LANES:
            self.level[lane] -= work[lane]
        self._spill()

    def change(self, rates, burst_seconds, now, at_least=ONE_REQUEST):
        self._refill(now)
        burst = self._burst(rates, burst_seconds, at_least)
        for lane in LANES:
            if rates[lane] is None:
                continue
            if self.rates[lane] is None:
                self.level[lane] = burst[lane]
            elif self.level[lane] > 0:
                self.level[lane] *= burst[lane] / self.burst[lane]
        self.rates, self.burst = rates, burst

    def resize(self, burst_seconds, now, at_least=ONE_REQUEST):
        """Another size; what is saved up stays, as far as it fits."""
        self._refill(now)
        self.burst = self._burst(self.rates, burst_seconds, at_least)
        for lane in LANES:
            self.level[lane] = min(self.level[lane], self.burst[lane])

    def lower(self, lane, most, now):
        self._refill(now)
        self.level[lane] = min(self.level[lane], most)

    def pass_on(self, share, now):
        """From now on this share of what flows in counts as overflow at once."""
        self._refill(now)
        self.passed_on = share

    def take_overflow(self, now):
        self._refill(now)
        taken = tuple(0.0 if self.rates[lane] is None else self.spilled[lane] for lane in LANES)
        self.spilled = [0.0] * 4
        return taken

    def admission(self, now, keeping=NOTHING):
        """When the next call may go that leaves `keeping`; None when no time brings it."""
        start = max(now, self.refilled_at)
        longest = None
        for lane in LANES:
            if self.rates[lane] is None:
                continue
            per_second = self.rates[lane] / 60 * (1 - self.passed_on)
            level = self.level[lane] + (start - self.refilled_at) / 1000 * per_second - keeping[lane]
            if level > 0:
                continue
            if per_second <= 0:
                return None
            longest = max(longest or 0.0, -level / per_second)
        return start if longest is None else after(start, longest + 0.001)

    def _refill(self, now):
        elapsed = (now - self.refilled_at) / 1000
        if elapsed <= 0:
            return
        self.refilled_at = now
        for lane in LANES:
            if self.rates[lane] is None:
                continue
            inflow = self.rates[lane] * (elapsed / 60)
            self.level[lane] += inflow * (1 - self.passed_on)
            self.spilled[lane] += inflow * self.passed_on
        self._spill()

    def _spill(self):
        for lane in LANES:
            if self.level[lane] > self.burst[lane]:
                self.spilled[lane] += self.level[lane] - self.burst[lane]
                self.level[lane] = self.burst[lane]

    @staticmethod
    def _burst(rates, seconds, at_least):
        return tuple(
            0.0 if not rates[lane] or rates[lane] <= 0 else max(rates[lane] * (seconds / 60), at_least[lane])
            for lane in LANES)


class VirtualTime:
    """Where a tenant stands that begins to wait, one time for each criticality: an idle tenant does not come back with the claim of
    all the time that it was away."""

    CREDIT_SECONDS = 5.0

    def __init__(self):
        self.time = [0.0] * 3
        self.weight = [0.0] * 3

    def entry(self, criticality):
        return self.time[criticality] - self.CREDIT_SECONDS / max(self.weight[criticality], sys.float_info.min)

    def enter(self, criticality, weight):
        self.weight[criticality] += weight

    def follow(self, most):
        """Clocks may start over; time follows them down."""
        self.time = [min(time, most) for time in self.time]

    def settle(self, waiting):
        """`waiting`: (clock, weight, criticality) of every account that waits."""
        least, weight = [math.inf] * 3, [0.0] * 3
        for clock, heft, criticality in waiting:
            least[criticality] = min(least[criticality], clock)
            weight[criticality] += heft
        self.weight = weight
        for criticality in range(3):
            if weight[criticality] > 0:
                self.time[criticality] = max(self.time[criticality], least[criticality])


class Entry:
    """One tenant's allocation in a snapshot."""

    __slots__ = ("assured", "ceiling", "safe", "weight", "clock", "retry_offset")

    def __init__(self, fields):
        self.assured = rates_of(fields)
        self.ceiling = rates_of(fields.get("ceiling"))
        self.safe = rates_of(fields.get("safe"))
        self.weight = float(fields.get("weight") or 1)
        self.clock = float(fields.get("service_clock") or 0)
        self.retry_offset = (fields.get("retry_offset_ms") or 0) / 1000


class Allocation:
    """One pool's part of a snapshot, as `GET /v1/allocations` has it (WireFormat §2)."""

    def __init__(self, fields, previous=None, removed=()):
        """With `previous`, `fields` is of a delta: tenants that are not in it stay as they were."""
        self.state = fields.get("state", "healthy")
        self.enforce = bool(fields.get("enforce"))
        self.capacity = rates_of(fields.get("capacity"))
        self.budget = rates_of(fields.get("budget"))
        self.float = rates_of(fields.get("float"))
        self.fallback = rates_of(fields.get("fallback"))
        self.unlisted = rates_of(fields.get("unlisted"))
        self.burst_seconds = float(fields.get("burst_seconds", 5))
        self.failover = fields.get("failover") or []
        self.probes_per_second = float(fields.get("probes_per_second", 1))
        retry = fields.get("retry") or {}
        self.retry_after = retry.get("after_ms", 1000) / 1000
        self.retry_jitter = retry.get("jitter_ms", 1000) / 1000
        self.task_kinds = {kind: float(rate["rpm"]) for kind, rate in (fields.get("task_kinds") or {}).items()}
        tenants = dict(previous.tenants) if previous else {}
        for tenant in removed:
            tenants.pop(tenant, None)
        tenants.update((tenant, Entry(entry)) for tenant, entry in (fields.get("tenants") or {}).items())
        self.tenants = dict(sorted(tenants.items()))

    @property
    def kept_back(self):
        """The breaker's state where it keeps work back; alone, without a pool to go to, a breaker gains nothing."""
        return self.state if self.enforce and self.failover and self.state in ("open", "half_open") else None


class Account:
    """One tenant at this gateway: its buckets, its clock, and what waits. Tenants without an entry share one (tenant None)."""

    __slots__ = (
        "tenant", "weight", "own", "ceiling", "assured_pass", "queue", "waits_as", "published", "published_at",
        "unpublished", "spent", "acknowledged_spent", "told_spent", "told_unpublished", "retry_offset")

    #: Charges are about this old when a published clock contains them, so a publication takes half of such charges with it.
    PUBLICATION_HALF_LIFE = 2.0

    def __init__(self, tenant, weight, clock, now):
        self.tenant, self.weight = tenant, weight
        self.own, self.ceiling = Bucket(UNLIMITED, 0, now), Bucket(UNLIMITED, 0, now)
        self.assured_pass = 0.0
        self.queue = []
        self.waits_as = None
        self.published, self.published_at, self.unpublished = clock, now, 0.0
        self.spent = self.acknowledged_spent = self.told_spent = NOTHING
        self.told_unpublished = 0.0
        self.retry_offset = 0.0

    @property
    def clock(self):
        return self.published + self.unpublished

    def publish(self, clock, now):
        self.unpublished *= decay((now - self.published_at) / 1000, self.PUBLICATION_HALF_LIFE)
        self.published, self.published_at = clock, now

    def note_draw(self):
        self.told_spent, self.told_unpublished = self.spent, self.unpublished

    def acknowledge(self, clock, now):
        """A draw's answer has a clock that contains all that the draw told."""
        self.unpublished -= self.told_unpublished
        self.told_unpublished = 0.0
        self.published, self.published_at = clock, now

    def lift(self, least):
        self.published += max(0.0, least - self.clock)

    def charge(self, work, grant, capacity, now):
        sign = -1.0 if sum(work) < 0 else 1.0
        self.unpublished += sign * seconds_of(times(work, sign), capacity) / self.weight
        self.spent = plus(self.spent, work)
        if grant == "unlimited":
            return
        self.ceiling.charge(work, now)
        if grant in ("assured", "unlisted"):
            self.own.charge(work, now)
            self.assured_pass += sign * seconds_of(times(work, sign), self.own.rates)

    def push(self, call):
        heapq.heappush(self.queue, (call.criticality, call.arrival, call.sequence, call))

    def head(self, now=None):
        """The first that still waits, and with `now` whose caller still does."""
        while self.queue:
            call = self.queue[0][3]
            if call.waits and (now is None or call.deadline > now):
                return call
            heapq.heappop(self.queue)
        return None


class Call:
    """One call that asks for its turn. `estimate` is what it is expected to cost; instants are milliseconds."""

    __slots__ = (
        "id", "tenant", "criticality", "estimate", "arrival", "eligible_at", "deadline", "sequence", "attempts",
        "grant", "gone", "slot")

    def __init__(self, id, tenant, criticality, estimate, arrival, deadline, eligible_at=None, slot=None):
        self.id, self.tenant, self.criticality, self.estimate = id, tenant, criticality, estimate
        self.arrival, self.deadline = arrival, deadline
        self.eligible_at = arrival if eligible_at is None else eligible_at
        self.sequence, self.attempts = 0, 0
        self.grant = None  # None while it waits; then assured, lent, drawn, unlisted or unlimited
        self.gone = False
        self.slot = slot

    @property
    def waits(self):
        return self.grant is None and not self.gone


class Signal:
    """A provider's answer, typed. `windows`: (lane, limit, remaining, reset in ms, seconds of the window), None where not said."""

    __slots__ = ("kind", "windows", "retry_after_ms")

    def __init__(self, kind, windows=(), retry_after_ms=None):
        self.kind, self.windows, self.retry_after_ms = kind, windows, retry_after_ms


class TaskKindHold:
    """The cost breaker's hold on kinds of agent tasks: calls for a held kind go at its rate, those for a paused one do not go.

    A call reserves its time before it waits for anything else (the generic cell rate algorithm, ITU-T I.371); one that would have to
    wait for longer than its caller does reserves nothing. The same rule as in `TaskKindHold.swift`.
    """

    BURST_SECONDS = 10.0

    def __init__(self):
        self.rates, self.paid_at = {}, {}

    def load(self, rates, now):
        self.paid_at = {
            kind: min(self.paid_at.get(kind, now), after(now, max(self.BURST_SECONDS, 60 / rate if rate > 0 else 0)))
            for kind, rate in rates.items()}
        self.rates = dict(rates)

    def ask(self, kind, patience, now):
        """Seconds until the call may go: 0 for at once, None while the kind is paused. Longer than `patience`: nothing is reserved."""
        rate = self.rates.get(kind)
        if rate is None:
            return 0.0
        if rate <= 0:
            return None
        interval = 60 / rate
        wait = max(0.0, (self.paid_at[kind] - now) / 1000 - max(0.0, self.BURST_SECONDS - interval))
        if wait <= patience:
            self.paid_at[kind] = after(max(self.paid_at[kind], now), interval)
        return wait


class PoolGate:
    """One gateway's enforcement of one pool: what waits, whose turn it is, and what it may cost.

    Assured work goes first; what is left of the budget within the second is lent to the waiting tenant with the least service
    clock, up to its ceiling. One order everywhere: eligible now; within the own rate; criticality; least clock, less a little for a
    call whose caller is about to give up; arrival. Work that is neither interactive nor within its own rate leaves a reserve. A
    gate that draws leaves the lending to the pool's float for as long as that answers. Without an allocation, or with one that
    does not enforce, everything passes and is counted.
    """

    MAX_RETRIES = 3
    HEADER_SECONDS = 60.0
    LONGEST_HOLD_SECONDS = 1.0
    URGENT_SECONDS, MOST_URGENCY = 2.0, 0.3
    # Draws (WireFormat §2.1).
    KEPT_SHARE, MAX_HEADS = 0.1, 64
    DRAW_PATIENCE, DRAW_RESEND, DRAW_REPORT, DRAW_ANSWERING, DRAW_CLOCKS = 1000, 300, 1000, 2000, 5000

    def __init__(self, now, max_calls=20000):
        self.max_calls = max_calls
        self.allocation = None
        self.lease_until = now
        self.on_fallback = False
        self.held_until = now
        self.budget = Bucket(UNLIMITED, 0, now)
        self.reserve = NOTHING
        self.header_limits, self.header_limits_until = {}, now
        self.accounts = [Account(None, 1.0, 0.0, now)]
        self.indices = {}
        self.backlogged = []
        self.time = VirtualTime()
        self.assured_time = 0.0
        self.calls = {}
        self.deferred, self.deadlines = [], []
        self.sequence = 0
        self.mean_request = ONE_REQUEST
        self.probed_at = None
        self.drawing = None
        self.counts = collections.Counter()
        self.reported = set()
        self.kinds = TaskKindHold()

    @property
    def enforcing(self):
        return self.allocation is not None and self.allocation.enforce

    @property
    def breaker(self):
        return self.allocation.kept_back if self.allocation else None

    # Snapshots

    def load(self, allocation, lease_until, now):
        """Another allocation from now on. Buckets keep their level in proportion, queues and clocks go on."""
        self.advance(now)
        self.allocation = allocation
        self.lease_until = lease_until
        self.on_fallback = now >= lease_until
        self.kinds.load(allocation.task_kinds if self.enforcing else {}, now)
        entries = allocation.tenants if allocation else {}
        self.accounts[0].weight = min((entry.weight for entry in entries.values()), default=1.0)
        displaced = self._follow(entries, now)
        self._change_rates(now)
        self._settle_time()
        shared, self.accounts[0].queue = self.accounts[0].queue, []
        for account in self.accounts:
            head = account.head()
            account.waits_as = head.criticality if head else None
        self.backlogged = [index for index, account in enumerate(self.accounts) if account.waits_as is not None]
        for queue in [shared] + [account.queue for account in displaced]:
            for item in sorted(queue, key=lambda item: item[:3]):
                if item[3].waits:
                    self._wait(item[3], now)

    def _follow(self, entries, now):
        tells_clocks = not self._draws_tell_clocks(now)
        displaced = []
        if [account.tenant for account in self.accounts[1:]] != list(entries):
            known = {account.tenant: account for account in self.accounts[1:]}
            self.accounts = self.accounts[:1]
            for tenant, entry in entries.items():
                self.accounts.append(known.pop(tenant, None) or Account(tenant, entry.weight, entry.clock, now))
            self.indices = {account.tenant: index for index, account in enumerate(self.accounts) if index}
            displaced = list(known.values())
        for account, entry in zip(self.accounts[1:], entries.values()):
            account.weight = entry.weight
            account.retry_offset = entry.retry_offset
            if tells_clocks:
                account.publish(entry.clock, now)
        return displaced

    def _settle_time(self):
        if len(self.accounts) > 1:
            self.time.follow(max(account.clock for account in self.accounts[1:]))

    def renew(self, lease_until, now):
        """Nothing new: a 304 or an empty delta."""
        self.lease_until = max(self.lease_until, lease_until)
        self.advance(now)

    def update_clocks(self, clocks, now):
        """Service clocks from an answer to telemetry; a gate that draws hears newer ones."""
        if self._draws_tell_clocks(now):
            return
        for tenant, clock in clocks.items():
            if tenant in self.indices:
                self.accounts[self.indices[tenant]].publish(clock, now)
        self._settle_time()

    # Rates

    def _change_rates(self, now):
        allocation = self.allocation
        if allocation is None:
            self.budget.change(UNLIMITED, 0, now)
            self.accounts[0].own.change(UNLIMITED, 0, now)
            return
        seconds, is_drawing = allocation.burst_seconds, self.is_drawing
        # What a gate that draws does not hold is in the float.
        burst = min(0.5, seconds / 10) if is_drawing else seconds
        least = NOTHING if is_drawing else self.mean_request
        if self.drawing and self.drawing["is_returning"] != is_drawing:
            self.budget.take_overflow(now)
            self.drawing["is_returning"] = is_drawing
            self.budget.resize(burst, now, least)
        rates = self._budget_rates()
        self.reserve = work_over(rates, min(2.0, seconds / 3))
        self.budget.change(rates, burst, now, least)
        self.accounts[0].own.change(self._complete(allocation.unlisted), seconds, now, self.mean_request)
        for account, entry in zip(self.accounts[1:], allocation.tenants.values()):
            if self.on_fallback:
                own = self._complete(entry.safe, entry.assured)
            else:
                own = self._complete(entry.assured)
            account.own.change(own, seconds, now, self.mean_request)
            account.ceiling.change(entry.ceiling, seconds, now, self.mean_request)

    def _complete(self, rates, otherwise=UNLIMITED):
        """A right in exactly the resources that the budget limits: where none is stated there is none."""
        return tuple(
            None if limit is None else next((r for r in (rates[lane], otherwise[lane]) if r is not None), 0.0)
            for lane, limit in enumerate(self.allocation.budget))

    def _allotted(self):
        if self.on_fallback:
            return self._complete(self.allocation.fallback, self.allocation.budget)
        return self.allocation.budget

    def _budget_rates(self):
        capacity = self.allocation.capacity
        return tuple(
            rate if rate is None or lane not in self.header_limits or not capacity[lane]
            else rate * min(1.0, self.header_limits[lane] / capacity[lane])
            for lane, rate in enumerate(self._allotted()))

    def observe(self, signal, now):
        """A provider's headers bound the budget at once; nobody waits for the next snapshot to stop."""
        if self.allocation is None:
            return
        self.advance(now)
        before, allotted, capacity = self._budget_rates(), self._allotted(), self.allocation.capacity
        for lane, limit, remaining, _, seconds in signal.windows:
            if before[lane] is None:
                continue
            if remaining is not None:
                # Other gateways live on the same limit: this one answers for its part of it.
                part = min(1.0, allotted[lane] / capacity[lane]) if capacity[lane] else 1.0
                self.budget.lower(lane, remaining * part, now)
            seconds = 60.0 if seconds is None else seconds
            if limit is not None and 0 < seconds <= 60:
                self.header_limits[lane] = limit * 60 / seconds
                self.header_limits_until = after(now, self.HEADER_SECONDS)
        if signal.kind == "quota":
            self._hold(signal, before, now)
        if before != self._budget_rates():
            self._change_rates(now)

    def _hold(self, signal, rates, now):
        told = [window for window in signal.windows if rates[window[0]] is not None and window[2] is not None]
        if not told:
            for lane in LANES:
                if rates[lane] is not None:
                    self.budget.lower(lane, 0.0, now)
        exhausted = [window for window in told if window[2] <= 0]
        resets = [window[3] for window in exhausted if window[3] is not None]
        if signal.retry_after_ms is not None:
            resets.append(signal.retry_after_ms)
        if exhausted and resets:
            # Many providers' reset is the time until their bucket is full: waiting for all of it wastes the refill.
            seconds = min(max(0.0, min(resets) / 1000), self.LONGEST_HOLD_SECONDS)
            self.held_until = max(self.held_until, after(now, seconds))

    # Calls

    def enqueue(self, call, now):
        """False when the gate is full or knows the id already."""
        if len(self.calls) >= self.max_calls or call.id in self.calls:
            return False
        self.sequence += 1
        call.sequence = self.sequence
        self.calls[call.id] = call
        # The mean over about the last fifty calls.
        first = self.sequence == 1
        self.mean_request = call.estimate if first else plus(times(self.mean_request, 0.98), times(call.estimate, 0.02))
        if len(self.deadlines) > 2 * len(self.calls) + 64:
            self.deadlines = [timer for timer in self.deadlines if not timer[2].gone]
            heapq.heapify(self.deadlines)
        heapq.heappush(self.deadlines, (call.deadline, call.sequence, call))
        self._wait(call, now)
        return True

    def _wait(self, call, now):
        if call.eligible_at > now:
            heapq.heappush(self.deferred, (call.eligible_at, call.sequence, call))
            return
        index = self.indices.get(call.tenant, 0)
        account = self.accounts[index]
        account.push(call)
        before = account.waits_as
        if before is not None and call.criticality >= before:
            return
        account.waits_as = call.criticality
        self.time.enter(call.criticality, account.weight)
        account.lift(self.time.entry(call.criticality))
        if before is None:
            self.backlogged.append(index)
            account.assured_pass = max(account.assured_pass, self.assured_time)

    def advance(self, now):
        """What time alone brings: the end of the lease, of a header's word, of a call's waiting aside."""
        expired = now >= self.lease_until
        forgets = bool(self.header_limits) and now >= self.header_limits_until
        if forgets:
            self.header_limits = {}
        if expired != self.on_fallback or forgets:
            since = self.lease_until if expired and not self.on_fallback else now
            self.on_fallback = expired
            self._change_rates(since)
        self._settle_yield(now)
        while self.deferred and self.deferred[0][0] <= now:
            call = heapq.heappop(self.deferred)[2]
            if call.waits:
                self._wait(call, now)

    def dispatch(self, now):
        """The calls that may go now, in order: first the assured, then the lent."""
        self.advance(now)
        if not self.backlogged:
            return []
        self._settle_backlog()
        sent = []
        if self.breaker:
            self._probe(now, sent)
        elif self.enforcing:
            if now < self.held_until:
                return []
            self._serve("assured", now, sent)
            if not self._float_answers(now):
                self._serve("lent", now, sent)
        else:
            for index in self.backlogged:
                while self.accounts[index].head(now):
                    sent.append(self._send(index, "unlimited", now))
        return sent

    def _settle_backlog(self):
        waiting = []
        for index in self.backlogged:
            account = self.accounts[index]
            head = account.queue[0][3] if account.queue else None
            account.waits_as = head.criticality if head else None
            if head:
                waiting.append((account.clock, account.weight, head.criticality))
        self.backlogged = [index for index in self.backlogged if self.accounts[index].waits_as is not None]
        self.time.settle(waiting)

    def _serve(self, right, now, sent):
        candidates = []
        if not self.budget.admits(now):
            return
        for index in self.backlogged:
            self._offer(index, right, now, candidates)
        float_answers = self._float_answers(now)
        while candidates and self.budget.admits(now):
            criticality, _, _, _, index, call = heapq.heappop(candidates)
            if right == "lent" and criticality != INTERACTIVE and not self.budget.admits(now, self.reserve):
                return  # Nor may any that comes after it.
            if float_answers and not self.budget.covers(call.estimate, now):
                continue
            if right == "assured":
                self.assured_time = max(self.assured_time, self.accounts[index].assured_pass)
            sent.append(self._send(index, "unlisted" if right == "assured" and index == 0 else right, now))
            self._offer(index, right, now, candidates)

    def _offer(self, index, right, now, candidates):
        account = self.accounts[index]
        call = account.head(now)
        if call is None or not (account.own if right == "assured" else account.ceiling).admits(now):
            return
        clock = account.assured_pass if right == "assured" else account.clock - self._urgency(call, now)
        heapq.heappush(candidates, (call.criticality, clock, call.arrival, call.sequence, index, call))

    def _urgency(self, call, now):
        left = (call.deadline - now) / 1000
        return 0.0 if left >= self.URGENT_SECONDS else self.MOST_URGENCY * (1 - max(0.0, left) / self.URGENT_SECONDS)

    def _send(self, index, grant, now):
        call = heapq.heappop(self.accounts[index].queue)[3]
        call.grant = grant
        call.attempts += 1
        self._charge(call.estimate, index, grant, now)
        self.counts[grant] += 1
        return call

    def _probe(self, now, sent):
        probe = self._next_probe(now)
        if probe is None or probe > now or now < self.held_until:
            return
        heads = [(self.accounts[index].head(now), index) for index in self.backlogged]
        heads = [(head.criticality, head.arrival, head.sequence, index) for head, index in heads if head]
        if heads:
            self.probed_at = now
            index = min(heads)[3]
            sent.append(self._send(index, "assured" if index else "unlisted", now))

    def _next_probe(self, now):
        if self.breaker != "half_open":
            return None
        budget, capacity = self.allocation.budget, self.allocation.capacity
        parts = [budget[lane] / capacity[lane] for lane in LANES if budget[lane] is not None and capacity[lane]]
        per_second = self.allocation.probes_per_second * max(0.01, min(1.0, min(parts, default=1.0)))
        if per_second <= 0:
            return None
        return now if self.probed_at is None else max(now, after(self.probed_at, 1 / per_second))

    def divert(self, now):
        """The calls that only the breaker keeps back, in order: they leave, for the first pool of `failover` that takes them."""
        if not self.breaker:
            return []
        diverted = []
        for index in self.backlogged:
            while self.accounts[index].head(now):
                diverted.append(heapq.heappop(self.accounts[index].queue))
        self._settle_backlog()
        calls = [item[3] for item in sorted(diverted, key=lambda item: item[:3])]
        for call in calls:
            self._remove(call)
        return calls

    # How calls end

    def settle(self, call, actual, now):
        """The provider took the call; what it really cost replaces the estimate."""
        if call.grant is None or call.gone:
            return
        self._remove(call)
        index = self.indices.get(call.tenant, 0)
        difference = minus(actual, call.estimate)
        more = tuple(max(0.0, amount) for amount in difference)
        less = minus(difference, more)
        if any(more):
            self._charge(more, index, call.grant, now)
        if any(less):
            self._charge(less, index, call.grant, now)

    def refused(self, call, reset_seconds, jitter, now):
        """Refused for want of quota or capacity: the tenant gets back its clock and its right, the budget nothing. Returns when the
        call may go again, at the head of its queue; None when it was refused too often or its caller gives up before."""
        if call.grant is None or call.gone:
            return None
        self.counts["refused"] += 1
        index = self.indices.get(call.tenant, 0)
        if self.allocation and self._holds(call.grant, index):
            self.accounts[index].charge(times(call.estimate, -1.0), call.grant, self.allocation.capacity, now)
        eligible_at = after(now, self.retry_seconds(call.tenant, reset_seconds, jitter))
        if call.attempts > self.MAX_RETRIES or eligible_at >= call.deadline:
            self._remove(call)
            self.counts["given_up"] += 1
            return None
        call.grant, call.eligible_at = None, eligible_at
        self._wait(call, now)
        return eligible_at

    def retry_seconds(self, tenant, reset_seconds, jitter):
        after_seconds, jitter_seconds = 1.0, 1.0
        if self.allocation:
            after_seconds, jitter_seconds = self.allocation.retry_after, self.allocation.retry_jitter
        offset = self.accounts[self.indices[tenant]].retry_offset if tenant in self.indices else 0.0
        return max(reset_seconds or 0.0, after_seconds) + (jitter * jitter_seconds + offset)

    def withdraw(self, call, now):
        """The caller has gone. A call that was on its way gives back what it was charged."""
        if call.gone:
            return
        if call.grant is not None:
            self.settle(call, NOTHING, now)
        else:
            self._remove(call)

    def expire(self, now):
        """Waiting calls whose callers' patience has ended, in the order of their deadlines: denied."""
        denied = []
        while self.deadlines and self.deadlines[0][0] <= now:
            call = heapq.heappop(self.deadlines)[2]
            if call.waits:
                self._remove(call)
                denied.append(call)
        self.counts["denied"] += len(denied)
        return denied

    def _remove(self, call):
        call.gone = True
        self.calls.pop(call.id, None)

    def _charge(self, work, index, grant, now):
        if self.allocation is None:
            return
        if grant in ("assured", "lent", "unlisted"):
            self.budget.charge(work, now)
        elif grant == "drawn" and self.drawing:
            self.drawing["used"] = plus(self.drawing["used"], work)
        if self._holds(grant, index):
            self.accounts[index].charge(work, grant, self.allocation.capacity, now)

    @staticmethod
    def _holds(grant, index):
        """Whether the account is still the one that the right came from."""
        return index > 0 if grant == "assured" else index == 0 if grant == "unlisted" else True

    # What waits

    def queues(self):
        """{(tenant, criticality): (depth, tokens, oldest arrival)}. A flow that has emptied is told of once more, with depth 0."""
        flows = {}
        for call in self.calls.values():
            if call.waits:
                depth, tokens, oldest = flows.get((call.tenant, call.criticality), (0, 0, NEVER))
                flows[call.tenant, call.criticality] = (
                    depth + 1, tokens + int(math.floor(call.estimate[1] + 0.5)), min(oldest, call.arrival))
        emptied = self.reported - flows.keys()
        self.reported = set(flows)
        flows.update((flow, (0, 0, None)) for flow in emptied)
        return flows

    def next_wake(self, now):
        """When something may change by itself; None when nothing does."""
        wake = NEVER
        for timers in (self.deferred, self.deadlines):
            if timers:
                wake = min(wake, timers[0][0])
        if self.enforcing and self.lease_until > now:
            wake = min(wake, self.lease_until)
        if any(self.accounts[index].queue for index in self.backlogged):
            if self.breaker:
                probe = self._next_probe(now)
                if probe is not None:
                    wake = min(wake, max(probe, self.held_until))
            elif self.enforcing:
                draw = self._next_draw_time()
                if draw is not None:
                    wake = min(wake, max(draw, self.held_until))
                if not self._float_answers(now):
                    wake = min(wake, max(self._next_admission(now), self.held_until))
            else:
                wake = now
        return None if wake >= NEVER else max(wake, now)

    def _next_admission(self, now):
        pool = self.budget.admission(now)
        if pool is None:
            return NEVER
        spare = self.budget.admission(now, self.reserve)
        first = NEVER
        for index in self.backlogged:
            account = self.accounts[index]
            if not account.queue:
                continue
            own, lent = account.own.admission(now), account.ceiling.admission(now)
            if own is not None:
                first = min(first, max(own, pool))
            budget = pool if account.queue[0][0] == INTERACTIVE else spare
            if lent is not None and budget is not None:
                first = min(first, max(lent, budget))
            if first == pool:
                break
        return first

    def forecast(self, tenant, criticality, now, call=None):
        """When a call would go, if nothing more urgent comes: behind the tenant's own calls on its assured rate, or behind everybody's
        on what is lent. `call` is one that waits here. None: no time brings it, as things stand."""
        self.advance(now)
        if not self.enforcing:
            return now
        account = self.accounts[self.indices.get(tenant, 0)]
        limit = (criticality, math.inf) if call is None else (call.criticality, call.arrival, call.sequence)
        own_calls = sum(1 for item in account.queue if item[:len(limit)] < limit and item[3].waits)
        others = sum(
            1 for index in self.backlogged if self.accounts[index] is not account
            for item in self.accounts[index].queue if item[0] <= criticality and item[3].waits)
        own = times(self.mean_request, own_calls)
        ahead = times(self.mean_request, own_calls + others)
        spare = ahead if criticality == INTERACTIVE else plus(ahead, self.reserve)
        times_of_admission = []
        for right, keeping in ((account.own, own), (account.ceiling, spare)):
            admissions = (right.admission(now, own), self.budget.admission(now, keeping))
            if None not in admissions:
                times_of_admission.append(max(admissions))
        return max(min(times_of_admission), self.held_until) if times_of_admission else None

    # Draws: budget from the pool's float for what waits

    def start_drawing(self, boot, now):
        self.drawing = {
            "boot": boot, "sequence": 0, "returned": NOTHING, "used": NOTHING, "open": None, "ask_at": now,
            "asked_at": None, "answered_at": None, "is_returning": False, "epoch": None, "is_yielding": False}
        self.advance(now)
        self._change_rates(now)

    @property
    def is_drawing(self):
        return self.enforcing and not self.on_fallback and self.drawing is not None

    def _answered_within(self, milliseconds, now):
        return (
            self.is_drawing and self.drawing["answered_at"] is not None
            and now - self.drawing["answered_at"] < milliseconds)

    def _draws_tell_clocks(self, now):
        return self._answered_within(self.DRAW_CLOCKS, now)

    def _float_answers(self, now):
        return self._answered_within(self.DRAW_ANSWERING, now)

    def _settle_yield(self, now):
        """The float has the larger part of what flows in for as long as it answers, and not a moment longer."""
        drawing = self.drawing
        if not drawing or drawing["is_yielding"] == self._float_answers(now):
            return
        since = now
        if drawing["is_yielding"] and drawing["answered_at"] is not None:
            since = drawing["answered_at"] + self.DRAW_ANSWERING
        drawing["is_yielding"] = not drawing["is_yielding"]
        self.budget.pass_on(1 - self.KEPT_SHARE if drawing["is_yielding"] else 0.0, min(since, now))

    def next_draw(self, epoch, now):
        """The request that is due: {sequence, epoch, returned, used, spent, waiting}; None when none is."""
        if not self.drawing:
            return None
        self.advance(now)
        if not self.is_drawing:
            return None
        drawing = self.drawing
        request = drawing["open"]
        if request and now - request["asked_at"] < self.DRAW_PATIENCE:
            # The same request again: the float answers it once, however often it comes.
            if now - request["sent_at"] < self.DRAW_RESEND or not request["waiting"]:
                return None
            request["sent_at"] = now
            return request
        reports_at = now if drawing["asked_at"] is None else drawing["asked_at"] + self.DRAW_REPORT
        if now < min(drawing["ask_at"], reports_at):
            return None
        waiting = []
        if not self.breaker and now >= self.held_until and now >= drawing["ask_at"]:
            waiting = self._waiting_heads(now)
        if not waiting and now < reports_at:
            return None
        drawing["returned"] = plus(drawing["returned"], self.budget.take_overflow(now))
        drawing["sequence"] += 1
        drawing["asked_at"] = now
        spent = []
        for account in self.accounts[1:]:
            if account.spent != account.acknowledged_spent or drawing["epoch"] != epoch:
                spent.append((account.tenant, account.spent))
            account.note_draw()
        drawing["open"] = {
            "sequence": drawing["sequence"], "epoch": epoch, "returned": drawing["returned"], "used": drawing["used"],
            "spent": spent, "waiting": waiting, "asked_at": now, "sent_at": now}
        return drawing["open"]

    def _waiting_heads(self, now):
        """[(tenant, [call])]: of tenants with an entry, ascending; the oldest calls first, with estimates as they are now."""
        waiting = []
        for index in sorted(self.backlogged):
            account = self.accounts[index]
            if account.tenant is None:
                continue
            ordered = sorted(account.queue, key=lambda item: item[:3])
            heads = [item[3] for item in ordered if item[3].waits and item[3].deadline > now][:self.MAX_HEADS]
            if heads:
                waiting.append((account.tenant, heads))
        return waiting

    def receive(self, sequence, granted, clocks, wait_ms, now):
        """The answer to a draw: the calls that may go now. One that is late, or to an older request, grants nothing."""
        drawing = self.drawing
        request = drawing["open"] if drawing else None
        if not request or request["sequence"] != sequence or now - request["asked_at"] >= self.DRAW_PATIENCE:
            return []
        drawing.update(
            open=None, answered_at=now, epoch=request["epoch"], ask_at=after(request["asked_at"], wait_ms / 1000))
        self.advance(now)
        for account in self.accounts[1:]:
            account.acknowledged_spent = account.told_spent
        for tenant, clock in clocks.items():
            if tenant in self.indices:
                self.accounts[self.indices[tenant]].acknowledge(clock, now)
        self._settle_time()
        self._settle_backlog()
        if not self.is_drawing or self.breaker or now < self.held_until:
            return []
        sent = []
        asked = dict(request["waiting"])
        for tenant, calls in sorted(granted.items()):
            index, heads = self.indices.get(tenant, 0), asked.get(tenant)
            if not index or not heads:
                continue
            left = NOTHING
            for head in heads[:calls]:
                left = plus(left, head.estimate)
            for _ in range(min(calls, len(heads))):
                call = self.accounts[index].head(now)
                if call is None:
                    break
                left = minus(left, call.estimate)
                if min(left) <= -1e-6:
                    break
                sent.append(self._send(index, "drawn", now))
        return sent

    def _next_draw_time(self):
        if not self.is_drawing:
            return None
        request = self.drawing["open"]
        if not request:
            return self.drawing["ask_at"]
        patience = request["asked_at"] + self.DRAW_PATIENCE
        return min(request["sent_at"] + self.DRAW_RESEND, patience) if request["waiting"] else patience


class TokenEstimator:
    """What a call will cost before it is sent: input + max_tokens · how much of it this tenant's answers used so far.

    Callers ask for five to ten times the output that they get; without the correction a pool looks full while it is nearly empty.
    """

    MEMORY = 0.98  # Of each further call: about the last fifty count.

    def __init__(self, max_tenants=100_000):
        self.max_tenants = max_tenants
        self.usage = {}
        self.overall = [0.0] * 4  # calls, output, output of bounded calls, bounds

    def estimate(self, tenant, input_tokens, max_tokens):
        if max_tokens is not None:
            output = max_tokens * self.correction(tenant)
        else:
            known = self.usage.get(tenant, self.overall)
            output = known[1] / known[0] if known[0] > 0 else 0.0
        return work_of(input_tokens, output)

    def correction(self, tenant):
        for known in (self.usage.get(tenant), self.overall):
            if known and known[3] > 0:
                return known[2] / known[3]
        return 1.0

    def learn(self, tenant, output_tokens, max_tokens):
        sums = [self.overall]
        if tenant in self.usage or len(self.usage) < self.max_tenants:
            sums.append(self.usage.setdefault(tenant, [0.0] * 4))
        for known in sums:
            known[0] = known[0] * self.MEMORY + 1
            known[1] = known[1] * self.MEMORY + output_tokens
            if max_tokens is not None:
                known[2] = known[2] * self.MEMORY + output_tokens
                known[3] = known[3] * self.MEMORY + max_tokens


# ---- Provider answers ----------------------------------------------------------------------------------------------------

_LIMIT_LANES = {"requests": 0, "tokens": 1, "input-tokens": 2, "output-tokens": 3}
_LIMIT_HEADER = re.compile(
    r"(?:x-ratelimit-(?P<role>limit|remaining|reset)-(?P<what>requests|tokens|input-tokens|output-tokens)"
    r"|anthropic-ratelimit-(?P<what2>requests|tokens|input-tokens|output-tokens)-(?P<role2>limit|remaining|reset))$")
_GO_DURATION = re.compile(r"([0-9.]+)(ms|h|m|s|us|µs|ns)")
_GO_UNITS = {"h": 3.6e6, "m": 60000, "s": 1000, "ms": 1, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}
_MONEY = ("insufficient_quota", "credit balance", "billing", "payment required", "spending limit")
_OVERLOAD = ("overloaded", "over capacity", "no capacity", "high demand")


def _number(text):
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _reset_milliseconds(text):
    """A Go duration (6m0s), seconds, or an instant."""
    if _number(text) is not None:
        return _number(text) * 1000
    parts = _GO_DURATION.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _GO_UNITS[unit] for number, unit in parts)
    try:
        import datetime

        at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        return max(0.0, at.timestamp() - time.time()) * 1000
    except ValueError:
        return None


def signal_of(status, headers, body=""):
    """What a provider's answer says. Headroom itself reads the same answer in far more detail, from `response` lines."""
    limits, retry_after = {}, None
    for name, value in headers.items():
        match = _LIMIT_HEADER.match(name)
        if match:
            lane = _LIMIT_LANES[match["what"] or match["what2"]]
            limits.setdefault(lane, {})[match["role"] or match["role2"]] = value
        elif name == "retry-after-ms" and _number(value) is not None:
            retry_after = _number(value)
        elif name == "retry-after" and retry_after is None and _number(value) is not None:
            retry_after = _number(value) * 1000
    windows = []
    for lane, fields in sorted(limits.items()):
        reset = _reset_milliseconds(fields["reset"]) if "reset" in fields else None
        # A reset beyond a minute is one of a longer window, whose limit says nothing of the next minute.
        window = 86400.0 if reset is not None and reset > 60000 else None
        windows.append((lane, _number(fields.get("limit")), _number(fields.get("remaining")), reset, window))
    return Signal(kind_of(status, body), windows, retry_after)


def kind_of(status, body=""):
    if status < 400:
        return "ok"
    text = (body or "").lower()
    if status == 402 or (status in (400, 403, 429) and any(word in text for word in _MONEY)):
        return "billing"
    if status in (503, 529) or ((status == 429 or status >= 500) and any(word in text for word in _OVERLOAD)):
        return "overload"
    if status == 429:
        return "quota"
    return "auth" if status in (401, 403) else "client" if status < 500 else "server"


# ---- The connection ------------------------------------------------------------------------------------------------------


class Denied(Exception):
    """The call was not let through within its wait. `retry_after`: seconds after which another try is worth while."""

    def __init__(self, tenant, pool, retry_after, reason, is_final=False):
        super().__init__(f"Headroom: no allocation for {tenant} in {pool} within the wait: {reason}")
        self.retry_after = retry_after
        self.is_final = is_final

    def headers(self, patience=None):
        """For the 429: what OpenAI's and Anthropic's SDKs obey. No SDK adds jitter, so the stagger is in the number."""
        milliseconds = max(1, math.ceil(self.retry_after * 1000))
        in_time = not self.is_final and (patience is None or self.retry_after < patience)
        return {
            "retry-after-ms": str(milliseconds), "retry-after": str(math.ceil(milliseconds / 1000)),
            "x-should-retry": "true" if in_time else "false"}


class Slot:
    """One attempt at one call: it waits for its turn in `future`, and whoever holds it says how it ended, once."""

    __slots__ = (
        "headroom", "pool", "pools", "call", "future", "request", "attempt", "task", "parent", "task_kind", "endpoint", "model",
        "characters", "input_tokens", "max_tokens", "asked_at", "sent_at", "patience", "ended", "kept_until", "comes_back")

    @property
    def key(self):
        """Calls with the same key are one as good as another to who waits for them."""
        return (self.pools, self.call.tenant, self.call.criticality)

    def wait(self):
        """Blocks until the turn comes; raises Denied."""
        return self.future.result()

    def answered(self, status, headers=None, body="", input_tokens=None, output_tokens=None, cached_tokens=None, **more):
        """The provider's answer; without tokens the estimate stands. `cached_answer=True`: no provider was asked."""
        self.headroom._answered(
            self, status, {str(k).lower(): str(v) for k, v in (headers or {}).items()}, body, input_tokens,
            output_tokens, cached_tokens, **more)

    def cancel(self):
        """The caller has gone, or the call was never sent."""
        self.headroom._cancelled(self)


class Headroom:
    """A gateway's connection: a long poll for snapshots, telemetry each second, and a gate for each pool.

    Nothing here makes a call wait for the service. Before the first snapshot everything passes; without the service the last
    snapshot holds until its lease ends, then the fallback.
    """

    MAX_LINES = 50_000  # of telemetry while the service is away; what is dropped is counted in `dropped_lines`
    MAX_LINES_A_BATCH = 10_000
    GRACE_SECONDS = 5.0
    STALE_SLOT_MS = 900_000  # a call that nobody ended
    #: A place in the queue is kept for a caller who was told when to come back, this much longer than it was told.
    KEPT_SECONDS = 3.0
    MAX_KEPT = 10_000
    SAVE_SECONDS = 10.0

    def __init__(self, url=None, token=None, gateway=None, max_wait=None, directory=None):
        environ = os.environ.get
        self.url = url or environ("HEADROOM_URL", "http://127.0.0.1:8420")
        self.token = token or environ("HEADROOM_TOKEN")
        self.base = gateway or environ("HEADROOM_GATEWAY") or re.sub("[^A-Za-z0-9._-]", "-", socket.gethostname())
        self.max_wait = float(environ("HEADROOM_MAX_WAIT_SECONDS", "30")) if max_wait is None else max_wait
        self.draws = environ("HEADROOM_DRAW") != "0"
        home = environ("HEADROOM_DIRECTORY", os.path.join(os.path.expanduser("~"), ".cache", "headroom"))
        self.directory = home if directory is None else directory
        self.lock = threading.RLock()
        self.estimator = TokenEstimator()
        self.gates = {}
        self.pid = None
        self.dropped_lines = 0

    # Life

    def start(self):
        """Begins to take part; once in each process, so that an idle parent process of workers holds no budget."""
        with self.lock:
            if self.pid == os.getpid():
                return self
            self.pid = os.getpid()
            self._begin()
            self._take_name(1)
            self._restore()
            for loop in (self._poll_loop, self._report_loop, self._pump_loop) + (self._draw_loop,) * self.draws:
                threading.Thread(target=loop, name=f"headroom-{loop.__name__}", daemon=True).start()
            # Runs at the end of workers that multiprocessing started as well, where atexit does not.
            import multiprocessing.util

            multiprocessing.util.Finalize(None, self.close, exitpriority=10)
        return self

    def _begin(self):
        self.gates, self.allocations = {}, {}
        self.version, self.lease_seconds, self.lease_until = None, 15.0, None
        self.has_part = threading.Event()
        self.closing = threading.Event()
        self.wake = threading.Condition(self.lock)
        self.lines = collections.deque()
        self.batch, self.batch_number = None, 0
        self.open_slots = {}
        self.places = {}  # slots by key, oldest first: of callers who were told when to come back
        self.call_number = 0
        self.latency = {}  # seconds by pool, a moving mean
        self.sampled_at = {}
        self.characters_per_token = 4.0
        self.boot = os.urandom(8).hex()
        self.snapshot, self.saved_at, self.save_failed = {}, None, False

    def close(self):
        """Reports what is left and says goodbye, so that others have this part at once."""
        if self.pid != os.getpid() or self.closing.is_set():
            return
        self.closing.set()
        try:
            connection = Connection(self.url, self.token, timeout=2)
            self._report(connection)
            connection.ask("DELETE", "/v1/gateways/" + urllib.parse.quote(self.name))
        except (OSError, http.client.HTTPException, ValueError):
            pass

    def _take_name(self, first):
        """Processes that share no counters are gateways of their own. A lock in the temporary folder gives each the least free
        number; the system takes it back however the process ends, so names are used again."""
        for number in range(first, first + 4096):
            self.name = f"{self.base}.{number}"
            path = os.path.join(tempfile.gettempdir(), f"headroom-{self.name}.lock")
            try:
                import fcntl

                self.name_lock = open(path, "a")
                fcntl.flock(self.name_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except ImportError:  # Windows
                self.name = f"{self.base}.{os.getpid()}"
                break
            except OSError:  # Another process has it.
                continue
        self.name_number = number

    # Calls

    def now(self):
        return time.monotonic_ns() // 1_000_000

    def ask(
        self, pool, tenant, *, criticality="interactive", characters=0, input_tokens=None, max_tokens=None, max_wait=None,
        timeout=None, request=None, attempt=1, eligible_in=0.0, arrival=None, task=None, parent=None, task_kind=None,
        pools=(), endpoint=None, model=None, comes_back=False,
    ):
        """A slot for one attempt. Its future is done when the turn has come, or fails with Denied.

        `characters` of text stand for `input_tokens` that are not known; `timeout` is the caller's own, in seconds; `pools` are
        those that the call may be sent to while the breaker of `pool` is open. A caller that `comes_back` after a refusal, with a higher
        `attempt`, has its place kept until then.
        """
        self.start()
        slot = Slot()
        now = self.now()
        with self.lock:
            tokens = characters / self.characters_per_token if input_tokens is None else input_tokens
            slot.headroom, slot.pool, slot.pools = self, pool, tuple(pools) or (pool,)
            slot.future = concurrent.futures.Future()
            slot.request, slot.attempt, slot.task, slot.parent = request, attempt, task, parent
            slot.task_kind = task_kind
            slot.endpoint, slot.model = endpoint, model
            slot.characters, slot.input_tokens, slot.max_tokens = characters, tokens, max_tokens
            slot.asked_at, slot.sent_at, slot.ended, slot.kept_until = now, None, False, None
            slot.comes_back = comes_back
            slot.patience = timeout
            self.call_number += 1
            number, criticality = self.call_number, CRITICALITIES.index(criticality)
            estimate = self.estimator.estimate(tenant, tokens, max_tokens)
            slot.call = Call(number, tenant, criticality, estimate, now if arrival is None else arrival, NEVER, slot=slot)
            place = self._take_place(slot, now) if arrival is None and attempt > 1 else None
            patience = self.max_wait if max_wait is None else max_wait
            if timeout is not None:
                # The caller's time-out holds the answer too, not only the wait.
                patience = min(patience, timeout - 1.5 * self.latency.get(pool, 0.0))
            if arrival is not None:
                patience -= (now - arrival) / 1000
            slot.call.deadline = after(now, max(0.001, patience))
            slot.call.eligible_at = after(now, eligible_in) if eligible_in > 0 else now
            if place is not None:
                slot.call.arrival = place.call.arrival
                if place.call.grant is not None:
                    # Its turn came while it was away.
                    slot.pool, slot.call, slot.sent_at = place.pool, place.call, now
                    slot.call.slot = slot
                    self.open_slots[slot.call.id] = slot
                    slot.future.set_running_or_notify_cancel()
                    slot.future.set_result(slot)
                    return slot
                slot.pool = place.pool
            gate = self._gate(slot.pool, now)
            hold = 0.0 if place is not None or task_kind is None else gate.kinds.ask(task_kind, max(0.0, patience), now)
            if hold is None or hold > max(0.0, patience):
                self._refuse(slot, hold)
                return slot
            if hold > 0:
                slot.call.eligible_at = max(slot.call.eligible_at, after(now, hold))
            if gate.enqueue(slot.call, now):
                self.open_slots[slot.call.id] = slot
                self._pump(gate, now)
                if not slot.future.done():
                    self.wake.notify_all()
            else:
                self._deny(slot, gate, "too many calls wait")
        return slot

    # Places

    def _take_place(self, slot, now):
        """The oldest place that is kept for calls like this one; that place is not in a queue any more."""
        kept = self.places.get(slot.key)
        while kept:
            place = kept.popleft()
            if not kept:
                del self.places[slot.key]
            self.open_slots.pop(place.call.id, None)
            if place.ended:
                continue
            place.ended = True
            if place.call.grant is None:
                self.gates[place.pool].withdraw(place.call, now)
            return place
        return None

    def _keep_place(self, slot, gate, now):
        """The call goes on waiting, for a caller who comes back when it was told to: returns the seconds until then, or None where
        that is longer than the caller waits at all."""
        left = slot.call
        place = Slot()
        for name in Slot.__slots__:
            setattr(place, name, getattr(slot, name))
        self.call_number += 1
        place.call = Call(self.call_number, left.tenant, left.criticality, left.estimate, left.arrival, NEVER, now, place)
        place.call.sequence = gate.sequence + 1
        at = gate.forecast(left.tenant, left.criticality, now, place.call)
        seconds = None if at is None else max(0.02, (at - now) / 1000)
        if seconds is None or seconds > (slot.patience or self.max_wait) or sum(map(len, self.places.values())) >= self.MAX_KEPT:
            return None
        place.ended, place.future = False, concurrent.futures.Future()
        place.kept_until = place.call.deadline = after(now, seconds + self.KEPT_SECONDS)
        if not gate.enqueue(place.call, now):
            return None
        self.open_slots[place.call.id] = place
        self.places.setdefault(place.key, collections.deque()).append(place)
        return seconds

    def _drop_places(self, now):
        """Those whose callers have not come back: they are denied now, and what was granted to them flows back."""
        for key, kept in list(self.places.items()):
            while kept and (kept[0].ended or kept[0].kept_until <= now):
                place = kept.popleft()
                self.open_slots.pop(place.call.id, None)
                if not place.ended:
                    place.ended = True
                    self.gates[place.pool].withdraw(place.call, now)
                    self._add_call(place, "denied", now, None, None, None)
            if not kept:
                del self.places[key]

    def _gate(self, pool, now):
        gate = self.gates.get(pool)
        if gate is None:
            gate = self.gates[pool] = PoolGate(now)
            if self.lease_until is not None:
                gate.load(self.allocations.get(pool), self.lease_until, now)
                self._begin_drawing(gate, now)
        return gate

    def _begin_drawing(self, gate, now):
        if self.draws and gate.drawing is None and gate.enforcing:
            gate.start_drawing(self.boot, now)

    def _pump(self, gate, now):
        """Everyone whose turn has come, whose patience has ended, or whom the breaker sends elsewhere."""
        for call in gate.expire(now):
            self._deny(call.slot, gate, "its wait is over")
        self._let_go(gate, gate.dispatch(now), now)
        for call in gate.divert(now):
            self._divert(call, gate, now)

    @staticmethod
    def _let_go(gate, calls, now):
        for call in calls:
            call.slot.sent_at = now
            if call.slot.kept_until is not None:
                continue  # Its caller comes for it.
            if not call.slot.future.set_running_or_notify_cancel():
                gate.withdraw(call, now)
            else:
                call.slot.future.set_result(call.slot)

    def _divert(self, left, gate, now):
        slot = left.slot
        call = slot.call = Call(
            left.id, left.tenant, left.criticality, left.estimate, left.arrival, left.deadline, now, slot)
        for pool in gate.allocation.failover:
            other = self._gate(pool, now) if pool in slot.pools and pool in self.allocations else None
            if other and not other.breaker and other.enqueue(call, now):
                slot.pool = pool
                self._pump(other, now)
                return
        # It can be served nowhere else: it asks again when the breaker may have moved on.
        call.eligible_at = now + 500
        gate.enqueue(call, now)

    def _deny(self, slot, gate, reason):
        now = self.now()
        self.open_slots.pop(slot.call.id, None)
        if slot.kept_until is not None:
            return  # A place that nobody came back for: `_drop_places` ends it.
        slot.ended = True
        retry_after = self._keep_place(slot, gate, now) if slot.comes_back else None
        if retry_after is None:
            self._add_call(slot, "denied", now, None, None, None)
            index = gate.indices.get(slot.call.tenant, 0)
            admission = max(gate.budget.admission(now) or now, gate.accounts[index].own.admission(now) or now)
            retry_after = max((admission - now) / 1000, gate.retry_seconds(slot.call.tenant, None, random.random()))
        if slot.future.set_running_or_notify_cancel():
            slot.future.set_exception(Denied(slot.call.tenant, slot.pool, retry_after, reason))

    def _answered(
        self, slot, status, headers, body, input_tokens, output_tokens, cached_tokens, cached_answer=False, provider=None,
        kind=None,
    ):
        now = self.now()
        with self.lock:
            gate = self.gates.get(slot.pool)
            if slot.ended or gate is None:
                return None
            slot.ended = True
            self.open_slots.pop(slot.call.id, None)
            signal = signal_of(status, headers, body)
            if kind:
                signal.kind = kind
            if cached_answer:
                gate.withdraw(slot.call, now)
                self._add_call(slot, "cached", now, status, input_tokens, output_tokens)
                return None
            gate.observe(signal, now)
            retry_in = None
            if signal.kind in ("quota", "overload"):
                # Whether it is tried again is the caller's: the next attempt brings its place in the queue with it.
                retry_in = gate.retry_seconds(slot.call.tenant, (signal.retry_after_ms or 0) / 1000, random.random())
                slot.call.deadline = now
                gate.refused(slot.call, retry_in, 0.0, now)
            else:
                spent = slot.call.estimate
                if signal.kind == "ok" and output_tokens is not None:
                    spent = work_of(input_tokens or 0, output_tokens)
                elif signal.kind in ("auth", "billing", "client"):
                    spent = ONE_REQUEST
                gate.settle(slot.call, spent, now)
            if signal.kind == "ok" and output_tokens is not None:
                self.estimator.learn(slot.call.tenant, output_tokens, slot.max_tokens)
                if slot.characters >= 40 and input_tokens:
                    self.characters_per_token += 0.02 * (slot.characters / input_tokens - self.characters_per_token)
                latency = (now - (slot.sent_at or now)) / 1000
                self.latency[slot.pool] = self.latency.get(slot.pool, latency) * 0.9 + latency * 0.1
            self._add_call(slot, signal.kind, now, status, input_tokens, output_tokens, cached_tokens)
            self._add_response(slot, signal.kind, status, headers, body, provider, now)
            self._pump(gate, now)
            self.wake.notify_all()
            return retry_in

    def _cancelled(self, slot):
        now = self.now()
        with self.lock:
            gate = self.gates.get(slot.pool)
            slot.future.cancel()
            if slot.ended or gate is None:
                return
            slot.ended = True
            self.open_slots.pop(slot.call.id, None)
            gate.withdraw(slot.call, now)
            self._pump(gate, now)
            self.wake.notify_all()

    # Telemetry

    def _add(self, line):
        if len(self.lines) >= self.MAX_LINES:
            self.lines.popleft()
            self.dropped_lines += 1
        line["gateway"] = self.name
        self.lines.append(json.dumps({name: value for name, value in line.items() if value is not None}))

    def _refuse(self, slot, hold):
        """The cost breaker holds the call's kind of task: for so many seconds, or None while it is paused."""
        slot.ended = True
        self._add_call(slot, "denied", self.now(), None, None, None)
        state = "paused: their cost ceiling is reached" if hold is None else "slowed: their cost ceiling is near"
        slot.future.set_running_or_notify_cancel()
        slot.future.set_exception(Denied(
            slot.call.tenant, slot.pool, 60.0 if hold is None else hold, f'tasks of the kind "{slot.task_kind}" are {state}',
            is_final=hold is None))

    def _add_call(self, slot, outcome, now, status, input_tokens, output_tokens, cached_tokens=None):
        sent_at = slot.sent_at or now
        self._add({
            "type": "call", "at": _wall(), "request": slot.request, "tenant": slot.call.tenant, "pool": slot.pool,
            "model": slot.model, "endpoint": slot.endpoint, "criticality": CRITICALITIES[slot.call.criticality],
            "task": slot.task, "parent": slot.parent, "task_kind": slot.task_kind, "attempt": slot.attempt, "outcome": outcome, "status": status,
            "latency_ms": now - sent_at, "queued_ms": max(0, sent_at - slot.asked_at),
            "input_tokens": int(slot.input_tokens if input_tokens is None else input_tokens),
            "output_tokens": None if output_tokens is None else int(output_tokens),
            "cached_input_tokens": cached_tokens, "max_tokens": slot.max_tokens})

    def _add_response(self, slot, kind, status, headers, body, provider, now):
        """Refusals each, successes twice a second: they say how full the provider's own buckets are."""
        if kind == "ok":
            if now - self.sampled_at.get(slot.pool, 0) < 500:
                return
            self.sampled_at[slot.pool] = now
        kept = {name: value for name, value in headers.items() if "ratelimit" in name or name.startswith("retry-after")
                or name == "date"}
        if kind == "ok" and not kept:
            return
        self._add({
            "type": "response", "at": _wall(), "request": slot.request, "pool": slot.pool, "model": slot.model,
            "endpoint": slot.endpoint, "provider": provider, "status": status, "headers": kept,
            "body": (body or "")[:4000] if kind != "ok" else None})

    def _report_loop(self):
        connection = Connection(self.url, self.token, timeout=10)
        while not self.closing.wait(0.9 + 0.2 * random.random()):
            try:
                self._report(connection)
            except (OSError, http.client.HTTPException, ValueError) as error:
                log.debug("telemetry: %s", error)
                connection.close()

    def _report(self, connection):
        """One batch. It is sent again under its number until it is answered, so nothing counts twice."""
        if self.batch is None:
            with self.lock:
                now = self.now()
                for pool, gate in self.gates.items():
                    for (tenant, criticality), (depth, tokens, oldest) in gate.queues().items():
                        self._add({
                            "type": "queue", "at": _wall(), "tenant": tenant, "pool": pool,
                            "criticality": CRITICALITIES[criticality], "depth": depth, "tokens": tokens,
                            "oldest_age_ms": None if oldest is None else max(0, now - oldest)})
                lines = [self.lines.popleft() for _ in range(min(len(self.lines), self.MAX_LINES_A_BATCH))]
            if not lines:
                return
            # Numbers ascend over restarts of a name as well.
            self.batch_number = max(self.batch_number + 1, _wall())
            self.batch = (self.batch_number, ("\n".join(lines) + "\n").encode())
        number, body = self.batch
        status, _, answer = connection.ask(
            "POST", "/v1/telemetry", body,
            {"Content-Type": "application/x-ndjson", "Headroom-Batch": str(number), "Headroom-Sent-At": str(_wall()),
             "Headroom-Boot": self.boot})
        if status == 200:
            self.batch = None
            if answer.get("rejected"):
                log.warning("telemetry was refused: %s", answer["rejected"][:3])
            with self.lock:
                now = self.now()
                for pool, clocks in (answer.get("service_clocks") or {}).items():
                    if pool in self.gates:
                        self.gates[pool].update_clocks(clocks, now)
        elif status in (400, 403, 409, 413, 415):
            log.warning("telemetry was refused (%d): %s", status, answer.get("detail"))
            self.batch = None

    # Snapshots

    def _poll_loop(self):
        connection, failures = Connection(self.url, self.token), 0
        while not self.closing.is_set():
            try:
                self._poll(connection)
                failures = 0
            except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
                if failures == 0:
                    log.warning("no snapshot from %s: %s", self.url, error)
                connection.close()
                failures += 1
                self.closing.wait(min(5.0, 0.25 * 2 ** min(failures, 6)) * (1 - random.random() / 3))

    def _poll(self, connection):
        query = {"gateway": self.name, "boot": self.boot, "wait": "0"}
        wait = 0.0
        if self.version:
            query["applied"] = "%d.%d" % self.version
            if self.has_part.is_set():
                wait = max(1.0, self.lease_seconds / 2)
                query.update(since=query["applied"], wait=f"{wait:g}")
        asked_at = self.now()
        connection.timeout = wait + self.GRACE_SECONDS
        status, headers, answer = connection.ask("GET", "/v1/allocations?" + urllib.parse.urlencode(query))
        if status == 409:
            log.warning("another process is %s: %s", self.name, answer.get("detail"))
            self.name_lock.close()
            self._take_name(self.name_number + 1)
            return
        if status != 200:
            raise ValueError(f"{status}: {answer.get('detail', answer)}")
        now = self.now()
        if now - asked_at > (wait + self.GRACE_SECONDS) * 1000:
            return
        with self.lock:
            self._load(answer, now)

    def _load(self, answer, now):
        version = (int(answer["epoch"]), int(answer["generation"]))
        is_delta, is_first = "since" in answer, self.version is None
        if self.version and version < self.version:
            raise ValueError(f"a stale copy: {version} after {self.version}")
        if is_delta and (self.version is None or answer["since"] != "%d.%d" % self.version):
            raise ValueError(f"a delta since {answer['since']}, which is not what is in force")
        self.lease_seconds = float(answer["lease_seconds"])
        self.lease_until = after(now, self.lease_seconds)
        was_applied = self.version == version and self.has_part.is_set()
        self.version = version
        if is_first and self.allocations:
            # A reader's answer, which enforces nothing: what was saved holds for the moment until this gateway has its part.
            self.wake.notify_all()
            return
        changed, known = {}, self.snapshot if is_delta else {}
        self.snapshot = dict(known)
        for pool, fields in answer["pools"].items():
            removed = (answer.get("removed") or {}).get(pool, ()) if is_delta else ()
            changed[pool] = Allocation(fields, self.allocations.get(pool) if is_delta else None, removed)
            tenants = {**known.get(pool, {}).get("tenants", {}), **(fields.get("tenants") or {})}
            self.snapshot[pool] = dict(
                fields, tenants={tenant: entry for tenant, entry in tenants.items() if tenant not in removed})
        if is_delta:
            self.allocations.update(changed)
            gone = [pool for pool in answer.get("removed_pools") or () if self.allocations.pop(pool, None)]
            for pool in gone:
                self.snapshot.pop(pool, None)
        else:
            gone = [pool for pool in self.allocations if pool not in changed]
            self.allocations = changed
        for pool, gate in self.gates.items():
            if (pool in changed and not (was_applied and not is_delta)) or pool in gone:
                gate.load(self.allocations.get(pool), self.lease_until, now)
            else:
                gate.renew(self.lease_until, now)
            self._begin_drawing(gate, now)
            self._pump(gate, now)
        self._save(now)
        # The first answer is a reader's, which enforces nothing; it is acknowledged at once, and the next has this gateway's part.
        if not is_first:
            self.has_part.set()
        self.wake.notify_all()

    @property
    def _saved_path(self):
        return os.path.join(self.directory, f"{self.base}.json")

    def _save(self, now):
        """Keeps a part that is enforced, at most every ten seconds; what a reader sees is nobody's."""
        if not self.directory or not any(fields.get("enforce") for fields in self.snapshot.values()):
            return
        if self.saved_at is not None and now - self.saved_at < self.SAVE_SECONDS * 1000:
            return
        self.saved_at = now
        try:
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            handle, path = tempfile.mkstemp(dir=self.directory)
            with os.fdopen(handle, "w") as file:
                json.dump({"pools": self.snapshot}, file)
            os.replace(path, self._saved_path)
        except OSError as error:
            # A full disk must not end the service that this is a precaution for. Once is enough to say so.
            log.log(logging.DEBUG if self.save_failed else logging.WARNING, "the snapshot was not saved: %s", error)
            self.save_failed = True

    def _restore(self):
        """The last snapshot of any process under this base name, with its lease over: a process that starts while the service is away
        begins with its fallback. Workers have like parts."""
        if not self.directory:
            return
        try:
            with open(self._saved_path) as file:
                pools = json.load(file)["pools"]
            self.allocations = {pool: Allocation(fields) for pool, fields in pools.items()}
            self.lease_until = self.now()
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            log.warning("the saved snapshot cannot be used: %s", error)

    # Draws

    def _draw_loop(self):
        connection = Connection(self.url, self.token, timeout=1.0)
        while not self.closing.is_set():
            with self.lock:
                requests, wait = self._due_draws(self.now())
                if not requests:
                    self.wake.wait(wait)
                    continue
            for pool, request in requests:
                try:
                    self._draw(connection, pool, request)
                except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
                    # Without an answer the gate lends what it has, and asks again.
                    log.debug("draw: %s", error)
                    connection.close()
                    self.closing.wait(0.1)

    def _due_draws(self, now):
        """[(pool, request)] that are due, and the seconds until another may be."""
        requests, wait = [], 1.0
        for pool, gate in self.gates.items():
            request = gate.next_draw(self.version[0], now) if self.version else None
            if request is not None:
                requests.append((pool, request))
            wake = gate.next_wake(now)
            if wake is not None:
                wait = min(wait, (wake - now) / 1000)
        return requests, max(0.005, wait)

    def _draw(self, connection, pool, request):
        body = {
            "gateway": self.name, "boot": self.boot, "sequence": request["sequence"], "pool": pool, "epoch": request["epoch"],
            "totals": {
                "returned": amounts_of(request["returned"]), "granted_used": amounts_of(request["used"]),
                "spent": {tenant: amounts_of(work) for tenant, work in request["spent"]}},
            "waiting": {tenant: [self._head(call) for call in calls] for tenant, calls in request["waiting"]}}
        status, _, answer = connection.ask(
            "POST", "/v1/draw", json.dumps(body).encode(), {"Content-Type": "application/json"})
        if status != 200:
            log.debug("draw: %d %s", status, answer.get("detail"))
            return
        now = self.now()
        with self.lock:
            gate = self.gates[pool]
            granted = gate.receive(
                int(answer["sequence"]), {tenant: int(calls) for tenant, calls in answer["granted"].items()},
                answer["service_clocks"], int(answer["wait_ms"]), now)
            self._let_go(gate, granted, now)
            self._pump(gate, now)

    def _head(self, call):
        now = self.now()
        fields = {name: amount for name, amount in amounts_of(call.estimate).items() if name != "requests"}
        return {
            **fields, "criticality": CRITICALITIES[call.criticality], "waited_ms": max(0, now - call.arrival),
            "patience_ms": max(0, call.deadline - now)}

    def _pump_loop(self):
        with self.lock:
            while not self.closing.is_set():
                now = self.now()
                wakes = []
                for gate in self.gates.values():
                    self._pump(gate, now)
                    wake = gate.next_wake(now)
                    if wake is not None:
                        wakes.append(wake)
                self._drop_places(now)
                for slot in [slot for slot in self.open_slots.values() if now - slot.asked_at > self.STALE_SLOT_MS]:
                    self._cancelled(slot)
                wait = min(1.0, (min(wakes) - now) / 1000) if wakes else 1.0
                self.wake.wait(max(0.001, wait))


def _wall():
    return int(time.time() * 1000)


class Connection:
    """One kept-alive HTTP connection to Headroom; JSON answers."""

    def __init__(self, url, token, timeout=15.0):
        self.parts = urllib.parse.urlsplit(url)
        self.token, self.timeout, self.connection = token, timeout, None

    def ask(self, method, path, body=None, headers=()):
        """(status, headers, answer). An idle connection that the server closed is opened again, once."""
        fields = {"Accept-Encoding": "gzip", **dict(headers)}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if body is not None and len(body) > 1024:
            body, fields["Content-Encoding"] = gzip.compress(body, 1), "gzip"
        for is_last in (self.connection is None, True):
            try:
                if self.connection is None:
                    self.connection = self._open()
                if self.connection.sock:
                    self.connection.sock.settimeout(self.timeout)
                self.connection.timeout = self.timeout
                self.connection.request(method, self.parts.path.rstrip("/") + path, body, fields)
                response = self.connection.getresponse()
                content = response.read()
                break
            except (ConnectionError, http.client.RemoteDisconnected, http.client.CannotSendRequest):
                self.close()
                if is_last:
                    raise
        if response.getheader("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        answer = json.loads(content) if content else {}
        return response.status, response.headers, answer if isinstance(answer, dict) else {}

    def _open(self):
        if self.parts.scheme == "https":
            return http.client.HTTPSConnection(self.parts.netloc, timeout=self.timeout, context=ssl.create_default_context())
        return http.client.HTTPConnection(self.parts.netloc, timeout=self.timeout)

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


# ---- What callers say ----------------------------------------------------------------------------------------------------


def baggage_of(headers):
    """W3C baggage: headroom.task=t-9,headroom.criticality=batch."""
    fields = {}
    for part in headers.get("baggage", "").split(","):
        name, _, value = part.split(";")[0].partition("=")
        fields[name.strip()] = urllib.parse.unquote(value.strip())
    return fields


def wishes_of(headers, body=None):
    """Criticality, longest wait, time-out, task, its parent and its kind, from a request's headers (names in lower case) and body."""
    baggage = baggage_of(headers)

    def first(*names):
        return next((headers[name] for name in names if headers.get(name)), None)

    criticality = first("x-headroom-criticality") or baggage.get("headroom.criticality")
    if criticality not in CRITICALITIES:
        criticality = "batch" if (body or {}).get("service_tier") == "flex" else "interactive"
    wait = _number(first("x-headroom-max-wait-ms", "x-llm-d-slo-ttft-ms") or baggage.get("headroom.max_wait_ms"))
    timeout = _number(first("x-litellm-timeout", "x-stainless-read-timeout", "x-stainless-timeout"))
    return {
        "criticality": criticality,
        "max_wait": None if wait is None else max(0.0, wait / 1000),
        "timeout": timeout if timeout and timeout > 0 else None,
        "task": name_of(first(
            "x-headroom-task", "x-litellm-trace-id", "x-litellm-session-id", "x-claude-code-session-id", "session-id",
            "x-session-id") or baggage.get("headroom.task") or baggage.get("session.id")),
        "parent": name_of(first("x-headroom-parent", "x-parent-session-id") or baggage.get("headroom.parent")),
        "task_kind": (first("x-headroom-task-kind") or baggage.get("headroom.task-kind") or "")[:200] or None}


def comes_back(headers):
    """Whether the caller's SDK tries again after a 429: OpenAI's and Anthropic's say which retry this is, and make two by default. A
    place that is kept for others would only keep work waiting."""
    retries = _number(headers.get("x-stainless-retry-count"))
    return retries is not None and retries < 2


def name_of(text):
    """As Headroom allows names: 1 to 128 characters out of A-Z a-z 0-9 . _ : @ -, the first a letter or digit."""
    if text is None:
        return None
    return re.sub(r"[^A-Za-z0-9._:@-]", "-", str(text)).lstrip("._:@-")[:128] or None


def characters_in(value):
    """Of text; images and files are not counted."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(
            characters_in(part) for name, part in value.items()
            if name not in ("image_url", "source", "input_audio", "file", "data", "type", "role"))
    if isinstance(value, (list, tuple)):
        return sum(characters_in(part) + 16 for part in value)
    return 0


def size_of(body):
    """(characters of input, bound on output tokens or None) of a request in OpenAI's or Anthropic's form."""
    characters = sum(
        characters_in(body.get(name)) for name in ("messages", "prompt", "input", "system", "instructions", "tools"))
    bound = next(
        (body[name] for name in ("max_completion_tokens", "max_tokens", "max_output_tokens")
         if isinstance(body.get(name), (int, float))), None)
    return characters, bound


# ---- LiteLLM -------------------------------------------------------------------------------------------------------------

#: The HTTP request that a task answers.
EXCHANGE = contextvars.ContextVar("headroom_exchange", default=None)


class Exchange:
    """One HTTP request to the proxy: its headers, whether its client is still there, and the calls made for it."""

    def __init__(self, scope):
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}
        self.gone = asyncio.get_running_loop().create_future()
        self.watcher = None
        self.works = []


class Watch:
    """Notices clients that hang up. LiteLLM lets their calls wait and sends them all the same; this takes them out of the queue.

    An ASGI application around LiteLLM's. Once the body has been read, only the watcher reads on.
    """

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = Exchange(scope)
        EXCHANGE.set(exchange)

        async def read_on():
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    if not exchange.gone.done():
                        exchange.gone.set_result(None)
                    return message

        async def watched():
            if exchange.watcher is not None:
                return await asyncio.shield(exchange.watcher)
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                exchange.watcher = asyncio.ensure_future(read_on())
            return message

        try:
            await self.app(scope, watched, send)
        finally:
            if exchange.watcher is not None:
                exchange.watcher.cancel()
            # LiteLLM logs a success after its answer; what is open then was broken off.
            if exchange.works:
                asyncio.get_running_loop().call_later(5, self._end, exchange.works)

    @staticmethod
    def _end(works):
        for work in works:
            work.end()

    @classmethod
    def install(cls):
        """Around LiteLLM's application, whose middleware is closed to additions once it serves."""
        proxy = sys.modules.get("litellm.proxy.proxy_server")
        app = getattr(proxy, "app", None)
        stack = getattr(app, "middleware_stack", None)
        if stack is not None and not isinstance(stack, cls):
            app.middleware_stack = cls(stack)


class Work:
    """One client request, over all its attempts."""

    def __init__(self, id, tenant, wishes, size, exchange, known):
        self.id, self.tenant, self.wishes, self.size, self.exchange = id, tenant, wishes, size, exchange
        self.known = known  # Of the gateway, by id.
        self.slot = None
        self.attempt = 0
        self.arrival = None
        self.retry_in = 0.0
        self.denied = None
        self.comes_back = False

    def end(self):
        self.known.pop(self.id, None)
        if self.slot is not None and not self.slot.ended:
            if self.slot.sent_at is None:
                self.slot.cancel()
            else:
                self.slot.answered(200)


try:
    from litellm.integrations.custom_logger import CustomLogger
except ImportError:  # Without LiteLLM: the law and the connection, for headroom_client.py.
    CustomLogger = object


class LiteLLMGateway(CustomLogger):
    """LiteLLM's hooks: a slot before each attempt, and what became of it afterwards."""

    MAX_WORKS = 50_000

    def __init__(self, headroom=None):
        super().__init__()
        self.headroom = headroom or Headroom()
        environ = os.environ.get
        self.pool = environ("HEADROOM_POOL")
        self.tenant_fields = environ("HEADROOM_TENANT", "team_id,org_id,key_alias,end_user_id,user_id").split(",")
        self.trusts_headers = environ("HEADROOM_TRUST_HEADERS") == "1"
        self.works = collections.OrderedDict()

    # Before

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        """Once for a client's request: waits for its turn, or answers 429."""
        Watch.install()
        group = data.get("model")
        pools = self._pools(group)
        if not pools:
            return data
        if self.headroom.pid != os.getpid():
            # The one wait for the service: half a second at most at the first call of a process, for its first part.
            self.headroom.start()
            await asyncio.get_running_loop().run_in_executor(None, self.headroom.has_part.wait, 0.5)
        exchange = EXCHANGE.get()
        headers = exchange.headers if exchange else self._headers(data)
        work = Work(
            data.get("litellm_call_id"), self._tenant(user_api_key_dict, headers), wishes_of(headers, data),
            size_of(data), exchange, self.works)
        if work.wishes["timeout"] is None and isinstance(data.get("timeout"), (int, float)):
            work.wishes["timeout"] = float(data["timeout"])
        retries = _number(headers.get("x-stainless-retry-count"))
        work.attempt = int(retries or 0)
        work.comes_back = comes_back(headers)
        if exchange:
            exchange.works.append(work)
        await self._turn(work, pools[0], pools, group, call_type)
        self.works[work.id] = work
        while len(self.works) > self.MAX_WORKS:
            self.works.popitem(last=False)[1].end()
        if work.slot.pool != pools[0]:
            data["model"] = self._group_of(work.slot.pool) or group
        return data

    async def async_pre_call_deployment_hook(self, kwargs, call_type):
        """Before each attempt: the router's retries take a slot each, in the pool of the deployment that it chose."""
        work = self.works.get(kwargs.get("litellm_call_id"))
        if work is None:
            return None
        info = kwargs.get("model_info") or (kwargs.get("metadata") or kwargs.get("litellm_metadata") or {}).get("model_info")
        pool = (info or {}).get("headroom_pool") or self.pool
        slot = work.slot
        if pool is None:
            slot.cancel()
        elif slot.ended or slot.pool != pool:
            slot.cancel()
            await self._turn(work, pool, (pool,), slot.model, slot.endpoint)
        return None

    async def _turn(self, work, pool, pools, model, endpoint):
        work.attempt += 1
        characters, bound = work.size
        slot = self.headroom.ask(
            pool, work.tenant, characters=characters, max_tokens=bound, request=name_of(work.id), attempt=work.attempt,
            arrival=work.arrival, eligible_in=work.retry_in, pools=pools, model=model,
            endpoint=str(getattr(endpoint, "value", endpoint) or "") or None, comes_back=work.comes_back, **work.wishes)
        work.slot, work.arrival = slot, slot.call.arrival
        turn = asyncio.wrap_future(slot.future)
        try:
            if work.exchange and not turn.done():
                await asyncio.wait({turn, work.exchange.gone}, return_when=asyncio.FIRST_COMPLETED)
                if not turn.done():
                    slot.cancel()
                    raise self._refusal(499, "the client has gone", {})
            await turn
        except Denied as denied:
            work.denied = denied
            raise self._refusal(429, str(denied), denied.headers(work.wishes["timeout"])) from None
        except asyncio.CancelledError:
            slot.cancel()
            raise

    @staticmethod
    def _refusal(status, message, headers):
        from fastapi import HTTPException

        error = {"message": message, "type": "rate_limit_error", "code": "rate_limit_exceeded"}
        return HTTPException(status_code=status, detail={"error": error}, headers=headers)

    def _tenant(self, key, headers):
        named = name_of(headers.get("x-headroom-tenant")) if self.trusts_headers else None
        fields = (name_of(getattr(key, field.strip(), None)) for field in self.tenant_fields)
        return named or next((field for field in fields if field), "unknown")

    @staticmethod
    def _headers(data):
        for place in (data.get("proxy_server_request"), data.get("metadata"), data.get("litellm_metadata")):
            if isinstance(place, dict) and isinstance(place.get("headers"), dict):
                return {str(name).lower(): str(value) for name, value in place["headers"].items()}
        return {}

    def _deployments(self, group=None):
        proxy = sys.modules.get("litellm.proxy.proxy_server")
        router = getattr(proxy, "llm_router", None)
        return (router.get_model_list(model_name=group) if router else None) or []

    def _pools(self, group):
        """Of a model group's deployments, each once, in their order, then what those may fail over to."""
        named = [(deployment.get("model_info") or {}).get("headroom_pool") for deployment in self._deployments(group)]
        pools = list(dict.fromkeys(pool or self.pool for pool in named)) or [self.pool]
        pools = [pool for pool in pools if pool]
        allocation = getattr(self.headroom, "allocations", {}).get(pools[0]) if pools else None
        if allocation is not None and allocation.kept_back:
            pools += [pool for pool in allocation.failover if pool not in pools and self._group_of(pool)]
        return pools

    def _group_of(self, pool):
        for deployment in self._deployments():
            if (deployment.get("model_info") or {}).get("headroom_pool") == pool:
                return deployment.get("model_name")
        return None

    # Afterwards

    async def async_post_call_failure_deployment_hook(self, request_data, exception, call_type, fallback_depth=None):
        """Each failed attempt, with the provider's own answer where there was one."""
        work = self.works.get(request_data.get("litellm_call_id"))
        if work is None or work.slot is None or work.denied:
            return
        status, headers, body = provider_answer(exception)
        slot = work.slot
        if not slot.ended:
            self.headroom._answered(slot, status, headers, body, None, None, None)
            if kind_of(status, body) in ("quota", "overload"):
                gate = self.headroom.gates[slot.pool]
                told = signal_of(status, headers, body).retry_after_ms
                work.retry_in = gate.retry_seconds(work.tenant, (told or 0) / 1000, random.random())

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        """Once, after streams too."""
        work = self.works.pop(kwargs.get("litellm_call_id"), None)
        if work is None or work.slot is None:
            return
        record = kwargs.get("standard_logging_object") or {}
        usage = (record.get("metadata") or {}).get("usage_object") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        headers = kwargs.get("response_headers") or {}
        work.slot.answered(
            200, {name.replace("llm_provider-", ""): value for name, value in dict(headers).items()},
            input_tokens=record.get("prompt_tokens"), output_tokens=record.get("completion_tokens"), cached_tokens=cached,
            cached_answer=bool(record.get("cache_hit")), provider=kwargs.get("custom_llm_provider"))

    async def async_post_call_failure_hook(self, request_data, original_exception, user_api_key_dict, traceback_str=None):
        """The client gets an error: nothing more will be tried."""
        work = self.works.pop(request_data.get("litellm_call_id"), None)
        if work is not None and work.slot is not None:
            work.slot.cancel()
        return None

    async def async_post_call_response_headers_hook(
        self, data, user_api_key_dict, response, request_headers=None, litellm_call_info=None
    ):
        """LiteLLM passes a provider's 429 on without Retry-After."""
        if response is not None:
            return None
        exchange = EXCHANGE.get()
        work = exchange.works[-1] if exchange and exchange.works else None
        if work is None or work.denied or not work.retry_in:
            return None
        return {"retry-after-ms": str(math.ceil(work.retry_in * 1000)), "retry-after": str(math.ceil(work.retry_in))}


def provider_answer(exception):
    """(status, headers, body) of the provider. LiteLLM changes some statuses (529 to 500): the first cause that has an answer of
    its own has the real one."""
    status, headers, body = None, {}, ""
    link, depth = exception, 0
    while link is not None and depth < 8:
        response = getattr(link, "response", None)
        if depth > 0 and getattr(response, "status_code", None):
            status = int(response.status_code)
            headers = headers or dict(response.headers)
            try:
                body = body or response.text
            except Exception:  # A stream that was not read.
                pass
            break
        headers = headers or dict(getattr(link, "litellm_response_headers", None) or {})
        if status is None and isinstance(getattr(link, "status_code", None), int):
            status = link.status_code
        link, depth = link.__cause__ or link.__context__, depth + 1
    headers = {str(name).lower().replace("llm_provider-", ""): str(value) for name, value in headers.items()}
    return status or 500, headers, body or str(exception)


if CustomLogger is not object:
    gateway = LiteLLMGateway()

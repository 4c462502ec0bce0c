"""A rate limiter for any chat model of LangChain, by `headroom gate`. Needs headroom_client.py beside it.

    from headroom_langchain import HeadroomRateLimiter
    model = ChatBedrock(model=…, rate_limiter=HeadroomRateLimiter(pool="bedrock:sonnet", tenant="acme"))

LangChain says nothing of the call and nothing of its answer, so each call counts at the gate's estimate. Models that take an httpx client,
as ChatOpenAI (`http_client`, `http_async_client`), are better given those of headroom_client.
"""

import asyncio
import time

import headroom_client
from langchain_core.rate_limiters import BaseRateLimiter


class HeadroomRateLimiter(BaseRateLimiter):
    def __init__(self, pool, tenant, gate=None, **wishes):
        """`wishes` are the gate's headers without x-headroom-, as criticality="batch"."""
        self.gate = gate or headroom_client.default_gate()
        self.headers = headroom_client.headers_of(pool, tenant, wishes)

    def acquire(self, *, blocking=True):
        while True:
            try:
                self.gate.ask(self._headers(blocking))
                return True
            except headroom_client.Denied as denied:
                if not blocking or denied.retry_after is None:
                    return False
                time.sleep(denied.retry_after)

    async def aacquire(self, *, blocking=True):
        while True:
            try:
                await self.gate.async_ask(self._headers(blocking))
                return True
            except headroom_client.Denied as denied:
                if not blocking or denied.retry_after is None:
                    return False
                await asyncio.sleep(denied.retry_after)

    def _headers(self, blocking):
        return self.headers if blocking else {**self.headers, "x-headroom-max-wait-ms": "0"}

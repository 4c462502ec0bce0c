// node try.mjs GATE PROVIDER: whole answers, streams and a caller that gives up, by headroom-fetch.
import { headroomFetch } from "./headroom-fetch.mjs";

const [gate, provider] = process.argv.slice(2);
const ask = headroomFetch({ pool: "mock:mock", tenant: "acme", gate });
const call = (more, init = {}) =>
  ask(provider, {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock", messages: [{ role: "user", content: "word ".repeat(40) }], ...more }), ...init,
  });
const slots = async () => (await (await fetch(gate + "/v1/state")).json()).open_slots;
const before = await slots();
const whole = await (await call({})).json();
const stream = await (await call({ stream: true, stream_options: { include_usage: true } })).text();
const broken = await call({ stream: true });
await broken.body.cancel();
const stop = new AbortController();
stop.abort();
const gaveUp = await call({}, { signal: stop.signal }).then(() => "served", (error) => error.name);
const gone = headroomFetch({ pool: "mock:mock", tenant: "acme", gate: "http://127.0.0.1:1", whenGone: "refuse" });
const refused = await gone(provider, { method: "POST", body: "{}" });
await new Promise((resolve) => setTimeout(resolve, 500));
const after = await slots();
console.log(whole.usage?.total_tokens, stream.includes("[DONE]"), gaveUp, refused.status, after - before);
process.exit(whole.usage?.total_tokens === 250 && stream.includes("[DONE]") && gaveUp === "AbortError" && refused.status === 503 && after <= before ? 0 : 1);

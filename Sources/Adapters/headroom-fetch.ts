// A `fetch` that asks `headroom gate` before each call of a model and tells it afterwards what the call cost, streams too. One file
// without dependencies, for Node 18 or later, Deno and Bun:
//
//     import { headroomFetch } from "./headroom-fetch";
//     const client = new OpenAI({ fetch: headroomFetch({ pool: "openai:gpt-4o", tenant: "acme" }) });
//     const openai = createOpenAI({ fetch: headroomFetch({ pool: "openai:gpt-4o", tenant: "acme" }) }); // Vercel's AI SDK
//
// When a call's wait is over, the SDK gets a 429 that says when it should try again. One call may say more in its headers:
// x-headroom-tenant, x-headroom-criticality, x-headroom-max-wait-ms, x-headroom-task and the others that the gate reads.

export interface HeadroomOptions {
  /** The pool of calls that name none in x-headroom-pool. */
  pool: string;
  /** The tenant of calls that name none in x-headroom-tenant. */
  tenant: string;
  /** Where the gate listens; http://127.0.0.1:8421. */
  gate?: string;
  /** What becomes of calls while the gate is away: they pass, or are refused with 503. */
  whenGone?: "pass" | "refuse";
  /** The longest wait of a call that names none; 30 s. */
  maxWaitMilliseconds?: number;
  /** By which the call itself is sent. */
  fetch?: typeof fetch;
}

/** Milliseconds between two looks whether the gate is alive, and for which its answer may take. */
const LOOK = 1000;
const ANSWER = 2000;
/** Ends that are on their way; beyond that they are dropped, and their slots count at their estimate. */
const MOST_ENDS = 10_000;
/** Bytes of a call that go to the gate; of a larger one it hears the size. */
const MOST_BYTES = 1_000_000;
/** Characters of an answer that are kept to find its usage. */
const MOST_KEPT = 1_000_000;
const ASKED = /^(x-headroom-|x-stainless-|x-litellm-|x-llm-d-|x-claude-code-)|^(baggage|traceparent|idempotency-key|session-id|thread-id|x-session-id)$/;
const REFUSAL = ["retry-after-ms", "retry-after", "x-should-retry", "ratelimit", "ratelimit-policy", "content-type"];

export function headroomFetch(options: HeadroomOptions): typeof fetch {
  const gate = new Gate(options);
  const send = options.fetch ?? fetch;
  return async (input, init) => {
    const request = new Request(input, init);
    if (request.method !== "POST") return send(input, init);
    // A body is read once; strings, as SDKs send, can be sent again.
    const body = typeof init?.body === "string" ? init.body : await request.clone().text();
    const slot = await gate.ask(request, body);
    if (slot instanceof Response) return slot;
    let answer: Response;
    try {
      answer = await send(input, init);
    } catch (error) {
      gate.end(slot, { outcome: "connection" });
      throw error;
    }
    return gate.reading(slot, answer);
  };
}

interface Slot {
  /** Absent where the gate was away. */
  id?: string;
  begun: number;
}

class Gate {
  private readonly url: string;
  private isGone = false;
  /** Called, one for each call that waits, when the gate is lost. */
  private readonly waiting = new Set<() => void>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private ends = 0;
  private missed = new Map<string, { calls: number; bytes: number }>();

  constructor(private readonly options: HeadroomOptions) {
    this.url = (options.gate ?? "http://127.0.0.1:8421").replace(/\/$/, "");
  }

  /** A slot, or the answer of a call that may not be sent. */
  async ask(request: Request, body: string): Promise<Slot | Response> {
    const headers: Record<string, string> = {};
    request.headers.forEach((value, name) => {
      if (ASKED.test(name)) headers[name] = value;
    });
    headers["x-headroom-tenant"] ??= this.options.tenant;
    headers["x-headroom-pool"] ??= this.options.pool;
    headers["x-original-uri"] = new URL(request.url).pathname;
    const timeout = Number(headers["x-stainless-timeout"] ?? headers["x-stainless-read-timeout"] ?? 600) * 1000;
    const wait = Math.min(Number(headers["x-headroom-max-wait-ms"] ?? this.options.maxWaitMilliseconds ?? 30_000), 0.8 * timeout);
    headers["x-headroom-max-wait-ms"] = String(Math.floor(wait));
    if (body.length > MOST_BYTES) headers["x-headroom-bytes"] = String(body.length);
    const answer = this.isGone ? undefined : await this.question(request, headers, body.length > MOST_BYTES ? "" : body, wait);
    if (answer?.status === 200) {
      await answer.text();
      return { id: answer.headers.get("x-headroom-slot") ?? undefined, begun: performance.now() };
    }
    if (answer && answer.status < 500) {
      const kept = REFUSAL.flatMap((name) => (answer.headers.has(name) ? [[name, answer.headers.get(name)!]] : []));
      return new Response(await answer.text(), { status: answer.status, headers: Object.fromEntries(kept) });
    }
    if (this.options.whenGone !== "refuse") {
      const key = JSON.stringify([headers["x-headroom-tenant"], headers["x-headroom-pool"]]);
      const sum = this.missed.get(key) ?? { calls: 0, bytes: 0 };
      this.missed.set(key, { calls: sum.calls + 1, bytes: sum.bytes + body.length });
      return { begun: performance.now() };
    }
    const error = { type: "overloaded_error", code: "gate_gone", message: "Headroom's gate does not answer" };
    return new Response(JSON.stringify({ type: "error", error }), {
      status: 503, headers: { "content-type": "application/json", "retry-after": "2", "retry-after-ms": "2000" },
    });
  }

  /** The gate's answer; nothing from a gate that is lost meanwhile. A caller that gives up leaves the queue. */
  private async question(request: Request, headers: Record<string, string>, body: string, wait: number) {
    const stop = new AbortController();
    const abort = () => stop.abort();
    request.signal.addEventListener("abort", abort);
    const late = setTimeout(abort, wait + 5000);
    this.waiting.add(abort);
    this.timer ??= unref(setInterval(() => void this.look(), LOOK));
    try {
      return await fetch(this.url + "/check?expires_ms=600000", { method: "POST", headers, body, signal: stop.signal });
    } catch {
      request.signal.throwIfAborted();
      if (!stop.signal.aborted) this.lose();
      return undefined;
    } finally {
      clearTimeout(late);
      this.waiting.delete(abort);
      request.signal.removeEventListener("abort", abort);
    }
  }

  /** The answer as it is, whose usage is read as it passes. */
  reading(slot: Slot, answer: Response): Response {
    const isStream = (answer.headers.get("content-type") ?? "").includes("text/event-stream");
    const decoder = new TextDecoder();
    const usage: Record<string, unknown> = {};
    let kept = "";
    const read = (text: string) => {
      try {
        const event = JSON.parse(text);
        // Anthropic says the input when a stream begins, and the output when it ends.
        for (const part of [event, event?.message, event?.response]) Object.assign(usage, part?.usage);
      } catch {
        // No JSON: no usage.
      }
    };
    const take = (text: string) => {
      kept += text;
      if (isStream) {
        const lines = kept.split("\n");
        kept = lines.pop()!;
        for (const line of lines) if (line.startsWith("data:") && line.includes('"usage"')) read(line.slice(5));
      }
      kept = kept.slice(-MOST_KEPT);
    };
    const end = () => {
      if (!isStream) read(kept);
      this.end(slot, {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        latency_ms: performance.now() - slot.begun,
        ...(Object.keys(usage).length ? { body: { usage } } : answer.status >= 400 ? { body: kept.slice(0, 4096) } : {}),
      });
    };
    if (!answer.body) {
      end();
      return answer;
    }
    const reader = answer.body.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) {
          take(decoder.decode(value, { stream: true }));
          controller.enqueue(value);
          return;
        }
        end();
        controller.close();
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    });
    return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  }

  /** Says how the call ended; nobody waits for it. */
  end(slot: Slot, report: object) {
    if (!slot.id || this.isGone || this.ends >= MOST_ENDS) return;
    this.ends++;
    void this.post(`/v1/slots/${slot.id}/done`, report).finally(() => this.ends--);
    slot.id = undefined;
  }

  private async post(path: string, report: object): Promise<boolean> {
    try {
      const answer = await fetch(this.url + path, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(report), signal: soon(),
      });
      await answer.text();
      return true;
    } catch {
      return false;
    }
  }

  private async look() {
    if (!this.isGone && this.waiting.size === 0) return;
    try {
      const answer = await fetch(this.url + "/healthz", { signal: soon() });
      await answer.text();
    } catch {
      this.lose();
      return;
    }
    if (!this.isGone) return;
    this.isGone = false;
    const missed = this.missed;
    this.missed = new Map();
    console.warn(`headroom: the gate is back; ${[...missed.values()].reduce((sum, one) => sum + one.calls, 0)} calls passed while it was away`);
    for (const [key, { calls, bytes }] of missed) {
      const [tenant, pool] = JSON.parse(key);
      void this.post("/v1/missed", { tenant, pool, calls: Math.min(calls, 10_000), tokens: Math.floor(bytes / calls / 4) });
    }
  }

  /** Until the gate is back nobody asks it, and those who wait go on. */
  private lose() {
    if (!this.isGone) console.warn(`headroom: the gate at ${this.url} does not answer`);
    this.isGone = true;
    for (const abort of [...this.waiting]) abort();
  }
}

/** Ends what takes longer than an answer may. */
function soon(): AbortSignal {
  const stop = new AbortController();
  unref(setTimeout(() => stop.abort(), ANSWER));
  return stop.signal;
}

/** In Node a timer keeps the program running. */
function unref<Timer>(timer: Timer): Timer {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

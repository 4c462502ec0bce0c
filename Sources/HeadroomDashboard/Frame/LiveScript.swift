extension DashboardFile {
    static let live = module(
        "live",
        #"""
        // What the service says each tick, by long poll, and the last half hour of each pool that a page looks at.

        import { get, pause, Problem, query } from "/dashboard/service.js";

        const mostSamples = 900;
        const lines = ["nominal", "capacity", "budget", "assured", "asked", "consumed"];
        // Columns by name: calls of the last minute by outcome, attempts by model, budgets by gateway.
        const groups = ["outcomes", "models", "gateways"];
        const signals = ["waiting", "oldest_seconds", "refused_share", "p95_ms", "starved",
          "floors", "lent", "unused", "float", "draws_granted", "draws_empty", "draws_refused"];

        export const live = {
          state: null,
          events: [],
          // When the last answer came, and what is wrong when none comes.
          heardAt: 0,
          fault: null,
          // How many decisions wait and alerts are open; the frame asks for them now and then.
          decisions: null,
          alerts: null,
          // The oldest sample that the service has.
          begun: Infinity,
          // Tenants to name in each pool.
          tenants: 8,
          // A page that looks at one pool wants more than a page of many; it has them at once.
          want(tenants) {
            if (tenants > this.tenants && this.state) { isAnew = true; asking.abort(); }
            this.tenants = tenants;
          },
        };

        const listeners = new Set();
        const buffers = new Map();
        let stopped = true;
        let isAnew = false;
        let asking = new AbortController();

        // Calls `listener` with each tick until `until` (an AbortSignal) ends.
        export function onTick(listener, until) {
          listeners.add(listener);
          until.addEventListener("abort", () => listeners.delete(listener));
          if (live.state) listener(live.state);
        }

        export function begin() {
          if (!stopped) return;
          stopped = false;
          follow();
        }

        export function end() {
          stopped = true;
          asking.abort();
          live.state = null;
          buffers.clear();
          live.events = [];
        }

        async function follow() {
          let wait = 0;
          while (!stopped) {
            try {
              const after = isAnew ? 0 : live.state?.tick ?? 0;
              isAnew = false;
              if (asking.signal.aborted) asking = new AbortController();
              const state = await get("/v1/live" + query({ after, wait: after ? 20 : 0, tenants: live.tenants }), { signal: asking.signal });
              if (stopped) return;
              live.heardAt = Date.now();
              live.fault = null;
              wait = 0;
              if (state.tick === after) {
                if (!after) await pause(500);
                continue;
              }
              // The service was started anew: what is known is of another life.
              if (state.tick < (live.state?.tick ?? 0)) { buffers.clear(); live.begun = Infinity; }
              // Without a tick that is known, all events come.
              live.events = [...(after && state.tick > after ? live.events : []), ...state.events].slice(-500);
              live.state = state;
              for (const pool of state.pools) buffers.get(pool.pool)?.append(Date.parse(state.at), pool);
              for (const listener of listeners) listener(state);
            } catch (error) {
              if (stopped) return;
              if (isAnew) continue;
              live.fault = error instanceof Problem ? error.message : "the service cannot be reached";
              for (const listener of listeners) if (live.state) listener(live.state);
              wait = Math.min(10000, Math.max(500, wait * 2));
              await pause(wait);
            }
            // A page in the background asks once in a while.
            if (document.hidden) await pause(5000);
          }
        }

        // The columns of one pool, filled from the service once and from the ticks after that.
        export async function buffer(pool, tenants = 8) {
          const known = buffers.get(pool);
          if (known && known.asked >= tenants) { await known.ready; return known; }
          const made = new Buffer(pool, tenants);
          buffers.set(pool, made);
          made.ready.catch(() => buffers.delete(pool));
          await made.ready;
          return made;
        }

        // Hours and days as the same columns, from what is stored. With the largest tenants where `tenants` says how many.
        export async function stored(pool, from, to, tenants, until) {
          const path = "/v1/history" + query({ pool, from: Math.floor(from), to: Math.ceil(to), top: tenants || null });
          const answer = await get(path, { signal: until });
          const width = answer.step_seconds;
          const resource = answer.series.some((step) => step.capacity.nominal.tpm !== undefined) ? "tpm" : "rpm";
          const perMinute = (amount) => amount * 60 / width;
          const columns = Object.fromEntries(["nominal", "capacity", "budget", "assured", "asked", "consumed"].map((line) => [line, []]));
          const made = { at: [], resource, resources: { [resource]: columns }, tenants: {}, waiting: [], oldest_seconds: [], refused_share: [], p95_ms: [], starved: [], outcomes: {}, models: {} };
          const named = ["ok", "quota", "overload", "ramp", "billing", "error", "denied"].filter((name) => answer.series.some((step) => step[name] > 0));
          for (const name of named) made.outcomes[name] = [];
          for (const step of answer.series) {
            const known = width >= step.observed_seconds && step.observed_seconds > 0;
            made.at.push(Date.parse(step.start) + width * 500);
            columns.nominal.push(known ? step.capacity.nominal[resource] ?? null : null);
            columns.capacity.push(known ? step.capacity.estimated[resource] ?? null : null);
            columns.budget.push(known ? step.capacity.budget[resource] ?? null : null);
            columns.assured.push(perMinute(resource === "tpm" ? step.assured_tokens : step.assured_requests));
            columns.asked.push(perMinute(resource === "tpm" ? step.asked_tokens : step.asked_requests));
            columns.consumed.push(perMinute(resource === "tpm" ? step.counted_tokens : step.ok));
            const attempts = step.ok + step.quota + step.overload + step.error;
            made.refused_share.push(attempts ? step.quota / attempts : 0);
            for (const name of named) made.outcomes[name].push(perMinute(step[name]));
            made.waiting.push(step.queue_depth);
            made.oldest_seconds.push(step.oldest_queued_seconds);
            made.p95_ms.push(null);
            // How many on average, from seconds of all tenants.
            made.starved.push((step.starved_delivery_seconds + step.starved_shortage_seconds) / width);
          }
          const places = new Map(answer.series.map((step, index) => [step.start, index]));
          for (const leader of answer.top ?? []) {
            const own = { asked: Array(made.at.length).fill(null), assured: Array(made.at.length).fill(null), consumed: Array(made.at.length).fill(null) };
            for (const step of leader.series) {
              const index = places.get(step.start);
              if (index === undefined) continue;
              own.consumed[index] = perMinute(resource === "tpm" ? step.counted_tokens : step.ok);
              own.asked[index] = perMinute(resource === "tpm" ? step.asked_tokens : step.asked_requests);
              own.assured[index] = resource === "tpm" ? perMinute(step.assured_tokens) : null;
            }
            made.tenants[leader.tenant] = own;
          }
          made.events = eventsOf(answer);
          return made;
        }

        // What happened in a range, people's acts among it.
        function eventsOf(answer) {
          return [
            ...answer.events.map((event) => ({ at: Date.parse(event.at), kind: event.kind, text: [event.kind, event.subject, event.before && event.after ? `${event.before} → ${event.after}` : event.after].filter(Boolean).join(" ") })),
            ...answer.acts.map((act) => ({ at: Date.parse(act.at), kind: "act", text: `${act.author}: ${act.action}${act.tenant ? ` ${act.tenant}` : ""}${act.reason ? ` (“${act.reason}”)` : ""}` })),
          ].sort((a, b) => a.at - b.at);
        }

        // The acts of people, which no tick tells.
        export async function acts(pool, from, to, until) {
          const answer = await get("/v1/history" + query({ pool, from: Math.floor(from), to: Math.ceil(to), step: 3600 }), { signal: until });
          return eventsOf({ events: [], acts: answer.acts }).filter((act) => act.at >= from && act.at <= to);
        }

        // The acts of the last half hour, as they are known: asked for again when that was a while ago, or somebody acted here.
        const known = new Map();
        window.addEventListener("steered", () => { for (const one of known.values()) one.askedAt = 0; });
        export function recentActs(pool) {
          if (!known.has(pool)) known.set(pool, { list: [], askedAt: 0 });
          const own = known.get(pool);
          const now = Date.parse(live.state?.at ?? 0);
          if (Math.abs(now - own.askedAt) > 20000) {
            own.askedAt = now;
            acts(pool, now - 1800000, now + 10000).then((list) => { own.list = list; }).catch(() => {});
          }
          return own.list;
        }

        // The last minutes of one tenant, where it is or was among the largest of its pool.
        export async function recentTenant(pool, tenant, until) {
          const series = await get("/v1/live/series" + query({ pool, tenant, seconds: 1800, points: 300 }), { signal: until });
          const own = series.tenants[tenant];
          return { at: series.at, ...own, oldest: own?.oldest_seconds };
        }

        // The same of one tenant.
        export async function storedTenant(pool, tenant, from, to, until) {
          const answer = await get("/v1/history" + query({ pool, tenant, from: Math.floor(from), to: Math.ceil(to) }), { signal: until });
          const width = answer.step_seconds;
          const perMinute = (amount) => amount * 60 / width;
          const made = { at: [], asked: [], assured: [], consumed: [], ceiling: [], oldest: [], denied: [], retries: [], waited: [], events: eventsOf(answer) };
          for (const step of answer.series) {
            made.at.push(Date.parse(step.start) + width * 500);
            made.asked.push(perMinute(step.asked_tokens));
            made.assured.push(perMinute(step.assured_tokens));
            made.consumed.push(perMinute(step.counted_tokens));
            made.ceiling.push(step.ceiling?.tpm ?? null);
            made.oldest.push(step.oldest_queued_seconds);
            made.denied.push(perMinute(step.denied));
            made.retries.push(perMinute(step.retries));
            made.waited.push(step.waits ? step.waited_seconds / step.waits : null);
          }
          return made;
        }

        class Buffer {
          constructor(pool, tenants) {
            this.pool = pool;
            this.asked = tenants;
            this.at = [];
            this.resource = "tpm";
            this.resources = {};
            for (const name of [...groups, "tenants"]) this[name] = {};
            for (const name of signals) this[name] = [];
            this.ready = this.load();
          }

          async load() {
            const series = await get("/v1/live/series" + query({ pool: this.pool, tenants: this.asked, seconds: 1800, points: 300 }));
            const newer = this.at.map((at, index) => ({ at, index })).filter(({ at }) => at > (series.at.at(-1) ?? 0));
            const own = { resources: this.resources, tenants: this.tenants, ...Object.fromEntries([...groups, ...signals].map((name) => [name, this[name]])) };
            this.resource = series.resource ?? this.resource;
            live.begun = Math.min(live.begun, series.at[0] ?? Infinity);
            this.at = series.at;
            this.resources = series.resources;
            this.tenants = series.tenants;
            for (const name of groups) this[name] = series[name];
            // Who may see some tenants only has no sums over all of them.
            for (const name of signals) this[name] = series[name] ?? series.at.map(() => null);
            // Ticks that came while the answer was on its way.
            for (const { at, index } of newer) {
              this.at.push(at);
              for (const name of signals) this[name].push(own[name][index] ?? null);
              for (const [resource, columns] of Object.entries(this.resources)) {
                for (const line of lines) columns[line].push(own.resources[resource]?.[line]?.[index] ?? null);
              }
              for (const group of groups) for (const name of Object.keys(this[group])) this[group][name].push(own[group][name]?.[index] ?? null);
              for (const [tenant, columns] of Object.entries(this.tenants)) {
                for (const line of Object.keys(columns)) columns[line].push(own.tenants[tenant]?.[line]?.[index] ?? null);
              }
            }
          }

          append(at, pool) {
            if (at <= (this.at.at(-1) ?? 0)) return;
            const length = this.at.push(at);
            this.resource = pool.resource;
            for (const name of signals) this[name].push(pool[name] ?? null);
            for (const resource of Object.keys(pool.nominal)) {
              const columns = this.resources[resource] ??= Object.fromEntries(lines.map((line) => [line, Array(length - 1).fill(null)]));
              for (const line of lines) columns[line].push(pool[line]?.[resource] ?? null);
            }
            for (const group of groups) {
              const values = pool[group] ?? {};
              for (const name of Object.keys(values)) this[group][name] ??= Array(length - 1).fill(0);
              for (const name of Object.keys(this[group])) this[group][name].push(values[name] ?? 0);
            }
            for (const tenant of pool.top) {
              this.tenants[tenant.tenant] ??= {
                asked: Array(length - 1).fill(null), assured: Array(length - 1).fill(null), consumed: Array(length - 1).fill(null),
              };
            }
            const named = new Map(pool.top.map((tenant) => [tenant.tenant, tenant]));
            for (const [name, columns] of Object.entries(this.tenants)) {
              const tenant = named.get(name);
              columns.asked.push(tenant?.asked ?? null);
              columns.assured.push(tenant?.assured ?? null);
              columns.consumed.push(tenant?.consumed ?? null);
            }
            if (length > mostSamples) this.trim(length - mostSamples);
          }

          trim(count) {
            this.at.splice(0, count);
            for (const name of signals) this[name].splice(0, count);
            for (const group of groups) {
              for (const [name, values] of Object.entries(this[group])) {
                values.splice(0, count);
                // What has been nothing for half an hour costs nothing more.
                if (!values.some(Boolean)) delete this[group][name];
              }
            }
            for (const columns of Object.values(this.resources)) for (const line of lines) columns[line].splice(0, count);
            for (const [tenant, columns] of Object.entries(this.tenants)) {
              for (const line of Object.keys(columns)) columns[line].splice(0, count);
              // One that has not been named for half an hour costs nothing more.
              if (columns.asked.every((value) => value === null)) delete this.tenants[tenant];
            }
          }
        }
        """#)
}

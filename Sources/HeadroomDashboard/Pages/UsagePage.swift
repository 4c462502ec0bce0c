extension DashboardFile {
    static let usagePage = module(
        "usage",
        #"""
        // Who has which share of the tokens, who waits, and who tries again: by tenant and urgency.

        import { card, chip, h, replace, tableCard } from "/dashboard/elements.js";
        import { compact, duration, percent } from "/dashboard/format.js";
        import { live, onTick } from "/dashboard/live.js";
        import { onRange, Plot, timeline } from "/dashboard/plot.js";
        import { columnsOf } from "/dashboard/pool.js";
        import { get, pause, query } from "/dashboard/service.js";

        const urgencies = { interactive: "interactive", near_real_time: "near real time", batch: "batch" };
        const most = 500;
        const colours = 8;

        export async function show(main, [wanted], until) {
          live.want(32);
          const pools = h("select", { "aria-label": "Pool", onchange: () => { load(); draw(); } });
          const search = h("input", { type: "search", placeholder: "Search by name", "aria-label": "Search tenants by name", autocomplete: "off", spellcheck: "false" });
          const share = new Plot({ title: "Share of the tokens", unit: "% of what is served", height: 240, most: 100, until, show: (value) => value === null || value === undefined ? "–" : `${Math.round(value)}` });
          const waiting = new Plot({ title: "Calls waiting at gateways", unit: null, height: 140, until });
          const oldest = new Plot({ title: "Oldest waiting call", unit: "s", height: 140, until });
          const list = h("div");
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Use and queues"), h("p", null, "Shares of the tokens, calls that wait, calls that are tried again.")),
            h("div", { class: "row" }, h("div", null, search), h("div", null, pools))),
            card(null, share.element), h("div", { class: "grid" }, card(null, waiting.element), card(null, oldest.element)), list);
          let names = "";
          let isLoading = false;
          let tenants = [];
          // Tries again are counted since the start: a rate is between two answers.
          let [tries, before] = [{ at: null, counts: new Map() }, null];

          onTick((state) => {
            const now = state.pools.map((one) => one.pool).join("\n");
            if (now !== names) {
              names = now;
              const chosen = pools.value || wanted || state.pools[0]?.pool;
              replace(pools, state.pools.map((one) => h("option", { value: one.pool, selected: one.pool === chosen }, one.pool)));
            }
            draw();
          }, until);
          onRange(draw, until);

          async function draw() {
            const name = pools.value;
            if (!name) return;
            const columns = await columnsOf(name, 32, until).catch(() => null);
            if (!columns || until.aborted || name !== pools.value) return;
            const lines = columns.resources[columns.resource];
            if (!lines) return;
            const { from } = timeline.window();
            const first = Math.max(0, columns.at.findIndex((at) => at >= from));
            const sum = (values) => values.reduce((total, value, index) => total + (index >= first ? value ?? 0 : 0), 0);
            const ranked = Object.entries(columns.tenants).map(([tenant, own]) => ({ tenant, values: own.consumed, sum: sum(own.consumed) }))
              .sort((a, b) => b.sum - a.sum || (a.tenant < b.tenant ? -1 : 1)).slice(0, colours);
            const part = (values) => values.map((value, index) => lines.consumed[index] ? 100 * (value ?? 0) / lines.consumed[index] : null);
            const stack = ranked.toSorted((a, b) => a.tenant < b.tenant ? -1 : 1).map((one, index) => ({ name: one.tenant, kind: "stack", tone: `var(--c${index})`, values: part(one.values), href: `#/tenant/${encodeURIComponent(one.tenant)}` }));
            const rest = lines.consumed.map((value, index) => value ? Math.max(0, 100 - stack.reduce((total, one) => total + (one.values[index] ?? 0), 0)) : null);
            const events = columns.events ?? [];
            share.draw({ at: columns.at, events, series: [...stack, { name: "all others", kind: "stack", tone: "var(--rest)", values: rest }] });
            waiting.draw({ at: columns.at, events, series: [{ name: "calls", kind: "area", tone: "var(--c2)", values: columns.waiting }] });
            oldest.draw({ at: columns.at, events, series: [{ name: "oldest", kind: "area", tone: "var(--c3)", values: columns.oldest_seconds }] });
          }

          async function load() {
            if (isLoading) return;
            isLoading = true;
            try {
              // The largest, who are named each tick, and those furthest behind.
              const answer = await get("/v1/tenants" + query({ order: "worst", pool: pools.value || null, limit: 200 }), { signal: until });
              tenants = answer.tenants;
              before = tries;
              tries = { at: performance.now(), counts: new Map(tenants.flatMap((tenant) => tenant.pools.flatMap((own) => Object.entries(own.queue)
                .map(([urgency, queue]) => [[tenant.tenant, own.pool, urgency].join("|"), queue.retries])))) };
              if (!until.aborted) table();
            } catch (error) {
              if (!until.aborted && !list.firstChild) replace(list, h("p", { class: "problem" }, error.message));
            }
            isLoading = false;
          }

          // A minute; null where it is not known yet.
          function rate(key) {
            const [now, then] = [tries.counts.get(key), before?.counts.get(key)];
            return now === undefined || then === undefined ? null : Math.max(0, now - then) * 60000 / (tries.at - before.at);
          }

          function table() {
            const name = pools.value;
            const looked = search.value.trim().toLowerCase();
            const pool = live.state?.pools.find((one) => one.pool === name);
            const resource = pool?.resource ?? "tpm";
            const total = pool?.consumed[resource] ?? 0;
            const rows = tenants.filter((tenant) => tenant.tenant.toLowerCase().includes(looked)).flatMap((tenant) => tenant.pools.filter((own) => own.pool === name).flatMap((own) => {
              const flows = new Map(own.profile?.flows.map((flow) => [flow.criticality, flow]) ?? []);
              const demand = [...flows.values()].reduce((sum, flow) => sum + (flow.demand[resource] ?? 0), 0);
              return Object.entries(own.queue).filter(([urgency, queue]) => flows.has(urgency) || queue.depth > 0).map(([urgency, queue]) => {
                // By urgency only what is planned is known: the rest is divided as that is.
                const part = demand ? (flows.get(urgency)?.demand[resource] ?? 0) / demand : 1;
                return { tenant: tenant.tenant, urgency, tier: own.tier, asked: (own.asked[resource] ?? 0) * part, share: total ? (own.consumed[resource] ?? 0) * part / total : 0,
                  depth: queue.depth, oldest: queue.oldest_seconds, retries: queue.retries, rate: rate([tenant.tenant, name, urgency].join("|")) };
              });
            }));
            rows.sort((a, b) => b.depth - a.depth || b.share - a.share);
            replace(list, tableCard(looked ? `${rows.length} found` : "By tenant and urgency, longest queue first", [
              { name: "Tenant", value: (row) => row.tenant, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.tenant) },
              { name: "Urgency", value: (row) => urgencies[row.urgency] ?? row.urgency },
              { name: "Tier", value: (row) => row.tier },
              { name: "Share of tokens", number: true, value: (row) => row.share, show: (row) => percent(row.share) },
              { name: "Asks for", number: true, value: (row) => row.asked, show: (row) => compact(row.asked) },
              { name: "Waiting", number: true, value: (row) => row.depth, show: (row) => row.depth ? chip(compact(row.depth), row.oldest > 10 ? "warn" : null) : "0" },
              { name: "Oldest", number: true, value: (row) => row.oldest, show: (row) => row.oldest ? duration(row.oldest) : "–" },
              { name: "Tried again a minute", number: true, value: (row) => row.rate, show: (row) => compact(row.rate) },
              { name: "Since the start", number: true, value: (row) => row.retries, show: (row) => compact(row.retries) },
            ], rows, looked ? "Nobody of this name calls here." : "Nobody has called in this pool yet. Tenants come here when a gateway reports their calls.", { most }));
          }

          search.addEventListener("input", table);
          while (!until.aborted) {
            if (!list.contains(document.activeElement)) await load();
            await pause(4000, until);
          }
        }
        """#)
}

extension DashboardFile {
    static let poolPage = module(
        "pool",
        #"""
        // One pool: who takes what beneath the capacity, what is missing above it, and what was different in a dent.

        import { card, chip, empty, figures, h, replace, say, tableCard } from "/dashboard/elements.js";
        import { clock, compact, duration, main as mainRate, moment, percent, rates, reasons, relative, units } from "/dashboard/format.js";
        import { ask, endField, field, problem, reasonField } from "/dashboard/forms.js";
        import { acts, buffer, live, onTick, recentActs, stored } from "/dashboard/live.js";
        import { onRange, Plot, timeline } from "/dashboard/plot.js";
        import { get, may, pause, put, query, remove } from "/dashboard/service.js";

        const shownTenants = 8;
        const mostSentences = 12;
        const tones = Array.from({ length: shownTenants }, (_, index) => `var(--c${index})`);

        export function stateChip(state) {
          const is = { healthy: "good", pressured: "warn", throttled: "warn", open: "bad", half_open: "warn" }[state];
          return chip(state.replace("_", " "), is);
        }

        export function poolEvents(pool) {
          return live.events.filter((event) => !event.pool || event.pool === pool).map((event) => ({ ...event, at: Date.parse(event.at) }));
        }

        // With what people did.
        export function eventsAndActs(pool) { return [...poolEvents(pool), ...recentActs(pool)].sort((a, b) => a.at - b.at); }

        const kept = new Map();

        // What a time range needs: ticks, where the service has them in memory, else what is stored. That is asked for
        // again once a minute, as it grows.
        export async function columnsOf(pool, tenants, until, range = timeline.range()) {
          // A young service's plots begin a minute ago at the latest.
          if (range.from >= live.begun - 65000 || range.to - range.from <= 1800000 && !timeline.chosen) return buffer(pool, Math.max(8, tenants));
          const step = Math.max(60000, (range.to - range.from) / 300);
          tenants = Math.min(tenants, 10);
          const key = [pool, tenants, Math.floor(range.from / step), Math.floor(range.to / step)].join("|");
          let columns = kept.get(key);
          if (!columns) {
            columns = stored(pool, range.from, range.to, tenants, until);
            kept.set(key, columns);
            columns.catch(() => kept.delete(key));
            // The newest of each pool, and one to compare with.
            for (const old of [...kept.keys()].slice(0, -64)) kept.delete(old);
          }
          return columns;
        }

        // What runs out first: of which resource the largest part is used.
        export function tightest(pool) {
          let found = null;
          for (const resource of Object.keys(pool.capacity)) {
            const part = pool.capacity[resource] ? (pool.consumed[resource] ?? 0) / pool.capacity[resource] : 0;
            if (!found || part > found.part) found = { resource, part };
          }
          return found;
        }

        // Use beneath the estimate, and what is asked for above it.
        export function capacitySeries(columns, resource = columns.resource) {
          const lines = columns.resources[resource];
          if (!lines) return [];
          return [
            { name: "used", kind: "area", tone: "var(--use)", values: lines.consumed },
            { name: "asked for, not served", kind: "gap", values: lines.consumed, upper: missing(lines.consumed, lines.asked) },
            { name: "budget", kind: "thin", tone: "var(--c2)", values: lines.budget },
            { name: "capacity", kind: "line", tone: "var(--capacity)", values: lines.capacity },
            { name: "nominal", kind: "dash", tone: "var(--nominal)", values: lines.nominal },
          ];
        }

        // Demand holds a margin over what is used, so that a twentieth is no shortage.
        function missing(used, asked) { return asked.map((value, index) => value !== null && used[index] !== null && value > used[index] * 1.1 ? value : used[index]); }

        // One bar a tier: what it got of what it asked for; the mark is what it is sure of.
        // Of the contract's capacity, in the resource that has lost most.
        export function left(pool) {
          return Math.min(1, ...Object.keys(pool.nominal).map((resource) => pool.nominal[resource] ? pool.capacity[resource] / pool.nominal[resource] : 1));
        }

        // By starved tenants, then by state, then by tenants that are short, then by what is left of the contract.
        export function sickestFirst(pools) {
          const states = ["open", "half_open", "throttled", "pressured", "healthy"];
          const rank = (pool) => states.indexOf(pool.state);
          const size = (pool) => pool.starved || pool.short.filter((tenant) => tenant.starvation).length;
          return [...pools].sort((a, b) => size(b) - size(a) || rank(a) - rank(b) || b.short.length - a.short.length
            || Math.round(20 * left(a)) - Math.round(20 * left(b)) || a.pool.localeCompare(b.pool));
        }

        export function tierMeters(element, pool) {
          const order = ["critical", "premium", "standard", "free"];
          const tiers = [...pool.tiers].sort((a, b) => place(order, a.tier) - place(order, b.tier));
          const key = tiers.map((tier) => tier.tier).join("|");
          if (element.dataset.key !== key) {
            element.dataset.key = key;
            replace(element, tiers.map(() => h("div", { class: "share" }, h("span"), h("span", { class: "quiet" }), h("div", { class: "meter", role: "img" }, h("i"), h("b")))));
          }
          tiers.forEach((tier, index) => {
            const [name, note, meter] = element.children[index].children;
            const asked = mainRate(tier.asked, pool.resource);
            const got = mainRate(tier.consumed, pool.resource);
            const sure = mainRate(tier.assured, pool.resource);
            const part = asked ? Math.min(1, got / asked) : got ? 1 : 0;
            say(name, tier.tier);
            say(note, `${compact(got)} of ${compact(asked)}${tier.starved ? ` · ${tier.starved} starved` : ""}${tier.waiting ? ` · ${compact(tier.waiting)} waiting` : ""}`);
            meter.style.setProperty("--part", `${100 * part}%`);
            meter.style.setProperty("--mark", asked ? `calc(${Math.min(100, 100 * sure / asked)}% - 2px)` : "0%");
            meter.style.setProperty("--tone", tier.starved ? "var(--shortage)" : asked && part < .7 ? "var(--c2)" : "var(--use)");
            meter.setAttribute("aria-label", asked ? `${tier.tier} gets ${percent(part)} of what it asks for` : `${tier.tier} asks for nothing`);
          });
        }

        function place(order, tier) { const index = order.indexOf(tier); return index < 0 ? order.length : index; }

        export async function show(main, [name], until) {
          if (!name) { location.hash = "#/"; return; }
          live.want(32);
          const head = h("div", { class: "head" });
          const numbers = h("div");
          let resource = null;
          const picker = h("div", { class: "row", role: "group", "aria-label": "Resource" });
          const who = new Plot({ title: "Who takes what", unit: null, height: 280, until });
          const whole = new Plot({ title: "Demand, budget, capacity", unit: null, height: 190, until });
          const refusals = new Plot({ title: "Refused or failed, by type", unit: "% of attempts, last minute", height: 150, until });
          const models = new Plot({ title: "Attempts by model", unit: "a minute", height: 150, until });
          const latency = new Plot({ title: "Latency p95", unit: "ms", height: 150, until });
          const waiting = new Plot({ title: "Calls waiting at gateways", unit: null, height: 150, until });
          const lending = new Plot({ title: "Floors, lending, float", unit: null, height: 150, until });
          const draws = new Plot({ title: "Draws from the float", unit: "a minute", height: 150, until });
          const parts = new Plot({ title: "Gateways’ parts of the budget", unit: null, height: 150, until });
          const recent = h("p", { class: "quiet", hidden: true }, "Floors, lending, draws, gateways’ parts and latency are kept for the last half hour only.");
          const story = h("div");
          const difference = h("div");
          const excess = h("div");
          const tiers = h("div", { class: "stack tight" });
          const tenants = h("div");
          const facts = h("div");
          if (live.state && !live.state.pools.some((pool) => pool.pool === name)) {
            replace(main, card(null, empty(`There is no pool ${name}: the policy does not name it, or your token may not see it. `, h("a", { href: "#/" }, "All pools"))));
            return;
          }
          replace(main, head, numbers, h("section", { class: "card stack" }, picker, who.element), difference,
            h("div", { class: "wide-left" }, card(null, whole.element), card("Tiers", tiers, h("p", { class: "quiet" }, "The bar is what a tier gets of what it asks for; the mark is what it is sure of."))),
            h("div", { class: "grid" }, card(null, refusals.element), card(null, waiting.element), card(null, latency.element), card(null, models.element),
              card(null, lending.element, h("p", { class: "quiet below" }, "Lent is what tenants use above what they are sure of: budget that is assured to nobody, or that others leave unused.")), card(null, parts.element), card(null, draws.element)), recent,
            story, h("div", { class: "wide-left" }, tenants, h("div", { class: "stack" }, excess, facts)));
          let columns = await columnsOf(name, 10, until);
          if (until.aborted) return;

          const steer = may("sre", "admin") ? h("button", { type: "button", onclick: () => pin(name, live.state?.pools.find((pool) => pool.pool === name), refresh) }, "Pin capacity") : null;
          replace(head, h("div", null, h("h1", null, name), h("p")), h("div", { class: "row" }, steer));

          onTick((state) => {
            const pool = state.pools.find((candidate) => candidate.pool === name);
            if (!pool) {
              replace(numbers, card(null, empty("The policy has no such pool, or your token may not see it.")));
              return;
            }
            const shown = resource ?? pool.resource;
            const [capacity, nominal, used, asked] = [pool.capacity, pool.nominal, pool.consumed, pool.asked].map((value) => mainRate(value, shown));
            const tight = tightest(pool);
            offer(pool, shown, tight);
            say(head.querySelector("p"), `${pool.tenants} tenants · estimate by: ${reasons[pool.capacity_reason] ?? pool.capacity_reason} · confidence ${percent(pool.confidence)}`);
            replace(numbers, figures([
              ["State", pool.state.replace("_", " "), null, null, pool.state === "healthy" ? "good" : pool.state === "open" ? "bad" : "warn"],
              ["Capacity", compact(capacity), units[shown], `${percent(capacity / nominal)} of nominal`],
              ["Used", compact(used), units[shown], `${percent(used / capacity)} of capacity`],
              ["Asked for", compact(asked), units[shown], asked ? `${percent(Math.min(1, used / asked))} served` : null],
              tight && Object.keys(pool.capacity).length > 1 ? ["Runs out first", units[tight.resource].replace("/min", ""), null, `${percent(tight.part)} used`] : null,
              ["Starved", String(pool.starved), `of ${pool.tenants}`, null, pool.starved ? "bad" : "good"],
              ["Waiting", compact(pool.waiting), "calls", pool.waiting ? `oldest ${duration(pool.oldest_seconds)}` : null],
            ]));
            tierMeters(tiers, pool);
            draw();
            listTenants(tenants, name, pool);
          }, until);

          // A pool may run out of requests while it has tokens left.
          function offer(pool, shown, tight) {
            const all = Object.keys(pool.capacity);
            const key = all.join() + shown + tight?.resource;
            if (picker.dataset.key === key) return;
            picker.dataset.key = key;
            replace(picker, all.length > 1 ? all.map((one) => h("button", { type: "button", class: one === shown ? "chosen-one" : null, "aria-pressed": String(one === shown),
              onclick: () => { resource = one; offer(pool, one, tight); draw(); } }, units[one] ?? one)) : null);
          }

          async function draw() {
            try {
              columns = await columnsOf(name, 32, until);
            } catch (error) {
              if (!until.aborted) replace(difference, problem(error));
              return;
            }
            if (until.aborted) return;
            const events = columns.events ?? eventsAndActs(name);
            const shown = resource && columns.resources[resource] ? resource : columns.resource;
            who.draw({ at: columns.at, events, series: shown === columns.resource ? shares(columns) : capacitySeries(columns, shown) });
            // Of who is starved the small plots say nothing.
            const main = events.filter((event) => !["starved", "recovered"].includes(event.kind));
            const lines = columns.resources[shown] ?? {};
            whole.draw({ at: columns.at, events: main, series: lines.asked ? [
              { name: "asked for", kind: "line", tone: "var(--shortage)", values: lines.asked },
              { name: "used", kind: "area", tone: "var(--use)", values: lines.consumed },
              { name: "assured", kind: "thin", tone: "var(--c1)", values: lines.assured },
              { name: "budget", kind: "thin", tone: "var(--c2)", values: lines.budget },
              { name: "capacity", kind: "line", tone: "var(--capacity)", values: lines.capacity },
              { name: "nominal", kind: "dash", tone: "var(--nominal)", values: lines.nominal },
            ] : [] });
            refusals.draw({ at: columns.at, events: main, series: failures(columns) });
            models.element.parentElement.hidden = !Object.keys(columns.models).length;
            models.draw({ at: columns.at, events: main, series: Object.entries(columns.models).map(([model, values], index) => ({ name: model, kind: "stack", tone: tones[index % tones.length], values })) });
            latency.element.parentElement.hidden = columns.p95_ms.every((value) => value === null);
            latency.draw({ at: columns.at, events: main, series: [{ name: "p95", kind: "line", tone: "var(--c3)", values: columns.p95_ms }] });
            waiting.draw({ at: columns.at, events: main, series: [{ name: "calls", kind: "area", tone: "var(--c2)", values: columns.waiting }] });
            drawDivision(main);
          }

          // How the budget is divided, which ticks tell and the database does not.
          function drawDivision(events) {
            const isKnown = Boolean(columns.floors);
            recent.hidden = isKnown;
            const only = (plot, is) => { plot.element.parentElement.hidden = !is; return is; };
            if (only(lending, isKnown)) {
              lending.draw({ at: columns.at, events, series: [
                { name: "assured, unused", kind: "area", tone: "var(--c1)", values: columns.unused },
                { name: "lent", kind: "area", tone: "var(--c2)", values: columns.lent },
                { name: "float", kind: "line", tone: "var(--c3)", values: columns.float },
                { name: "floors", kind: "dash", tone: "var(--nominal)", values: columns.floors },
              ] });
            }
            if (only(draws, isKnown && columns.draws_granted.some((value) => value !== null))) {
              draws.draw({ at: columns.at, events, series: [
                { name: "granted", kind: "stack", tone: "var(--c1)", values: columns.draws_granted },
                { name: "nothing there", kind: "stack", tone: "var(--c2)", values: columns.draws_empty },
                { name: "refused", kind: "stack", tone: "var(--shortage)", values: columns.draws_refused },
              ] });
            }
            const names = isKnown ? Object.keys(columns.gateways).sort() : [];
            if (only(parts, names.length > 0)) {
              const budget = columns.resources[columns.resource]?.budget ?? [];
              const rest = budget.map((value, index) => value === null ? null
                : Math.max(0, value - (columns.float[index] ?? 0) - names.reduce((sum, one) => sum + (columns.gateways[one][index] ?? 0), 0)));
              parts.draw({ at: columns.at, events, series: [
                ...names.slice(0, shownTenants).map((one, index) => ({ name: one, kind: "stack", tone: tones[index], values: columns.gateways[one] })),
                ...(names.length >= shownTenants ? [{ name: "all others", kind: "stack", tone: "var(--rest)", values: rest }] : []),
                { name: "budget", kind: "line", tone: "var(--capacity)", values: budget },
              ] });
            }
          }

          async function compare() {
            const part = timeline.chosen;
            if (!part?.of) { replace(difference); return; }
            const [whole, people] = await Promise.all([
              columnsOf(name, 10, until, part.of), acts(name, part.from, part.to, until).catch(() => [])]);
            if (!until.aborted && timeline.chosen === part) replace(difference, differenceCard(whole, name, part, people));
          }
          onRange(async () => {
            await draw();
            if (!until.aborted) await compare();
          }, until);
          compare();

          async function refresh() {
            const { pools } = await get("/v1/pools" + query({ pool: name }), { signal: until });
            if (until.aborted || !pools[0]) return;
            const pool = pools[0];
            replace(excess, card("Who wants more than it is sure of", pool.excess.length ? pool.excess.map((part) => h("div", { class: "share" },
              h("a", { href: `#/tenant/${encodeURIComponent(part.tenant)}` }, part.tenant), h("span", { class: "number" }, percent(part.share)),
              h("div", { class: "meter", vars: { "--part": `${100 * part.share}%`, "--tone": "var(--c2)" } }, h("i"))))
              : empty("Nobody: all that is asked for is assured.")));
            replace(facts, card("How it is run", h("ul", { class: "sentences" },
              h("li", null, `Mode ${pool.mode}; ${pool.enforce ? "gateways enforce what is published" : "gateways only count"}.`),
              h("li", null, Object.values(pool.float).some(Boolean) ? `The float holds ${rates(pool.float)}: budget that no gateway has work for.` : "The float is empty: no gateway draws from it, or all have work for their parts."),
              pool.failover.length ? h("li", null, `Fails over to ${pool.failover.join(", ")}.`) : h("li", null, "No pool to fail over to."),
              pool.upstream.channels.map((channel) => h("li", null, `${channel.model ?? "Other models"}: ${channel.state.replace("_", " ")}, ${compact(channel.attempts)} attempts in the last minute, ${percent(channel.quota_share)} refused${channel.latency_ms ? `, p95 ${compact(channel.latency_ms.p95)} ms (usually ${compact(channel.latency_ms.baseline_p95)})` : ""}.`)),
              pool.upstream.long_windows.map((window) => h("li", null, `${compact(window.remaining)} ${window.resource} left until ${moment(window.resets_at)}.`)),
              pool.retry_storm ? h("li", null, `Retry storm since ${moment(pool.retry_storm.since)}, ${percent(pool.retry_storm.share)} of the traffic.`) : null),
              pool.pin ? h("div", { class: "row" }, chip(`pinned by ${pool.pin.author} to ${rates(pool.pin.capacity)}, ends ${relative(pool.pin.until)}`, "warn"),
                may("sre", "admin") ? h("button", { type: "button", onclick: async () => { await remove(`/v1/pools/${encodeURIComponent(name)}/capacity`); refresh(); } }, "Unpin") : null) : null));
          }
          // Why the plots look as they do, in sentences, by the minutes that are stored.
          async function tell() {
            const { from, to } = timeline.range();
            const answer = await get("/v1/explain" + query({ pool: name, from: Math.floor(from), to: Math.ceil(to) }), { signal: until });
            if (until.aborted) return;
            // A minute is stored once it is over: a service that has just started has nothing to tell.
            replace(story, !Object.keys(answer.capacity.estimated).length ? null : card("Why it looks like this", h("ul", { class: "sentences" }, answer.sentences.slice(0, mostSentences).map((sentence) => h("li", null, sentence))),
              answer.sentences.length > mostSentences ? h("p", { class: "quiet below" }, `And ${answer.sentences.length - mostSentences} more: the plots mark them, and a shorter range tells them.`) : null));
          }
          onRange(() => tell().catch(() => {}), until);
          let told = 0;
          while (!until.aborted) {
            await refresh().catch(() => {});
            if (Date.now() - told > 60000) { told = Date.now(); await tell().catch(() => {}); }
            await pause(6000, until);
          }
        }

        const outcomes = { quota: "429, quota", overload: "overloaded", ramp: "429, growing too fast", billing: "billing", auth: "not allowed", client: "refused as faulty", server: "provider's fault", error: "no answer" };

        // Of the attempts, in percent, one type on the other.
        function failures(columns) {
          const attempts = columns.at.map((_, index) => Object.entries(columns.outcomes)
            .reduce((sum, [outcome, values]) => sum + (outcome === "denied" || outcome === "cached" ? 0 : values[index] ?? 0), 0));
          const found = Object.keys(outcomes).filter((outcome) => columns.outcomes[outcome]).map((outcome, index) => ({
            name: outcomes[outcome], kind: "stack", tone: outcome === "quota" ? "var(--shortage)" : tones[(index + 1) % tones.length],
            values: columns.outcomes[outcome].map((count, place) => attempts[place] ? 100 * (count ?? 0) / attempts[place] : 0) }));
          return found.length ? found : [{ name: outcomes.quota, kind: "stack", tone: "var(--shortage)", values: columns.at.map(() => 0) }];
        }

        // The largest tenants one on the other, the rest on top, and what is missing above.
        function shares(columns) {
          const lines = columns.resources[columns.resource];
          if (!lines) return [];
          const { from } = timeline.window();
          const first = Math.max(0, columns.at.findIndex((at) => at >= from));
          const total = (values) => { let sum = 0; for (let index = first; index < values.length; index += 1) sum += values[index] ?? 0; return sum; };
          const ranked = Object.entries(columns.tenants).map(([tenant, { consumed }]) => ({ tenant, consumed, sum: total(consumed) }))
            .sort((a, b) => b.sum - a.sum || (a.tenant < b.tenant ? -1 : 1)).slice(0, shownTenants);
          // A tenant keeps its colour when its rank changes.
          const stack = ranked.toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1)).map((one, index) => ({
            name: one.tenant, kind: "stack", tone: tones[index], values: one.consumed, href: `#/tenant/${encodeURIComponent(one.tenant)}` }));
          const rest = lines.consumed.map((value, index) => value === null ? null : Math.max(0, value - stack.reduce((sum, one) => sum + (one.values[index] ?? 0), 0)));
          return [...stack, { name: "all others", kind: "stack", tone: "var(--rest)", values: rest },
            { name: "asked for, not served", kind: "gap", values: lines.consumed, upper: missing(lines.consumed, lines.asked) },
            { name: "capacity", kind: "line", tone: "var(--capacity)", values: lines.capacity },
            { name: "nominal", kind: "dash", tone: "var(--nominal)", values: lines.nominal }];
        }

        // Compares a chosen range with what was shown when it was chosen.
        function differenceCard(columns, name, { from, to, of }, people) {
          const inside = [];
          const outside = [];
          columns.at.forEach((at, index) => { if (at >= from && at <= to) inside.push(index); else if (at >= of.from && at <= of.to) outside.push(index); });
          const isLong = of.to - of.from > 86400000;
          const title = `What was different from ${isLong ? moment(from) : clock(from)} to ${isLong ? moment(to) : clock(to)}`;
          if (!inside.length || !outside.length) return card(title, empty("Choose a range with some samples in it and some outside."));
          const mean = (values, where) => {
            const known = where.map((index) => values[index]).filter((value) => value !== null && value !== undefined);
            return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
          };
          const lines = columns.resources[columns.resource];
          const rows = [
            ["Capacity", lines.capacity], ["Budget", lines.budget], ["Used", lines.consumed], ["Asked for", lines.asked],
            ...Object.keys(columns.resources).filter((one) => one !== columns.resource).map((one) => [`Used, ${units[one]}`, columns.resources[one].consumed]),
            ["Latency p95, ms", columns.p95_ms], ["Calls waiting", columns.waiting], ["Tenants starved", columns.starved],
            ...Object.entries(columns.outcomes).map(([outcome, values]) => [`Calls a minute: ${outcomes[outcome] ?? (outcome === "denied" ? "denied by a gateway" : outcome)}`, values]),
            ...Object.entries(columns.models).map(([model, values]) => [`Attempts a minute: ${model}`, values]),
            ...Object.entries(columns.tenants).flatMap(([tenant, own]) => [[`${tenant}: used`, own.consumed, tenant], [`${tenant}: asked for`, own.asked, tenant]]),
          ].map(([what, values, tenant]) => ({ what, tenant, inside: mean(values, inside), outside: mean(values, outside) }))
            .filter((row) => row.inside !== null && row.outside !== null)
            .map((row) => ({ ...row, change: row.outside ? row.inside / row.outside - 1 : row.inside ? Infinity : 0 }))
            .filter((row) => !row.tenant || Math.abs(row.change) >= .1)
            .sort((a, b) => Number(Boolean(a.tenant)) - Number(Boolean(b.tenant)) || (a.tenant ? Math.abs(b.inside - b.outside) - Math.abs(a.inside - a.outside) : 0)).slice(0, 24);
          const marked = (columns.events ?? poolEvents(name)).filter((event) => event.at >= from - 10000 && event.at <= to && event.kind !== "act");
          const events = [...marked, ...people].sort((a, b) => a.at - b.at);
          const made = tableCard([title, h("button", { type: "button", class: "plain", onclick: () => timeline.choose(null) }, "Close")], [
            { name: "What", value: (row) => row.what, kind: "name", show: (row) => row.tenant ? h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.what) : row.what },
            { name: "In the range", number: true, value: (row) => row.inside, show: (row) => compact(row.inside) },
            { name: "Outside", number: true, value: (row) => row.outside, show: (row) => compact(row.outside) },
            { name: "Change", number: true, value: (row) => row.change, show: (row) => row.change === Infinity ? "new" : row.change > 3 ? `${compact(row.change + 1)} times` : `${row.change > 0 ? "+" : ""}${percent(row.change)}` },
          ], rows, "Nothing moved by a tenth or more.");
          if (events.length) {
            made.querySelector("header").after(h("ul", { class: "events lifted" }, events.map((event) => h("li", null, h("time", null, clock(event.at)), chip(event.kind.replaceAll("_", " ")), h("span", null, event.text)))));
          }
          return made;
        }

        function listTenants(element, name, pool) {
          const columns = [
            { name: "Tenant", value: (row) => row.tenant, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.tenant) },
            { name: "Tier", value: (row) => row.tier },
            { name: "Gets", number: true, value: (row) => row.consumed, show: (row) => compact(row.consumed) },
            { name: "Asks for", number: true, value: (row) => row.asked, show: (row) => compact(row.asked) },
            { name: "Sure of", number: true, value: (row) => row.assured, show: (row) => compact(row.assured) },
            { name: "Waiting", number: true, value: (row) => row.waiting },
            { name: "State", value: (row) => row.starvation ?? (row.underserved_seconds ? "short" : ""), show: (row) => row.starvation ? chip(`starved: ${row.starvation}`, "bad") : row.underserved_seconds >= 1 ? chip("short", "warn") : chip("as due", "good") },
          ];
          if (!element.made || !pool.top.length) {
            const made = tableCard([`Largest tenants${pool.tenants > pool.top.length ? ` (${pool.top.length} of ${pool.tenants})` : ""}`, h("a", { href: `#/tenants/${encodeURIComponent(name)}` }, "All tenants")],
              columns, pool.top, "No tenant has been heard of. Gateways name them when they report.");
            replace(element, made);
            element.made = pool.top.length ? made : null;
            element.columns = columns;
            return;
          }
          // Redrawn as a whole each 2 s it would lose the reader's place in it.
          if (Date.now() - (element.drawnAt ?? 0) < 4000 || element.contains(document.activeElement)) return;
          element.drawnAt = Date.now();
          replace(element, tableCard([`Largest tenants${pool.tenants > pool.top.length ? ` (${pool.top.length} of ${pool.tenants})` : ""}`, h("a", { href: `#/tenants/${encodeURIComponent(name)}` }, "All tenants")], columns, pool.top, ""));
        }

        function pin(name, pool, done) {
          const resources = Object.entries(pool?.capacity ?? {});
          return ask("Pin the capacity", [
            h("p", { class: "quiet" }, "The pool counts with this, whatever the provider seems to deliver. Empty fields are estimated as ever."),
            h("div", { class: "fields" }, resources.map(([resource, rate]) => field(resource.toUpperCase(), h("input", { name: `rate-${resource}`, type: "number", min: "1", step: "any", placeholder: String(Math.round(rate)) })))),
            reasonField(), endField("3600"),
          ], "Pin", async (values) => {
            const capacity = Object.fromEntries(resources.filter(([resource]) => values[`rate-${resource}`]).map(([resource]) => [resource, Number(values[`rate-${resource}`])]));
            await put(`/v1/pools/${encodeURIComponent(name)}/capacity`, { capacity, reason: values.reason, expires_in_seconds: Number(values.expires) });
            await done();
          });
        }
        """#)
}

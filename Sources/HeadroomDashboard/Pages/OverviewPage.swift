extension DashboardFile {
    static let overviewPage = module(
        "overview",
        #"""
        // Overview: does anyone suffer, where, and what waits for a decision.

        import { card, chip, empty, figures, h, replace, say, tableCard } from "/dashboard/elements.js";
        import { clock, compact, duration, main as mainRate, nearly, percent, reasons, units, whole } from "/dashboard/format.js";
        import { live, onTick } from "/dashboard/live.js";
        import { onRange, Plot } from "/dashboard/plot.js";
        import { capacitySeries, columnsOf, eventsAndActs, stateChip, tierMeters, tightest } from "/dashboard/pool.js";
        import { get, pause, query, session } from "/dashboard/service.js";

        export async function show(main, argument, until) {
          const verdict = h("section", { class: "verdict" });
          const numbers = h("div");
          const versus = h("div");
          const pools = h("div", { class: "grid" });
          const short = h("div");
          const events = h("div");
          const levels = h("div");
          replace(main, versus, verdict, numbers, levels, pools, h("div", { class: "halves" }, short, events));
          const cards = new Map();
          const seen = new IntersectionObserver((entries) => {
            for (const entry of entries) {
              const own = cards.get(entry.target.dataset.pool);
              own.isSeen = entry.isIntersecting;
              if (own.isSeen) own.draw();
            }
          }, { rootMargin: "200px" });
          until.addEventListener("abort", () => seen.disconnect());

          onTick((state) => {
            judge(verdict, state);
            count(numbers, state);
            if (state.pools.length === 0) {
              replace(pools, card(null, empty("No pool has been seen yet. Pools come from the policy directory; ", h("code", null, "headroom init DIR --pool NAME"), " writes one.")));
            }
            for (const pool of state.pools) {
              let own = cards.get(pool.pool);
              if (!own) {
                own = new PoolCard(pool, until);
                cards.set(pool.pool, own);
                pools.append(own.element);
                seen.observe(own.element);
              }
              own.update(pool);
            }
            listShort(short, state);
            listEvents(events);
          }, until);
          onRange(() => { for (const own of cards.values()) if (own.isSeen) own.draw(); }, until);
          if (session.current.demo) compare(versus, until);
          showLevels(levels, until);
        }

        // The last day of each tier, against its objective.
        async function showLevels(element, until) {
          while (!until.aborted) {
            const answer = await get("/v1/slos" + query({ limit: 0 }), { signal: until }).catch(() => null);
            if (until.aborted) return;
            const known = answer?.tiers.filter((tier) => tier.windows["24h"]?.observed_seconds > 0) ?? [];
            replace(element, known.length ? card(["Served as due, last day", h("a", { href: "#/levels" }, "Service levels")], h("dl", { class: "levels" }, known.map((tier) => {
              const part = tier.windows["24h"].attainment;
              const fast = tier.windows["1h"]?.burn ?? 0;
              return h("div", null, h("dt", null, tier.tier), h("dd", null, h("span", { class: part < tier.objective ? "bad" : "good" }, nearly(part)), " ",
                h("span", { class: "quiet" }, `of ${nearly(tier.objective)}`), fast > 1 ? [" ", chip(`burns ${fast < 10 ? fast.toFixed(1) : Math.round(fast)} ×`, fast > 10 ? "bad" : "warn")] : null));
            }))) : null);
            await pause(15000, until);
          }
        }

        function judge(element, state) {
          const short = state.pools.flatMap((pool) => pool.short.map((tenant) => ({ ...tenant, pool: pool.pool })));
          const starved = state.pools.reduce((sum, pool) => sum + pool.starved, 0) || short.filter((tenant) => tenant.starvation).length;
          const troubled = state.pools.filter((pool) => pool.state !== "healthy");
          const tenants = state.pools.reduce((sum, pool) => sum + pool.tenants, 0);
          const crowded = state.pools.filter((pool) => mainRate(pool.demand, pool.resource) > 1.05 * mainRate(pool.capacity, pool.resource));
          let is = "good";
          let title = "Nobody is starved";
          if (starved) [is, title] = ["bad", `${starved} ${starved === 1 ? "tenant is" : "tenants are"} starved`];
          else if (state.pools.some((pool) => pool.state === "open")) [is, title] = ["bad", "A breaker is open"];
          else if (short.length) [is, title] = ["warn", `${short.length} ${short.length === 1 ? "tenant is" : "tenants are"} short of what they are due`];
          else if (troubled.length) [is, title] = ["warn", "Nobody is starved; an upstream is under pressure"];
          else if (!tenants) [is, title] = ["good", "Waiting for traffic"];
          const worst = short[0];
          const detail = worst
            ? `${worst.tenant} is furthest behind: ${compact(worst.consumed)} of ${compact(worst.demand)} it asks for, for ${duration(worst.underserved_seconds)}.`
            : troubled.length ? troubled.map((pool) => `${pool.pool} is ${pool.state.replace("_", " ")}`).join(", ") + "."
              : tenants ? `${tenants} ${tenants === 1 ? "tenant gets what it is" : "tenants get what they are"} due.${crowded.length ? ` More is asked for than there is in ${crowded.length === 1 ? crowded[0].pool : `${crowded.length} pools`}: it is divided by priority.` : ""}`
                : "As soon as a gateway reports, its tenants are here.";
          if (element.dataset.said === is + title + detail) return;
          element.dataset.said = is + title + detail;
          element.dataset.is = is;
          replace(element, h("div", null, h("h1", null, title), h("p", null, detail)));
        }

        function count(element, state) {
          // Who has one of the links in focus keeps it.
          if (element.contains(document.activeElement)) return;
          const sum = (value) => state.pools.reduce((total, pool) => total + (value(pool) ?? 0), 0);
          const parts = state.pools.map((pool) => ({
            served: mainRate(pool.consumed, pool.resource), wanted: mainRate(pool.demand, pool.resource) }));
          const wanted = parts.reduce((total, part) => total + (part.wanted ? 1 : 0), 0);
          const met = wanted ? parts.reduce((total, part) => total + (part.wanted ? Math.min(1, part.served / part.wanted) : 0), 0) / wanted : null;
          const lowest = parts.length ? Math.min(...state.pools.map(left)) : null;
          const questions = live.decisions ?? sum((pool) => pool.open_questions);
          const worst = Math.max(0, ...state.pools.map((pool) => pool.refused_share));
          replace(element, figures([
            ["Demand met", percent(met), null, state.pools.length > 1 ? "mean over pools" : null, met !== null && met < .8 ? "warn" : null],
            ["Capacity", percent(lowest), "of nominal", state.pools.length > 1 ? "lowest pool" : null, lowest !== null && lowest < .8 ? "warn" : null],
            ["Refused upstream", percent(worst), "429s", "last minute", worst > .05 ? "warn" : null],
            ["Waiting at gateways", compact(sum((pool) => pool.waiting)), "calls", null],
            ["Decisions", h("a", { href: "#/decisions" }, String(questions)), "waiting", null, questions ? "warn" : null],
            ["Open alerts", h("a", { href: "#/alerts" }, live.alerts === null ? "–" : String(live.alerts)), null, null, live.alerts ? "warn" : null],
            ["Gateways", h("a", { href: "#/gateways" }, String(state.gateways.count)), null, state.gateways.behind ? `${state.gateways.behind} behind, ${duration(state.gateways.worst_seconds)}` : "all up to date", state.gateways.behind ? "warn" : null],
          ]));
        }

        // Of the contract's capacity, in the resource that has lost most.
        function left(pool) {
          return Math.min(1, ...Object.keys(pool.nominal).map((resource) => pool.nominal[resource] ? pool.capacity[resource] / pool.nominal[resource] : 1));
        }

        class PoolCard {
          constructor(pool, until) {
            this.name = pool.pool;
            this.until = until;
            this.plot = new Plot({ title: "Capacity and use", unit: units[pool.resource], height: 180, until });
            this.chips = h("div", { class: "row" });
            this.line = h("p", { class: "quiet" });
            this.tiers = h("div", { class: "stack tight" });
            this.element = h("section", { class: "card stack", "data-pool": pool.pool, "aria-label": `Pool ${pool.pool}` },
              h("header", null, h("h2", null, h("a", { href: `#/pool/${encodeURIComponent(pool.pool)}` }, pool.pool)), this.chips),
              this.plot.element, this.tiers, this.line);
          }

          update(pool) {
            this.pool = pool;
            replace(this.chips, pool.starved ? chip(`${pool.starved} starved`, "bad") : null, stateChip(pool.state));
            const resource = pool.resource;
            const tight = tightest(pool);
            const full = tight && tight.resource !== resource && tight.part > .85 ? ` Its ${units[tight.resource].replace("/min", "")} run out first: ${percent(tight.part)} are used.` : "";
            say(this.line, `Estimate ${percent(left(pool))} of nominal, ${reasons[pool.capacity_reason] ?? pool.capacity_reason}. ${pool.waiting ? `${compact(pool.waiting)} calls wait, the oldest for ${duration(pool.oldest_seconds)}.` : "No call waits."}${full}`);
            tierMeters(this.tiers, pool);
            if (this.isSeen) this.draw();
          }

          async draw() {
            const columns = await columnsOf(this.name, 0, this.until).catch(() => null);
            if (!columns || this.until.aborted) return;
            const marked = columns.events ?? eventsAndActs(this.name);
            this.plot.draw({ at: columns.at, series: capacitySeries(columns), events: marked.filter((event) => !["starved", "recovered"].includes(event.kind)) });
          }
        }

        function listShort(element, state) {
          const rows = state.pools.flatMap((pool) => pool.short.map((tenant) => ({ ...tenant, pool: pool.pool })))
            .sort((a, b) => Number(Boolean(b.starvation)) - Number(Boolean(a.starvation)) || b.underserved_seconds - a.underserved_seconds).slice(0, 12);
          const key = JSON.stringify(rows);
          if (element.dataset.key === key) return;
          element.dataset.key = key;
          replace(element, tableCard("Short of what they are due", [
            { name: "Tenant", value: (row) => row.tenant, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.tenant) },
            ...(state.pools.length > 1 ? [{ name: "Pool", value: (row) => row.pool, kind: "name" }] : []),
            { name: "Why", value: (row) => row.starvation ?? "short", show: (row) => row.starvation ? chip(`starved: ${row.starvation}`, "bad") : chip("short", "warn") },
            { name: "For", number: true, value: (row) => row.underserved_seconds, show: (row) => duration(row.underserved_seconds) },
            { name: "Gets", number: true, value: (row) => row.consumed, show: (row) => compact(row.consumed) },
            { name: "Asks for", number: true, value: (row) => row.demand, show: (row) => compact(row.demand) },
          ], rows, "Nobody. A tenant comes here as soon as it gets less than 70 % of what it is due."));
        }

        function listEvents(element) {
          const shown = live.events.slice(-12).reverse();
          const key = String(shown[0]?.at) + shown.length;
          if (element.dataset.key === key) return;
          element.dataset.key = key;
          replace(element, card("What happened", shown.length
            ? h("ul", { class: "events" }, shown.map((event) => h("li", null, h("time", { datetime: event.at }, clock(Date.parse(event.at))),
                event.pool ? h("a", { href: `#/pool/${encodeURIComponent(event.pool)}` }, event.pool) : h("span", null, "all pools"), h("span", null, event.text))))
            : empty("Nothing since the service started.")));
        }

        // MARK: The demo

        async function compare(element, until) {
          const plot = new Plot({ title: "Critical work served", unit: "% of what came, last 10 s", height: 190, most: 100, show: (value) => value === null || value === undefined ? "–" : `${Math.round(value)}`, until });
          const title = h("h2", null, "The same minutes with Headroom, and without");
          const numbers = h("div");
          const tiers = h("div", { class: "stack tight" });
          const price = h("p");
          const note = h("p", { class: "quiet" });
          replace(element, h("section", { class: "card stack" }, h("header", null, title,
            h("span", { class: "quiet" }, "the same arrivals at the same provider; without: first come, first served")),
            numbers, h("div", { class: "wide-left" }, plot.element, tiers), price, note));
          while (!until.aborted) {
            const demo = await get("/v1/demo", { signal: until }).catch(() => null);
            if (demo && !until.aborted) drawComparison(demo, title, plot, numbers, tiers, price, note);
            await pause(2000, until);
          }
        }

        function drawComparison(demo, title, plot, numbers, tiers, price, note) {
          plot.draw({ at: demo.at, events: demo.events.map((event) => ({ ...event, at: event.at_ms })), series: [
            { name: "with Headroom", kind: "line", tone: "var(--use)", values: demo.with.critical },
            { name: "without", kind: "dash", tone: "var(--shortage)", values: demo.without.critical },
          ] });
          const [own, other] = [demo.with, demo.without];
          say(title, own.tiers.length ? `Critical work: ${percent(own.tiers[0].served_share)} served with Headroom, ${percent(other.tiers[0]?.served_share)} without` : "The same minutes with Headroom, and without");
          // The first calls are on their way still.
          const lowest = (values) => Math.min(...values.filter((value, index) => value !== null && demo.at[index] >= demo.at[0] + 10000), 100);
          const pair = (name, one, two, isBetter, unit) => h("div", { class: "figure" }, h("dt", null, name),
            h("dd", { class: isBetter ? "good" : null }, one, unit ? h("small", null, unit) : null),
            h("dd", { class: "note" }, "without: ", h("b", { class: isBetter ? "bad" : null }, two)));
          replace(numbers, h("dl", { class: "figures" },
            pair("Critical work served", percent(own.tiers[0]?.served_share), percent(other.tiers[0]?.served_share), own.tiers[0]?.served_share > other.tiers[0]?.served_share + .005),
            pair("… in its worst 10 s", percent(lowest(own.critical) / 100), percent(lowest(other.critical) / 100), lowest(own.critical) > lowest(other.critical) + .5),
            pair("429s from the provider", whole(own.refusals), whole(other.refusals), own.refusals < other.refusals),
            pair("Tenants starved", String(own.starved), String(other.starved), own.starved < other.starved),
            pair("Calls given up", whole(own.gave_up), whole(other.gave_up), own.gave_up < other.gave_up)));
          replace(tiers, h("h3", null, "Served of what came, by tier"), h("ul", { class: "legend" }, [["with Headroom", "var(--use)"], ["without", "var(--shortage)"]].map(([name, tone]) => h("li", null, h("span", { class: "key", vars: { "--tone": tone } }), name))), own.tiers.map((tier, index) => {
            const without = other.tiers[index]?.served_share ?? 0;
            const bar = (share, tone, words) => [h("div", { class: "meter", role: "img", "aria-label": `${tier.tier} ${words}: ${percent(share)} served`, vars: { "--part": `${100 * share}%`, "--tone": tone } }, h("i")), h("span", { class: "number" }, percent(share))];
            return h("div", { class: "pair" }, h("span", null, tier.tier), bar(tier.served_share, "var(--use)", "with Headroom"), h("span"), bar(without, "var(--shortage)", "without"));
          }));
          say(price, demo.price ?? "");
          // Before the drop it is only that the first calls are on their way.
          price.hidden = !demo.price || !demo.events.length;
          say(note, `${demo.seconds >= demo.planned_seconds - 1 ? "The run is over; its minutes stay in the plots. " : `${Math.round(demo.planned_seconds - demo.seconds)} s are left. `}${demo.note}`);
        }
        """#)
}

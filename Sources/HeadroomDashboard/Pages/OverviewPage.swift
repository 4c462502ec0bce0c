extension DashboardFile {
    static let overviewPage = module(
        "overview",
        #"""
        // Overview: does anyone suffer, where, and what waits for a decision.

        import { card, chip, empty, figures, h, replace, say, tableCard } from "/dashboard/elements.js";
        import { clock, compact, duration, main as mainRate, nearly, percent, reasons, units } from "/dashboard/format.js";
        import { live, onTick } from "/dashboard/live.js";
        import { onRange, Plot } from "/dashboard/plot.js";
        import { capacitySeries, columnsOf, eventsAndActs, left, sickestFirst, stateChip, tierMeters, tightest } from "/dashboard/pool.js";
        import { get, pause, query, session } from "/dashboard/service.js";
        import { showTasks } from "/dashboard/tasks.js";

        export async function show(main, argument, until) {
          const verdict = h("section", { class: "verdict" });
          const numbers = h("div");
          const versus = h("div");
          const pools = h("div", { class: "grid" });
          const short = h("div");
          const events = h("div");
          const levels = h("div");
          const tasks = h("div");
          replace(main, versus, verdict, numbers, levels, tasks, pools, h("div", { class: "halves" }, short, events));
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
            order(pools, state.pools, cards);
            listShort(short, state);
            listEvents(events);
          }, until);
          onRange(() => { for (const own of cards.values()) if (own.isSeen) own.draw(); }, until);
          if (session.current.demo) compare(versus, until);
          showLevels(levels, until);
          showTasks(tasks, null, until);
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

        // Those in trouble first; not while somebody is in one of them.
        function order(element, pools, cards) {
          const names = sickestFirst(pools).map((pool) => pool.pool);
          const key = names.join("\n");
          if (element.dataset.order === key || element.contains(document.activeElement)) return;
          element.dataset.order = key;
          for (const name of names) element.append(cards.get(name).element);
        }

        function judge(element, state) {
          const short = state.pools.flatMap((pool) => pool.short.map((tenant) => ({ ...tenant, pool: pool.pool })));
          const starved = state.pools.reduce((sum, pool) => sum + pool.starved, 0) || short.filter((tenant) => tenant.starvation).length;
          const troubled = state.pools.filter((pool) => pool.state !== "healthy");
          const tenants = state.pools.reduce((sum, pool) => sum + pool.tenants, 0);
          const crowded = state.pools.filter((pool) => mainRate(pool.asked, pool.resource) > 1.05 * mainRate(pool.capacity, pool.resource));
          let is = "good";
          let title = "Nobody is starved";
          if (starved) [is, title] = ["bad", `${starved} ${starved === 1 ? "tenant is" : "tenants are"} starved`];
          else if (state.pools.some((pool) => pool.state === "open")) [is, title] = ["bad", "A breaker is open"];
          else if (short.length) [is, title] = ["warn", `${short.length} ${short.length === 1 ? "tenant is" : "tenants are"} short of what they are due`];
          else if (troubled.length) [is, title] = ["warn", "Nobody is starved; an upstream is under pressure"];
          else if (!tenants) [is, title] = ["good", "Waiting for traffic"];
          const worst = short[0];
          const detail = worst
            ? `${worst.tenant} is furthest behind: ${compact(worst.consumed)} of ${compact(worst.asked)} it asks for, for ${duration(worst.underserved_seconds)}.`
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
            served: mainRate(pool.consumed, pool.resource), wanted: mainRate(pool.asked, pool.resource) }));
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
            { name: "Asks for", number: true, value: (row) => row.asked, show: (row) => compact(row.asked) },
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
          const parts = {
            title: h("h2", null, "The same minutes with Headroom, and without"), numbers: h("div"), tiers: h("div", { class: "stack tight" }),
            quiet: coursePlot("Work of the quiet tenants served", until), loud: coursePlot("Work of the pipeline's tenant served", until),
            events: h("ul", { class: "legend" }), told: h("div", { class: "stack tight" }), note: h("p", { class: "quiet" }),
          };
          replace(element, h("section", { class: "card stack" }, h("header", null, parts.title,
            h("span", { class: "quiet" }, "the same tasks at the same provider; without: a shared bucket, and clients that retry")),
            parts.tiers, parts.numbers, h("div", { class: "halves" }, parts.quiet.element, parts.loud.element), parts.events, parts.told, parts.note));
          while (!until.aborted) {
            const demo = await get("/v1/demo", { signal: until }).catch(() => null);
            if (demo && !until.aborted) drawComparison(demo, parts);
            await pause(2000, until);
          }
        }

        function coursePlot(title, until) { return new Plot({ title, unit: "a minute, by ten seconds", height: 170, until }); }

        function drawComparison(demo, parts) {
          say(parts.title, demo.headline);
          const events = (demo.events ?? []).map((event) => ({ ...event, at: event.at_ms }));
          for (const [name, plot] of [["quiet", parts.quiet], ["loud", parts.loud]]) {
            // The run and only the run.
            if (demo.from_ms) plot.own = { from: demo.from_ms, to: demo.to_ms };
            plot.draw({ at: demo.at ?? [], events, series: [
              { name: `${demo.resource} with Headroom`, kind: "line", tone: "var(--use)", values: demo[`${name}_with`] ?? [] },
              { name: "without", kind: "dash", tone: "var(--shortage)", values: demo[`${name}_without`] ?? [] },
            ] });
          }
          replace(parts.events, events.map((event) => h("li", null, h("time", { datetime: new Date(event.at).toISOString() }, clock(event.at)), event.text)));
          drawTasks(demo, parts.tiers);
          replace(parts.numbers, h("dl", { class: "figures" }, demo.figures.map((figure) => h("div", { class: "figure" }, h("dt", null, figure.name),
            h("dd", { class: figure.better ? "good" : null }, figure.with),
            h("dd", { class: "note" }, "without: ", h("b", { class: figure.better ? "bad" : null }, figure.without))))));
          replace(parts.told, demo.told.length ? [h("h3", null, `${demo.loud} is told why it waits`), demo.told.map((sentence) => h("p", null, sentence))] : null);
          say(parts.note, `${demo.seconds >= demo.planned_seconds - 1 ? "The run is over; its minutes stay in the plots. " : `${Math.round(demo.planned_seconds - demo.seconds)} s are left. `}${demo.note}`);
        }

        // How long a task takes, by tier: a bar for each side, on one scale.
        function drawTasks(demo, element) {
          const groups = [...demo.with.tiers, demo.with.quiet];
          const others = [...demo.without.tiers, demo.without.quiet];
          if (!demo.with.quiet.tasks) {
            replace(element, h("p", { class: "quiet" }, "The first tasks are on their way."));
            return;
          }
          const longest = Math.max(1, ...[...groups, ...others].map((group) => group.tasks?.median_seconds ?? 0));
          const bar = (group, tone, words) => [
            h("div", { class: "meter", role: "img", "aria-label": `${group.name} ${words}: ${group.tasks.median}, undisturbed ${group.tasks.undisturbed}`,
              vars: { "--part": `${100 * group.tasks.median_seconds / longest}%`, "--mark": `${100 * group.tasks.undisturbed_median_seconds / longest}%`, "--tone": tone } }, h("i"), h("b")),
            h("span", { class: "number" }, group.tasks.median)];
          replace(element, h("h3", null, "An agent's task takes, by tier of the quiet tenants"),
            h("ul", { class: "legend" }, [["with Headroom", "var(--use)"], ["without", "var(--shortage)"]].map(([name, tone]) => h("li", null, h("span", { class: "key", vars: { "--tone": tone } }), name)),
              h("li", null, `the line: undisturbed, ${demo.with.quiet.tasks.undisturbed}`)),
            groups.map((group, index) => group.tasks && others[index]?.tasks ? h("div", { class: "pair" }, h("span", null, index === groups.length - 1 ? "all quiet" : group.name),
              bar(group, "var(--use)", "with Headroom"), h("span"), bar(others[index], "var(--shortage)", "without")) : null));
        }
        """#)
}

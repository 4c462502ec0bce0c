extension DashboardFile {
    static let costsPage = module(
        "costs",
        #"""
        // Costs: the month so far and where it goes, by tenant, model, kind of task; and what it will come to.

        import { bars, card, chip, empty, figures, h, replace, tableCard } from "/dashboard/elements.js";
        import { compact, money, percent, whole } from "/dashboard/format.js";
        import { get, query } from "/dashboard/service.js";

        const day = 86400000;
        const dimensions = [["tenant", "Tenant"], ["model", "Model"], ["task_kind", "Kind of task"], ["pool", "Pool"], ["criticality", "Urgency"]];

        export async function show(main, argument, until) {
          const now = Date.now();
          const month = (back) => Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() - back, 1);
          const months = [0, 1, 2].map((back) => [String(back), new Date(month(back)).toLocaleDateString("en-GB", { month: "long", year: "numeric", timeZone: "UTC" })]);
          const which = h("select", { "aria-label": "Month", onchange: () => load() }, months.map(([value, text]) => h("option", { value }, text)));
          const tabs = h("div", { class: "row", role: "group", "aria-label": "By" });
          const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search", autocomplete: "off" });
          const [numbers, days, shares, list] = [h("div"), h("div"), h("div"), h("div")];
          let by = "tenant";
          let lines = [];
          let asked = 0;
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Costs"), h("p", null, "Use times the prices of contracts and pools, in whole hours of UTC.")), h("div", null, which)),
            numbers, days, h("div", { class: "head" }, tabs, h("div", null, search)), shares, list);
          search.addEventListener("input", () => drawLines());

          const span = () => {
            const back = Number(which.value);
            return { from: month(back), to: back === 0 ? now : month(back - 1), end: month(back - 1) };
          };
          const costs = (dimension, from, to) => get("/v1/costs" + query({ by: dimension, from, to }), { signal: until });

          async function load() {
            asked += 1;
            const mine = asked;
            const { from, to, end } = span();
            const [whole, week] = await Promise.all([costs("pool", from, to), costs("pool", Math.max(from, to - 7 * day), to)]);
            if (mine !== asked || until.aborted) return;
            sum(numbers, whole, week, { from, to, end });
            await Promise.all([choose(by, mine), perDay(mine, from, to)]);
          }

          async function choose(dimension, mine = asked) {
            by = dimension;
            const { from, to } = span();
            try {
              const answer = await costs(by, from, to);
              if (mine !== asked || until.aborted || by !== dimension) return;
              lines = answer.costs;
            } catch (error) {
              if (mine !== asked || until.aborted) return;
              lines = [];
              replace(list, card(null, empty(error.message)));
              replace(shares);
              drawTabs();
              return;
            }
            drawTabs();
            drawLines();
          }

          function drawTabs() {
            replace(tabs, dimensions.map(([value, text]) => h("button", { type: "button", class: value === by ? "chosen-one" : null, "aria-pressed": String(value === by), onclick: () => choose(value) }, text)));
          }

          function drawLines() {
            const wanted = search.value.trim().toLowerCase();
            const found = lines.filter((line) => line.key.toLowerCase().includes(wanted));
            const priced = found.filter((line) => line.currency);
            const name = dimensions.find(([value]) => value === by)[1];
            const link = (line) => by === "tenant" ? h("a", { href: `#/tenant/${encodeURIComponent(line.key)}` }, line.key)
              : by === "pool" ? h("a", { href: `#/pool/${encodeURIComponent(line.key)}` }, line.key) : line.key.replaceAll("_", " ") || "not said";
            const amount = (line) => priced.length ? line.cost_micros ?? 0 : tokens(line);
            const ranked = [...found].sort((a, b) => amount(b) - amount(a));
            const total = ranked.reduce((all, line) => all + amount(line), 0);
            const top = ranked.slice(0, 10);
            const rest = ranked.slice(10);
            replace(shares, ranked.length ? card(`Where ${priced.length ? "the money" : "the tokens"} went`, h("div", { class: "grid" },
              [...top.map((line) => share(link(line), amount(line), line.currency)), ...(rest.length ? [share(`${whole(rest.length)} others`, rest.reduce((all, line) => all + amount(line), 0), rest[0].currency, true)] : [])])) : null);
            function share(title, value, currency, isRest) {
              const part = total ? value / total : 0;
              return h("div", { class: "share" }, h("span", { class: "clip" }, title), h("span", { class: "number" }, `${priced.length ? money(value) : compact(value)} · ${percent(part)}`),
                h("div", { class: "meter", role: "img", "aria-label": percent(part), vars: { "--part": `${100 * part}%`, "--tone": isRest ? "var(--rest)" : "var(--use)" } }, h("i")));
            }
            replace(list, tableCard(`${whole(found.length)} ${found.length === 1 ? "line" : "lines"} by ${name.toLowerCase()}`, [
              { name, value: (line) => line.key, kind: "name", show: link },
              { name: "Cost", number: true, value: (line) => line.cost_micros === null ? "" : line.cost_micros / 1e6, show: (line) => line.currency ? money(line.cost_micros) : chip("no price", "warn") },
              { name: "Currency", value: (line) => line.currency ?? "" },
              { name: "Share", number: true, value: (line) => total ? amount(line) / total : 0, show: (line) => percent(total ? amount(line) / total : 0) },
              { name: "Requests", number: true, value: (line) => line.requests, show: (line) => whole(line.requests) },
              { name: "Input tokens", number: true, value: (line) => line.input_tokens, show: (line) => compact(line.input_tokens) },
              { name: "of them cached", number: true, value: (line) => line.cached_input_tokens, show: (line) => compact(line.cached_input_tokens) },
              { name: "Output tokens", number: true, value: (line) => line.output_tokens, show: (line) => compact(line.output_tokens) },
            ], ranked, wanted ? "Nothing has this in its name." : "Nothing was used in this month."));
          }

          const known = new Map();

          // One answer a day, the newest first; days that have passed do not change.
          async function perDay(mine, from, to) {
            const starts = [];
            for (let at = from; at < to; at += day) starts.push(at);
            for (const start of starts.toReversed()) {
              if (mine !== asked || until.aborted) return;
              if (!known.has(start) || start + day > now) known.set(start, await costs("pool", start, Math.min(start + day, to)));
              const drawn = starts.filter((at) => known.has(at));
              if (start === starts[0] || drawn.length % 8 === 0) drawDays(starts);
            }
          }

          function drawDays(starts) {
            const currency = [...known.values()].flatMap((answer) => answer.totals)[0]?.currency;
            const value = (answer) => currency ? answer?.totals.find((total) => total.currency === currency)?.cost_micros ?? 0 : (answer?.costs ?? []).reduce((all, line) => all + tokens(line), 0);
            replace(days, card(currency ? `Cost a day, ${currency}` : "Tokens a day (no pool has a price)", bars(starts.map((start) => ({
              name: new Date(start).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }), value: value(known.get(start)) })), (amount) => currency ? money(amount) : compact(amount))));
          }
          await load();
        }

        function tokens(line) { return line.input_tokens + line.output_tokens; }

        function sum(element, whole, week, { from, to, end }) {
          const use = whole.costs.reduce((all, line) => all + tokens(line), 0);
          const unpriced = whole.costs.filter((line) => !line.currency).reduce((all, line) => all + tokens(line), 0);
          const days = Math.max(1 / 24, Math.min(7 * day, to - from) / day);
          const isOver = to >= end;
          replace(element, figures([
            ...whole.totals.flatMap(({ currency, cost_micros: micros }) => {
              const pace = (week.totals.find((total) => total.currency === currency)?.cost_micros ?? 0) / days;
              return [[isOver ? "The month" : "Month so far", money(micros), currency],
                isOver ? null : ["Projected", money(micros + pace * (end - to) / day), currency, "the rest at the pace of the last 7 days"],
                ["A day", money(pace), currency, "mean of the last 7 days"]];
            }),
            ["Tokens", compact(use), null, whole.totals.length ? null : "no pool has a price"],
            unpriced && whole.totals.length ? ["Without a price", percent(unpriced / use), "of the tokens", "prices stand in the pool's file", "warn"] : null,
          ]));
          if (!whole.totals.length) {
            element.append(h("p", { class: "quiet below" }, "Nothing has a price yet. A pool's file in the policy directory may have ", h("code", null, "prices"), ": what a million tokens cost. Until then shares are of tokens."));
          }
        }
        """#)
}

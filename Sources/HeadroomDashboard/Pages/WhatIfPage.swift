extension DashboardFile {
    static let whatIfPage = module(
        "whatif",
        #"""
        // What if: another policy or other contracts, replayed over the last hours beside those in force. Nothing is set.

        import { card, copyText, empty, figures, h, replace, tableCard } from "/dashboard/elements.js";
        import { compact, duration, main as mainRate, moment, percent, units, whole } from "/dashboard/format.js";
        import { field, problem, select } from "/dashboard/forms.js";
        import { Plot } from "/dashboard/plot.js";
        import { get, may, post, query } from "/dashboard/service.js";

        export async function show(main, argument, until) {
          const isPolicy = may("sre", "admin");
          const original = isPolicy ? (await get("/v1/policy/files", { signal: until })).files : {};
          if (until.aborted) return;
          const edited = { ...original };
          const paths = Object.keys(original).sort((a, b) => Number(a.includes("/")) - Number(b.includes("/")) || (a < b ? -1 : 1));
          const file = select("file", paths.map((path) => [path, path]), paths[0]);
          const text = h("textarea", { class: "mono tall", spellcheck: "false", "aria-label": "The file's text", rows: "18" });
          const changed = h("p", { class: "quiet" });
          const open = () => { text.value = edited[file.value] ?? ""; mark(); };
          const mark = () => {
            const others = paths.filter((path) => edited[path] !== original[path]);
            replace(changed, others.length ? `Changed: ${others.join(", ")}.` : "As in force.");
          };
          text.addEventListener("input", () => { edited[file.value] = text.value; mark(); });
          file.addEventListener("change", open);
          const copy = h("button", { type: "button", onclick: () => copyText(text.value, copy) }, "Copy the file");
          const undo = h("button", { type: "button", class: "plain", onclick: () => { edited[file.value] = original[file.value]; open(); } }, "As it was");

          const contracts = h("textarea", { class: "mono", spellcheck: "false", rows: "8", "aria-label": "Contracts as JSON" });
          const tenant = h("input", { name: "tenant", placeholder: "A tenant's name", autocomplete: "off", "aria-label": "Tenant" });
          const fetched = h("div");
          const fetchOne = h("button", { type: "button", onclick: async () => {
            replace(fetched);
            const name = tenant.value.trim();
            try {
              const { tenants: [found] } = await get("/v1/tenants" + query({ tenant: name, limit: 1 }), { signal: until });
              if (!found) throw new Error(`Nobody has heard of ${name || "a tenant without a name"}.`);
              const list = contracts.value.trim() ? JSON.parse(contracts.value) : [];
              list.push({ tenant: name, ...(found.contract ?? { tier: found.pools[0]?.tier ?? "standard", pools: found.pools.map((own) => ({ pool: own.pool, floor: {} })) }) });
              contracts.value = JSON.stringify(list, null, 2);
            } catch (error) { replace(fetched, problem(error)); }
          } }, "Add its contract");
          const copyContracts = h("button", { type: "button", onclick: () => copyText(contracts.value, copyContracts) }, "Copy");

          const hours = select("hours", [["0.25", "the last 15 minutes"], ["1", "the last hour"], ["3", "the last 3 hours"], ["6", "the last 6 hours"], ["12", "the last 12 hours"], ["24", "the last day"]], "1");
          hours.setAttribute("aria-label", "How far back");
          const said = h("div", { "aria-live": "polite" });
          const result = h("div", { class: "stack" });
          const run = h("button", { class: "first", type: "button", onclick: async () => {
            run.disabled = true;
            const begun = Date.now();
            const count = setInterval(() => replace(said, h("p", { class: "quiet" }, `Replaying, ${Math.round((Date.now() - begun) / 1000)} s …`)), 1000);
            try {
              const body = { hours: Number(hours.value) };
              if (paths.some((path) => edited[path] !== original[path])) body.files = edited;
              if (contracts.value.trim()) body.contracts = contracts.value;
              const outcome = await post("/v1/plan", body, { signal: until });
              clearInterval(count);
              replace(said, h("p", { class: "done", role: "status" }, `Replayed in ${duration((Date.now() - begun) / 1000)}. ${body.files || body.contracts ? "" : "Nothing was changed, so both sides are alike."}`));
              replace(result, drawn(outcome, until));
            } catch (error) {
              if (!until.aborted) replace(said, problem(error));
            }
            clearInterval(count);
            run.disabled = false;
          } }, "Replay");

          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "What if"),
            h("p", null, "Replays what was reported under other rules, and compares with the rules in force. Nothing is set."))),
            h("div", { class: "halves" },
              isPolicy ? card(["Policy", copy, undo], h("div", { class: "stack tight" }, field("File", file), text, changed))
                : card("Policy", empty("An SRE or an administrator may edit the policy here.")),
              card(["Contracts", copyContracts], h("div", { class: "stack tight" }, h("p", { class: "quiet" }, "As an import takes them. Tenants that are not named keep theirs."),
                h("div", { class: "row" }, h("div", null, tenant), fetchOne), fetched, contracts))),
            h("div", { class: "row" }, h("div", null, hours), run), said, result);
          if (isPolicy) open();
        }

        function drawn(outcome, until) {
          const resource = (row) => mainRate(row.asked, "tpm") === row.asked.tpm && row.asked.tpm !== undefined ? "tpm" : Object.keys(row.asked)[0];
          const of = (row, line) => row[line][resource(row)] ?? 0;
          const change = (row, line) => of(row, `${line}_before`) ? of(row, `${line}_after`) / of(row, `${line}_before`) - 1 : of(row, `${line}_after`) ? Infinity : 0;
          const shown = (part) => part === Infinity ? "new" : `${part > 0 ? "+" : ""}${percent(part)}`;
          const gains = outcome.tenants.filter((row) => change(row, "served") > .01).length;
          const loses = outcome.tenants.filter((row) => change(row, "served") < -.01).length;
          const minutes = outcome.stretches.filter((stretch) => stretch.by_minute);
          const tone = (part) => part < -.005 ? "bad" : part > .005 ? "good" : "";
          const pair = (row, most) => h("div", { class: "share" }, h("span", { class: "clip" }, `${row.tier}${outcome.tiers.some((other) => other.pool !== row.pool) ? ` in ${row.pool}` : ""}`),
            h("span", { class: `number ${tone(change(row, "served"))}` }, `${compact(of(row, "served_before"))} → ${compact(of(row, "served_after"))} (${shown(change(row, "served"))})`),
            h("div", { class: "meter", role: "img", "aria-label": `from ${compact(of(row, "served_before"))} to ${compact(of(row, "served_after"))}`, vars: { "--part": `${100 * of(row, "served_after") / most}%`, "--mark": `${Math.min(99.5, 100 * of(row, "served_before") / most)}%`, "--tone": change(row, "served") < -.005 ? "var(--shortage)" : "var(--c1)" } }, h("i"), h("b")));
          const most = Math.max(1, ...outcome.tiers.map((row) => Math.max(of(row, "served_before"), of(row, "served_after"))));
          const plotted = outcome.tenants.filter((row) => row.asked_series && Math.abs(change(row, "assured")) > .005).slice(0, 12);
          const begun = Date.parse(outcome.from);
          const end = Math.max(...outcome.stretches.map((stretch) => Date.parse(stretch.to)));
          return [
            figures([
              ["Served more", String(gains), "tenants", null, gains ? "good" : null], ["Served less", String(loses), "tenants", null, loses ? "bad" : null],
              ["Asked of people", String(outcome.questions.reduce((sum, one) => sum + one.change_count, 0)), "changes", null],
              ["Replayed", duration((end - begun) / 1000), null, minutes.length ? "in part by sums of minutes" : "line by line"],
            ]),
            outcome.tiers.length ? card("Served by tier", h("div", { class: "grid" }, outcome.tiers.map((row) => pair(row, most))), h("p", { class: "quiet below" }, "The mark is what it was.")) : null,
            plotted.length ? h("div", { class: "grid" }, plotted.map((row) => {
              const plot = new Plot({ title: row.tenant, unit: `${row.pool}, ${units[resource(row)]}`, height: 130, until, window: { from: begun, to: end } });
              const at = row.asked_series.map((_, index) => begun + (index + .5) * outcome.step_seconds * 1000);
              queueMicrotask(() => plot.draw({ at, events: [], series: [
                { name: "asked for", kind: "area", tone: "var(--rest)", values: row.asked_series },
                { name: "sure of, as it is", kind: "dash", tone: "var(--nominal)", values: row.assured_before_series },
                { name: "what if", kind: "line", tone: "var(--use)", values: row.assured_after_series } ] }));
              return card(null, plot.element);
            })) : card(null, empty("No tenant's rate would be another by more than half a per cent.")),
            tableCard(`${outcome.tenants.length < outcome.tenant_count ? `${outcome.tenants.length} of ` : ""}${whole(outcome.tenant_count)} tenants, those that change most first`, [
              { name: "Tenant", value: (row) => row.tenant, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.tenant) },
              { name: "Pool", value: (row) => row.pool, kind: "name" }, { name: "Tier", value: (row) => row.tier },
              { name: "Asks for", number: true, value: (row) => of(row, "asked"), show: (row) => compact(of(row, "asked")) },
              { name: "Sure of, as it is", number: true, value: (row) => of(row, "assured_before"), show: (row) => compact(of(row, "assured_before")) },
              { name: "What if", number: true, value: (row) => of(row, "assured_after"), show: (row) => compact(of(row, "assured_after")) },
              { name: "Served, as it is", number: true, value: (row) => of(row, "served_before"), show: (row) => compact(of(row, "served_before")) },
              { name: "What if", number: true, value: (row) => of(row, "served_after"), show: (row) => compact(of(row, "served_after")) },
              { name: "Change", number: true, value: (row) => change(row, "served"), show: (row) => h("span", { class: tone(change(row, "served")) }, shown(change(row, "served"))) },
            ], outcome.tenants, "Nobody called in these hours."),
            tableCard("What it would have asked people", [
              { name: "When", value: (row) => row.at, show: (row) => moment(row.at) }, { name: "Tenant", value: (row) => row.tenant, kind: "name" },
              { name: "Pool", value: (row) => row.pool ?? "all pools", kind: "name" }, { name: "Kind", value: (row) => row.kind.replaceAll("_", " ") },
              { name: "From", number: true, value: (row) => mainRate(row.from), show: (row) => compact(mainRate(row.from)) },
              { name: "To", number: true, value: (row) => mainRate(row.to), show: (row) => compact(mainRate(row.to)) },
            ], outcome.questions.flatMap((one) => one.changes.map((change) => ({ ...one, ...change }))), "Nothing: no change would have left the guardrails."),
          ];
        }
        """#)
}

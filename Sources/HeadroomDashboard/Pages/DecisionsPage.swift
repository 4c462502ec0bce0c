extension DashboardFile {
    static let decisionsPage = module(
        "decisions",
        #"""
        // Approvals and recommendations: what automation may not do by itself, and a person decides on.

        import { card, chip, empty, h, replace, tableCard } from "/dashboard/elements.js";
        import { compact, duration, moment, percent, relative } from "/dashboard/format.js";
        import { ask, endField, field, reasonField, select } from "/dashboard/forms.js";
        import { get, may, pause, post, session } from "/dashboard/service.js";
        import { effects } from "/dashboard/tenant.js";

        const kinds = {
          approvals: { yes: "approve", no: "deny", done: { approved: "approved", denied: "denied" } },
          recommendations: { yes: "apply", no: "dismiss", done: { applied: "applied", dismissed: "dismissed" } },
        };

        export async function show(main, argument, until) {
          const open = h("div", { class: "stack" });
          const past = h("div");
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Decisions"),
            h("p", null, "Changes beyond the guardrails, overrides beyond their limits, and pools that do not move by themselves."))), open, past);
          let shown = "";
          async function refresh() {
            const lists = await Promise.all(Object.keys(kinds).map((kind) => get(`/v1/${kind}`, { signal: until })));
            if (until.aborted) return;
            const all = Object.keys(kinds).flatMap((kind, index) => lists[index][kind].map((one) => ({ ...one, list: kind })));
            const now = JSON.stringify(all);
            if (now === shown) return;
            shown = now;
            const pending = all.filter((one) => one.state === "pending").sort((a, b) => (a.until < b.until ? -1 : 1));
            replace(open, pending.length ? pending.map((one) => question(one, refreshNow))
              : card(null, empty("Nothing waits for a decision. Changes inside the guardrails are made by themselves.")));
            const decided = all.filter((one) => one.state !== "pending").sort((a, b) => (moved(a) < moved(b) ? 1 : -1));
            replace(past, tableCard("Decided", [
              { name: "When", value: (row) => moved(row), show: (row) => h("span", { class: "nowrap" }, moment(moved(row))) },
              { name: "Tenant", value: (row) => row.tenant, kind: "name", show: subject },
              { name: "Pool", value: (row) => row.pool ?? "all pools", kind: "name" },
              { name: "What", value: (row) => what(row), kind: "wide" },
              { name: "Outcome", value: (row) => row.state, show: (row) => chip(row.state, ["approved", "applied"].includes(row.state) ? "good" : row.state === "expired" ? null : "bad") },
              { name: "By", value: (row) => row.decision?.author ?? "" },
              { name: "Reason", value: (row) => row.decision?.reason ?? "", kind: "wide" },
            ], decided, "Nothing has been decided yet."));
          }
          const refreshNow = async () => { window.dispatchEvent(new Event("steered")); await refresh(); };
          while (!until.aborted) {
            await refresh().catch((error) => { if (!until.aborted && !shown) replace(open, h("p", { class: "problem" }, error.message)); });
            await pause(4000, until);
          }
        }

        function moved(one) { return one.decision?.at ?? one.at; }

        function main(rates) { return rates.tpm ?? rates.itpm ?? rates.rpm; }

        // An import of contracts is about no one tenant.
        function subject(one) {
          return one.kind === "contracts" ? "all tenants" : h("a", { href: `#/tenant/${encodeURIComponent(one.tenant)}` }, one.tenant);
        }

        function what(one) {
          if (one.kind === "contracts") return "an import of contracts";
          if (one.override) return `override: ${[one.override.tier && `tier ${one.override.tier}`, one.override.weight && `weight ${one.override.weight}`].filter(Boolean).join(", ")} for ${duration(one.override.seconds)}`;
          return `${compact(main(one.from))} → ${compact(main(one.to))}`;
        }

        function question(one, done) {
          const { yes, no } = kinds[one.list];
          const isOwn = one.author === session.current.name;
          const decide = (verb, danger) => ask(`${verb[0].toUpperCase()}${verb.slice(1)}: ${one.kind === "contracts" ? what(one) : one.tenant}`, [reasonField(), endsField(one, verb)], verb[0].toUpperCase() + verb.slice(1), async (values) => {
            await post(`/v1/${one.list}/${one.id}/${verb}`, { reason: values.reason, ...(values.expires ? { expires_in_seconds: Number(values.expires) } : {}) });
            await done();
          }, { danger });
          const most = Math.max(1, ...[one, ...one.effects].map((effect) => Math.max(main(effect.from) ?? 0, main(effect.to) ?? 0)));
          const bar = (effect) => {
            const [from, to] = [main(effect.from) ?? 0, main(effect.to) ?? 0];
            return h("div", { class: "share" }, h("a", { href: `#/tenant/${encodeURIComponent(effect.tenant)}` }, effect.tenant),
              h("span", { class: `number ${to < from ? "bad" : "good"}` }, `${compact(from)} → ${compact(to)}${from ? ` (${to >= from ? "+" : ""}${percent(to / from - 1)})` : ""}`),
              h("div", { class: "meter", role: "img", "aria-label": `from ${compact(from)} to ${compact(to)}`, vars: { "--part": `${100 * to / most}%`, "--mark": `${Math.min(99.5, 100 * from / most)}%`, "--tone": to < from ? "var(--shortage)" : "var(--c1)" } }, h("i"), h("b")));
          };
          return h("section", { class: "card stack", "aria-label": `${one.kind} of ${one.tenant}` },
            h("header", null, h("h2", null, one.override ? "Override of " : one.kind === "recommendation" ? "Recommended for " : one.kind === "contracts" ? "Import of contracts of " : "Beyond a guardrail: ",
              subject(one), one.pool ? h("span", { class: "quiet" }, ` in ${one.pool}`) : h("span", { class: "quiet" }, " in all pools")),
              h("div", { class: "row" }, chip(what(one)), chip(`expires ${relative(one.until)}`))),
            h("p", null, `${one.author}: “${one.reason}”`),
            one.evidence.length ? h("ul", { class: "sentences" }, one.evidence.map((sentence) => h("li", null, sentence))) : null,
            one.override && may("success", "sre", "admin") ? preview(one) : null,
            Object.keys(one.from).length || one.effects.length ? h("div", { class: "grid" },
              [...(Object.keys(one.from).length ? [one] : []), ...one.effects.toSorted((a, b) => Math.abs((main(b.to) ?? 0) - (main(b.from) ?? 0)) - Math.abs((main(a.to) ?? 0) - (main(a.from) ?? 0))).slice(0, 11)].map(bar)) : null,
            may("sre", "admin")
              ? h("div", { class: "row" },
                  h("button", { class: "first", type: "button", disabled: isOwn, onclick: () => decide(yes) }, yes[0].toUpperCase() + yes.slice(1)),
                  h("button", { class: "danger", type: "button", disabled: isOwn, onclick: () => decide(no, true) }, no[0].toUpperCase() + no.slice(1)),
                  isOwn ? h("span", { class: "quiet" }, "You asked for it: another person decides.") : null)
              : h("p", { class: "quiet" }, "An SRE or an administrator decides."));
        }

        // What an override that waits would do to everybody, asked for once.
        function preview(one) {
          const element = h("div");
          post("/v1/overrides/preview", { tenant: one.tenant, pool: one.pool, tier: one.override.tier ?? null, weight: one.override.weight ?? null, reason: "preview", expires_in_seconds: one.override.seconds })
            .then((answer) => replace(element, effects(one.tenant, { ...answer, reasons: [] })), (error) => replace(element, h("p", { class: "quiet" }, error.message)));
          return element;
        }

        function endsField(one, verb) {
          if (one.override && verb === "approve") return h("p", { class: "quiet" }, `It holds for ${duration(one.override.seconds)}, as asked for.`);
          return field(verb === "deny" || verb === "dismiss" ? "Not asked again for" : "Holds for", select("expires", [["", "as the policy says"], ["3600", "1 hour"], ["14400", "4 hours"], ["86400", "1 day"]]));
        }
        """#)
}

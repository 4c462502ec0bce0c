extension DashboardFile {
    static let decisionsPage = module(
        "decisions",
        #"""
        // Approvals and recommendations: what automation may not do by itself, and a person decides on.

        import { card, chip, empty, h, replace, tableCard } from "/dashboard/elements.js";
        import { compact, duration, moment, percent, relative, whole } from "/dashboard/format.js";
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
              { name: "Tenant", value: subjectText, kind: "name", show: subject },
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

        // An import of contracts is about no one tenant, and what automation asks for about one or several.
        function tenantOf(one) { return one.override ? one.tenant : one.change_count === 1 ? one.changes[0].tenant : null; }

        function subjectText(one) {
          return tenantOf(one) ?? (one.change_count ? `${whole(one.change_count)} tenants` : "all tenants");
        }

        function subject(one) {
          const tenant = tenantOf(one);
          return tenant ? h("a", { href: `#/tenant/${encodeURIComponent(tenant)}` }, tenant) : subjectText(one);
        }

        function what(one) {
          if (one.kind === "contracts") return "an import of contracts";
          if (one.override) return `override: ${[one.override.tier && `tier ${one.override.tier}`, one.override.weight && `weight ${one.override.weight}`].filter(Boolean).join(", ")} for ${duration(one.override.seconds)}`;
          if (one.change_count === 1) return `${compact(main(one.changes[0].from))} → ${compact(main(one.changes[0].to))}`;
          return `${whole(one.raised)} more, ${whole(one.lowered)} less`;
        }

        function question(one, done) {
          const { yes, no } = kinds[one.list];
          const isOwn = one.author === session.current.name;
          const decide = (verb, danger) => ask(`${verb[0].toUpperCase()}${verb.slice(1)}: ${one.kind === "contracts" ? what(one) : subjectText(one)}`, [reasonField(), endsField(one, verb), tenantsField(one)], verb[0].toUpperCase() + verb.slice(1), async (values) => {
            const tenants = (values.tenants ?? "").split(/[\s,]+/).filter(Boolean);
            await post(`/v1/${one.list}/${one.id}/${verb}`, { reason: values.reason, revision: one.revision, ...(values.expires ? { expires_in_seconds: Number(values.expires) } : {}), ...(tenants.length ? { tenants } : {}) });
            await done();
          }, { danger });
          const most = Math.max(1, ...[...one.changes, ...one.effects].map((effect) => Math.max(main(effect.from) ?? 0, main(effect.to) ?? 0)));
          const bar = (effect) => {
            const [from, to] = [main(effect.from) ?? 0, main(effect.to) ?? 0];
            return h("div", { class: "share" }, h("a", { href: `#/tenant/${encodeURIComponent(effect.tenant)}` }, effect.tenant),
              h("span", { class: `number ${to < from ? "bad" : "good"}` }, `${compact(from)} → ${compact(to)}${from ? ` (${to >= from ? "+" : ""}${percent(to / from - 1)})` : ""}`),
              h("div", { class: "meter", role: "img", "aria-label": `from ${compact(from)} to ${compact(to)}`, vars: { "--part": `${100 * to / most}%`, "--mark": `${Math.min(99.5, 100 * from / most)}%`, "--tone": to < from ? "var(--shortage)" : "var(--c1)" } }, h("i"), h("b")));
          };
          // Automation's reason is the first sentence of its evidence too.
          const sentences = one.evidence.filter((sentence) => sentence !== one.reason);
          // The largest changes, and all of them on demand.
          const bars = () => {
            const listed = one.changes.slice(0, 8);
            const grid = h("div", { class: "grid" }, listed.map(bar));
            const rest = one.change_count - listed.length;
            if (rest <= 0) return grid;
            const more = h("button", { type: "button", onclick: async () => {
              more.disabled = true;
              const all = await get(`/v1/${one.list}/${one.id}`).catch(() => one);
              replace(grid, all.changes.map(bar));
              more.remove();
            } }, `${whole(rest)} more`);
            return h("div", { class: "stack tight" }, grid, h("div", { class: "row" }, more));
          };
          return h("section", { class: "card stack", "aria-label": `${one.kind} of ${subjectText(one)}` },
            h("header", null, h("h2", null, one.override ? "Override of " : one.kind === "recommendation" ? "Recommended for " : one.kind === "contracts" ? "Import of contracts of " : "Beyond a guardrail: ",
              subject(one), one.pool ? h("span", { class: "quiet" }, ` in ${one.pool}`) : h("span", { class: "quiet" }, " in all pools")),
              h("div", { class: "row" }, chip(what(one)), chip(`expires ${relative(one.until)}`))),
            h("p", null, `${one.author}: “${one.reason}”`),
            sentences.length ? h("ul", { class: "sentences" }, sentences.map((sentence) => h("li", null, sentence))) : null,
            one.override && may("success", "sre", "admin") ? preview(one) : null,
            one.changes.length ? bars() : null,
            one.effects.length ? h("div", { class: "stack tight" }, h("h3", null, "What it does to others"), h("div", { class: "grid" }, one.effects.slice(0, 8).map(bar))) : null,
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

        function tenantsField(one) {
          return one.change_count > 1 ? field("Only for these tenants (empty: all)", h("input", { name: "tenants", autocomplete: "off", placeholder: one.changes.slice(0, 2).map((change) => change.tenant).join(", ") })) : null;
        }

        function endsField(one, verb) {
          if (one.override && verb === "approve") return h("p", { class: "quiet" }, `It holds for ${duration(one.override.seconds)}, as asked for.`);
          return field(verb === "deny" || verb === "dismiss" ? "Not asked again for" : "Holds for", select("expires", [["", "as the policy says"], ["3600", "1 hour"], ["14400", "4 hours"], ["86400", "1 day"]]));
        }
        """#)
}

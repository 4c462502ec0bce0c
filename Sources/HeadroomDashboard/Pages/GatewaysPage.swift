extension DashboardFile {
    static let gatewaysPage = module(
        "gateways",
        #"""
        // Gateways: who polls, what each has in force, and what is withheld for those that vanished.

        import { chip, h, replace, tableCard } from "/dashboard/elements.js";
        import { duration, moment, rates, relative } from "/dashboard/format.js";
        import { ask } from "/dashboard/forms.js";
        import { get, may, pause, remove } from "/dashboard/service.js";

        export async function show(main, argument, until) {
          const list = h("div");
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Gateways"),
            h("p", null, "Drift is how far what a gateway has in force is behind what is published. Its part is what it may spend; the fallback is what is left of that once it has not heard from Headroom for a lease."))), list);
          async function refresh() {
            const { gateways } = await get("/v1/gateways", { signal: until });
            if (until.aborted || list.contains(document.activeElement)) return;
            replace(list, tableCard(`${gateways.length} ${gateways.length === 1 ? "gateway" : "gateways"}`, [
              { name: "Gateway", value: (row) => row.gateway, kind: "name" },
              { name: "State", value: (row) => state(row)[0], show: (row) => chip(...state(row)) },
              { name: "Drift", number: true, value: (row) => row.drift_seconds, show: (row) => row.drift_seconds === null ? "–" : row.drift_seconds === 0 ? "none" : `${duration(row.drift_seconds)}${row.drift_generations ? `, ${row.drift_generations} gen.` : ""}` },
              { name: "Applied", value: (row) => row.applied ?? "", show: (row) => h("span", { class: "mono" }, row.applied?.split(".")[1] ?? "–") },
              { name: "Sent", value: (row) => row.sent ?? "", show: (row) => h("span", { class: "mono" }, row.sent?.split(".")[1] ?? "–") },
              { name: "Last heard", value: (row) => row.last_seen, show: (row) => h("span", { class: "nowrap", title: moment(row.last_seen) }, row.last_seen ? relative(row.last_seen) : "–") },
              { name: "Part", kind: "name", value: (row) => row.parts.map((one) => `${one.pool} ${rates(one.budget)}`).join("; "), show: (row) => parts(row, (one) => one.budget) },
              { name: "Fallback", kind: "name", value: (row) => row.parts.map((one) => `${one.pool} ${rates(one.fallback)}`).join("; "), show: (row) => parts(row, (one) => one.fallback) },
              { name: "Withheld for it", kind: "wide", value: (row) => row.withheld.map((one) => `${one.pool} ${rates(one.rates)}`).join("; "), show: (row) => row.withheld.map((one) => h("div", null, `${one.pool}: ${rates(one.rates)}, until ${moment(one.until)}`)) },
              ...(may("sre", "admin") ? [{ name: "", value: () => "", show: (row) => h("button", { type: "button", "aria-label": `Say goodbye for ${row.gateway}`, onclick: () => ask(`Say goodbye for ${row.gateway}?`, [h("p", null, "It counts as gone: the others get its part at once. Do this only for a gateway that uses nothing any more.")], "Say goodbye", async () => {
                await remove(`/v1/gateways/${encodeURIComponent(row.gateway)}`);
                await refresh();
              }, { danger: true }) }, "Goodbye") }] : []),
            ], gateways, ["No gateway takes part yet. One does as soon as it polls with ", h("code", null, "applied="), " or reports; README: “Point a gateway at it”."]));
          }
          while (!until.aborted) {
            await refresh().catch((error) => { if (!until.aborted && !list.firstChild) replace(list, h("p", { class: "problem" }, error.message)); });
            await pause(3000, until);
          }
        }

        // The first few pools; the copy as CSV has all.
        function parts(row, value) {
          const few = 4;
          return h("div", null, row.parts.slice(0, few).map((one) => h("div", null, row.parts.length > 1 ? `${one.pool}: ${rates(value(one))}` : rates(value(one)))),
            row.parts.length > few ? h("div", { class: "quiet" }, `and ${row.parts.length - few} more pools`) : null);
        }

        function state(row) {
          const silent = row.last_seen ? (Date.now() - Date.parse(row.last_seen)) / 1000 : Infinity;
          if (silent > 30) return ["not heard of", "bad"];
          if ((row.drift_seconds ?? 0) > 10) return ["behind", "warn"];
          return ["up to date", "good"];
        }
        """#)
}

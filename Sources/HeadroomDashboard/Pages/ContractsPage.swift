extension DashboardFile {
    static let contractsPage = module(
        "contracts",
        #"""
        // Contracts: what tenants have bought, and the import of a CRM's export with its difference first.

        import { card, chip, h, replace, tableCard } from "/dashboard/elements.js";
        import { rates, whole } from "/dashboard/format.js";
        import { field, problem } from "/dashboard/forms.js";
        import { get, may, post, query } from "/dashboard/service.js";

        const most = 5000;

        export async function show(main, argument, until) {
          const list = h("div");
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Contracts"),
            h("p", null, "Tier, floors, ceilings and cost limits, as the CRM has them."))),
            may("admin") ? importCard(() => refresh()) : null, list);
          async function refresh() {
            const found = [];
            let after = null;
            do {
              const page = await get("/v1/tenants" + query({ after, limit: 1000 }), { signal: until });
              found.push(...page.tenants.filter((tenant) => tenant.contract).map(({ tenant, contract }) => ({ tenant, ...contract })));
              after = page.next;
            } while (after && found.length < most && !until.aborted);
            if (until.aborted) return;
            replace(list, tableCard(`${whole(found.length)}${after ? " and more" : ""} contracts`, [
              { name: "Tenant", value: (row) => row.tenant, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.tenant) },
              { name: "Tier", value: (row) => row.tier ?? "", show: (row) => row.tier ?? h("span", { class: "quiet" }, "default") },
              { name: "Note", value: (row) => row.strategic ? "strategic" : "", show: (row) => row.strategic ? chip("strategic", "good") : "" },
              { name: "Floors", kind: "wide", value: (row) => terms(row, "floor"), show: (row) => terms(row, "floor") || h("span", { class: "quiet" }, "none") },
              { name: "Ceilings", kind: "wide", value: (row) => terms(row, "ceiling"), show: (row) => terms(row, "ceiling") || h("span", { class: "quiet" }, "the tier's") },
              { name: "Cost limit", value: (row) => limit(row.cost) },
            ], found, ["No contract yet: everybody is served as the default tier. ", h("code", null, "headroom tenants import contracts.csv"), may("admin") ? " or the form above brings them." : " brings them."], { most: 1000 }));
          }
          await refresh();
        }

        function terms(contract, bound) {
          return contract.pools.filter((pool) => Object.values(pool[bound]).some((rate) => rate > 0)).map((pool) => `${pool.pool}: ${rates(pool[bound])}`).join("; ");
        }

        function limit(cost) { return cost ? `${(cost.most_micros / 1e6).toLocaleString("en-US")} ${cost.currency} a ${cost.period}` : ""; }

        // First what would change; then, by the number of those that go, that it is meant.
        function importCard(done) {
          const file = h("input", { type: "file", name: "file", accept: ".csv,.json,text/csv,application/json", required: true });
          const said = h("div");
          let bytes = null;
          const look = h("button", { class: "first", type: "button", onclick: async () => {
            replace(said);
            if (!file.files[0]) { replace(said, h("p", { class: "problem" }, "Choose the CRM's export first: CSV or JSON.")); return; }
            const type = file.files[0].name.endsWith(".json") ? "application/json" : "text/csv";
            try {
              bytes = await file.files[0].text();
              const answer = await post("/v1/tenants/import?dry_run=true", bytes, { type });
              replace(said, difference(answer), h("button", { class: "first", type: "button", onclick: async () => {
                try {
                  await post("/v1/tenants/import" + query({ confirm: answer.removed.count }), bytes, { type });
                  replace(said, h("p", { class: "done", role: "status" }, "Imported. In force at the next tick."));
                  await done();
                } catch (error) { replace(said, problem(error)); }
              } }, "Import"));
            } catch (error) { replace(said, problem(error)); }
          } }, "Show what would change");
          return card("Import", h("div", { class: "stack" }, field("CSV or JSON", file, "An import replaces all contracts. It shows first what would change."), h("div", { class: "row" }, look), said));
        }


        function difference(answer) {
          const line = (name, value, is) => {
            const first = value.first.slice(0, 20);
            return h("li", null, chip(`${whole(value.count)} ${name}`, value.count ? is : null), " ", first.join(", "), value.count > first.length ? ` and ${whole(value.count - first.length)} more` : "");
          };
          return h("ul", { class: "sentences" }, line("new", answer.added, "good"), line("changed", answer.changed, "warn"), line("removed", answer.removed, "bad"),
            h("li", null, `${whole(answer.unchanged)} stay as they are.`));
        }
        """#)
}

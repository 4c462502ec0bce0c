extension DashboardFile {
    static let tenantsPage = module(
        "tenants",
        #"""
        // All tenants: those in need first, and a search by the beginning of a name.

        import { chip, empty, h, replace, tableCard } from "/dashboard/elements.js";
        import { compact, constraints, duration, main as mainRate } from "/dashboard/format.js";
        import { live, onTick } from "/dashboard/live.js";
        import { get, pause, query } from "/dashboard/service.js";

        const most = 200;

        export async function show(main, [pool], until) {
          const search = h("input", { type: "search", placeholder: "Search by name", "aria-label": "Search tenants by name", autocomplete: "off", spellcheck: "false" });
          const pools = h("select", { "aria-label": "Pool", onchange: () => load() });
          const list = h("div");
          let names = "";
          onTick((state) => {
            const now = state.pools.map((one) => one.pool).join("\n");
            if (now === names) return;
            names = now;
            const chosen = pools.value || pool || "";
            replace(pools, h("option", { value: "" }, "All pools"), state.pools.map((one) => h("option", { value: one.pool, selected: one.pool === chosen }, one.pool)));
          }, until);
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Tenants"), h("p", null, "Those that are furthest behind come first.")),
            h("div", { class: "row" }, h("div", null, search), h("div", null, pools))), list);
          let timer;
          search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(load, 250); });
          let asked = 0;

          async function load() {
            asked += 1;
            const mine = asked;
            const wanted = search.value.trim();
            const chosen = names ? pools.value : pool;
            let found;
            if (/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/.test(wanted)) {
              // By name: the one that is called so, and those that come after it.
              const [exact, after] = await Promise.all([
                get("/v1/tenants" + query({ tenant: wanted, pool: chosen, limit: 1 }), { signal: until }),
                get("/v1/tenants" + query({ after: wanted, pool: chosen, limit: most }), { signal: until })]);
              found = [...exact.tenants, ...after.tenants.filter((tenant) => tenant.tenant.startsWith(wanted))];
            } else {
              found = (await get("/v1/tenants" + query({ order: "worst", pool: chosen, limit: most }), { signal: until })).tenants;
            }
            if (mine !== asked || until.aborted) return;
            const total = live.state?.pools.filter((one) => !chosen || one.pool === chosen).reduce((sum, one) => sum + one.tenants, 0) ?? 0;
            const rows = found.flatMap((tenant) => tenant.pools.length
              ? tenant.pools.map((own) => ({ name: tenant.tenant, contract: tenant.contract, ...own }))
              : [{ name: tenant.tenant, contract: tenant.contract, pool: null }]);
            replace(list, tableCard(wanted ? `${found.length} found` : total > found.length ? `${found.length} of ${total}` : `${found.length} tenants`, columns, rows,
              wanted ? `No tenant's name begins with “${wanted}”.`
                : ["No tenant has been heard of. A gateway names them when it reports; ", h("a", { href: "#/contracts" }, "contracts"), " can come first."]));
          }
          while (!until.aborted) {
            if (!list.contains(document.activeElement)) await load().catch((error) => { if (!until.aborted && !list.firstChild) replace(list, h("p", { class: "problem" }, error.message)); });
            await pause(5000, until);
          }
        }

        const columns = [
          { name: "Tenant", value: (row) => row.name, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.name)}` }, row.name) },
          { name: "Pool", value: (row) => row.pool ?? "", kind: "name", show: (row) => row.pool ? h("a", { href: `#/pool/${encodeURIComponent(row.pool)}` }, row.pool) : h("span", { class: "quiet" }, "not seen yet") },
          { name: "Tier", value: (row) => row.tier ?? row.contract?.tier ?? "" },
          { name: "State", value: (row) => row.starvation ?? (row.underserved_seconds >= 1 ? "short" : row.pool ? "as due" : ""), show: (row) => !row.pool ? "" : row.starvation ? chip(`starved: ${row.starvation}`, "bad") : row.underserved_seconds >= 1 ? chip(`short for ${duration(row.underserved_seconds)}`, "warn") : chip("as due", "good") },
          { name: "Gets", number: true, value: (row) => mainRate(row.consumed), show: (row) => compact(mainRate(row.consumed)) },
          { name: "Asks for", number: true, value: (row) => mainRate(row.asked), show: (row) => compact(mainRate(row.asked)) },
          { name: "Sure of", number: true, value: (row) => mainRate(row.assured), show: (row) => compact(mainRate(row.assured)) },
          { name: "Waiting", number: true, value: (row) => waiting(row), show: (row) => row.pool ? compact(waiting(row)) : "" },
          { name: "Bound by", value: (row) => row.constraint ?? "", show: (row) => h("span", { class: "quiet" }, constraints[row.constraint] ?? row.constraint ?? "") },
        ];

        function waiting(row) { return Object.values(row.queue ?? {}).reduce((sum, queue) => sum + queue.depth, 0); }
        """#)
}

extension DashboardFile {
    static let poolsPage = module(
        "pools",
        #"""
        // All pools on one screen, those in trouble first.

        import { chip, h, replace, tableCard } from "/dashboard/elements.js";
        import { compact, duration, main as mainRate, percent, units } from "/dashboard/format.js";
        import { onTick } from "/dashboard/live.js";
        import { left, sickestFirst, stateChip } from "/dashboard/pool.js";

        export async function show(main, argument, until) {
          const list = h("div");
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Pools"), h("p", null, "Those in trouble come first."))), list);
          onTick((state) => {
            if (list.contains(document.activeElement)) return;
            const count = state.pools.length;
            replace(list, tableCard(`${count} ${count === 1 ? "pool" : "pools"}`, columns, sickestFirst(state.pools),
              ["No pool has been seen yet. Pools come from the policy directory; ", h("code", null, "headroom init DIR --pool NAME"), " writes one."]));
          }, until);
        }

        const asked = (pool) => mainRate(pool.asked, pool.resource);
        const got = (pool) => mainRate(pool.consumed, pool.resource);
        const met = (pool) => asked(pool) ? Math.min(1, got(pool) / asked(pool)) : null;

        const columns = [
          { name: "Pool", value: (pool) => pool.pool, kind: "name", show: (pool) => h("a", { href: `#/pool/${encodeURIComponent(pool.pool)}` }, pool.pool) },
          { name: "State", value: (pool) => pool.state, show: (pool) => stateChip(pool.state) },
          { name: "Starved", number: true, value: (pool) => pool.starved, show: (pool) => pool.starved ? chip(String(pool.starved), "bad") : "0" },
          { name: "Capacity", number: true, value: left, show: (pool) => h("span", { class: left(pool) < .8 ? "warn" : null }, percent(left(pool))) },
          { name: "Gets", number: true, value: got, show: (pool) => compact(got(pool)) },
          { name: "Asks for", number: true, value: asked, show: (pool) => [compact(asked(pool)), " ", h("span", { class: "quiet" }, units[pool.resource])] },
          { name: "Met", number: true, value: (pool) => met(pool) ?? 1, show: (pool) => met(pool) === null ? "–" : percent(met(pool)) },
          { name: "Refused", number: true, value: (pool) => pool.refused_share, show: (pool) => percent(pool.refused_share) },
          { name: "Waiting", number: true, value: (pool) => pool.waiting, show: (pool) => pool.waiting ? `${compact(pool.waiting)}, ${duration(pool.oldest_seconds)}` : "0" },
          { name: "Tenants", number: true, value: (pool) => pool.tenants },
        ];
        """#)
}

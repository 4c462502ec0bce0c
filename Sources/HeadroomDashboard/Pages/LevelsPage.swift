extension DashboardFile {
    static let levelsPage = module(
        "levels",
        #"""
        // Service levels: what each tier and Headroom itself are held to, how far it was kept, and how fast the rest burns.

        import { card, chip, empty, h, replace, tableCard } from "/dashboard/elements.js";
        import { duration, nearly } from "/dashboard/format.js";
        import { get, pause, query } from "/dashboard/service.js";

        const windows = [["5m", "Last 5 min"], ["1h", "Last hour"], ["24h", "Last day"], ["30d", "Last 30 days"]];
        const own = { published: "Age of what is published", decision: "Age of the decision", ingest: "Lag of telemetry" };

        export async function show(main, argument, until) {
          const tiers = h("div", { class: "grid" });
          const service = h("div");
          const list = h("div");
          const tasks = h("div");
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Service levels"),
            h("p", null, "The bar is how far a level was kept; the mark is the objective. Burn 1 spends the allowed misses just in time, 10 ten times as fast."))), tiers, tasks, service, list);

          async function refresh() {
            const answer = await get("/v1/slos" + query({ limit: 500 }), { signal: until });
            if (until.aborted) return;
            replace(tiers, answer.tiers.length ? answer.tiers.map((tier) => card([tier.tier, worst(tier)],
              h("p", { class: "quiet" }, `${tier.tenants} ${tier.tenants === 1 ? "tenant" : "tenants"}; ${nearly(tier.objective)} of the time served as due${tier.longest_wait_seconds ? `, no call waits longer than ${duration(tier.longest_wait_seconds)}` : ""}.`),
              h("div", { class: "stack tight below" }, kept(tier)))) : card(null, empty("The policy has no tiers.")));
            replace(tasks, answer.task_tiers.length ? card("Agent tasks", h("div", { class: "thirds" }, answer.task_tiers.map((tier) => h("div", { class: "stack tight" },
              h("h3", null, tier.tier), h("p", { class: "quiet" }, `${tier.tenants} ${tier.tenants === 1 ? "tenant" : "tenants"}; ${nearly(tier.objective)} of the tasks end within ${duration(tier.task_seconds)}.`), kept(tier))))) : null);
            replace(service, answer.service.length ? card("Headroom's own", h("div", { class: "thirds" }, answer.service.map((level) => h("div", { class: "stack tight" },
              h("h3", null, own[level.level] ?? level.level.replaceAll("_", " ")), h("p", { class: "quiet" }, `${duration(level.age_seconds)} now, at most ${duration(level.limit_seconds)} ${nearly(level.objective)} of the time.`), kept(level))))) : null);
            replace(list, tableCard(answer.tenants.length < answer.tenant_count ? `The ${answer.tenants.length} of ${answer.tenant_count} tenants that burn fastest` : "Tenants, fastest burn first", [
              { name: "Tenant", value: (row) => row.tenant, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.tenant) },
              { name: "Pool", value: (row) => row.pool, kind: "name" },
              { name: "Tier", value: (row) => row.tier },
              { name: "Objective", number: true, value: (row) => row.objective, show: (row) => nearly(row.objective) },
              ...present(answer.tenants).map(([window, name]) => ({ name, number: true, value: (row) => row.windows[window]?.attainment ?? null, show: (row) => attained(row.windows[window], row.objective) })),
              { name: "Burn, hour", number: true, value: (row) => row.windows["1h"]?.burn ?? 0, show: (row) => burn(row.windows["1h"]?.burn) },
              { name: "Missed today", number: true, value: (row) => row.windows["24h"]?.missed_seconds ?? 0, show: (row) => row.windows["24h"]?.missed_seconds ? duration(row.windows["24h"].missed_seconds) : "–" },
              { name: "Longest wait", number: true, value: (row) => row.windows["24h"]?.longest_wait_seconds ?? 0, show: (row) => row.windows["24h"]?.longest_wait_seconds ? duration(row.windows["24h"].longest_wait_seconds) : "–" },
            ], answer.tenants, "Nobody has called yet: levels are measured from the first call on."));
          }
          while (!until.aborted) {
            if (!list.contains(document.activeElement)) await refresh().catch((error) => { if (!until.aborted && !list.firstChild) replace(list, h("p", { class: "problem" }, error.message)); });
            await pause(10000, until);
          }
        }

        function present(rows) { return windows.filter(([window]) => rows.some((row) => row.windows[window])); }

        // One bar a window, all of them on one scale: from nothing to all of the time.
        function kept(level) {
          return present([level]).map(([window, name]) => {
            const part = level.windows[window];
            const known = part.attainment !== null && part.attainment !== undefined && (part.observed_seconds ?? part.tasks) > 0;
            const scale = (value) => `${Math.max(0, Math.min(100, 100 * value))}%`;
            return h("div", { class: "share" }, h("span", null, name), h("span", { class: `number ${known && part.attainment < level.objective ? "bad" : ""}` }, known ? [nearly(part.attainment), " · burn ", burn(part.burn)] : part.tasks === 0 ? "no task ended" : "no calls yet"),
              h("div", { class: "meter", role: "img", "aria-label": known ? `${name}: ${nearly(part.attainment)} of ${nearly(level.objective)}` : `${name}: no calls yet`,
                vars: { "--part": known ? scale(part.attainment) : "0%", "--mark": `calc(${scale(level.objective)} - 2px)`, "--tone": known && part.attainment < level.objective ? "var(--shortage)" : "var(--c1)" } }, h("i"), h("b")));
          });
        }

        function worst(level) {
          const fastest = Math.max(0, ...["1h", "24h"].map((window) => level.windows[window]?.burn ?? 0));
          return fastest > 10 ? chip("burns fast", "bad") : fastest > 1 ? chip("burns", "warn") : chip("kept", "good");
        }

        function attained(window, objective) {
          if (window?.attainment === null || window?.attainment === undefined) return "–";
          return h("span", { class: window.attainment < objective ? "bad" : null }, nearly(window.attainment));
        }

        function burn(value) { return value === null || value === undefined ? "–" : h("span", { class: value > 10 ? "bad" : value > 1 ? "warn" : null }, value < 10 ? value.toFixed(1) : String(Math.round(value))); }
        """#)
}

extension DashboardFile {
    static let tasks = module(
        "tasks",
        #"""
        // How long agent tasks take, and how much of that they wait: for the overview, and for one tenant.

        import { card, chip, empty, h, replace, tableCard } from "/dashboard/elements.js";
        import { clock, duration, percent } from "/dashboard/format.js";
        import { onRange, timeline } from "/dashboard/plot.js";
        import { get, pause, query } from "/dashboard/service.js";

        const mostKinds = 12;

        // Draws into the element until it is told to end; nothing where no task was ever reported.
        export async function showTasks(element, tenant, until) {
          let hasAny = false;
          async function refresh() {
            const range = timeline.chosen ? timeline.range() : { from: Date.now() - 3600000, to: Date.now() };
            const answer = await get("/v1/task-times" + query({ tenant, from: Math.round(range.from), to: Math.round(range.to) }), { signal: until });
            if (until.aborted || element.contains(document.activeElement)) return;
            hasAny ||= answer.kinds.length > 0;
            const when = timeline.chosen ? `${clock(range.from)} to ${clock(range.to)}` : "last hour";
            if (!hasAny) replace(element);
            else if (!answer.kinds.length) replace(element, card(`Agent tasks, ${when}`, empty("None ended, and none is in progress.")));
            else replace(element, tableCard(`Agent tasks, ${when}`, columns(tenant), answer.kinds.slice(0, mostKinds), ""),
              answer.kinds.length > mostKinds ? h("p", { class: "quiet" }, `Those that waited longest; ${answer.kinds.length - mostKinds} kinds more are in `, h("code", null, "headroom tasks times"), ".") : null);
          }
          onRange(() => { refresh().catch(() => {}); }, until);
          while (!until.aborted) {
            await refresh().catch(() => {});
            await pause(10000, until);
          }
        }

        function columns(tenant) {
          const seconds = (value) => value === null ? "–" : duration(value);
          return [
            ...(tenant ? [] : [{ name: "Tenant", value: (row) => row.tenant, kind: "name", show: (row) => h("a", { href: `#/tenant/${encodeURIComponent(row.tenant)}` }, row.tenant) }]),
            { name: "Kind", value: (row) => row.task_kind ?? "", kind: "name", show: (row) => row.task_kind ?? "–" },
            { name: "Median", number: true, value: (row) => row.p50_seconds ?? 0, show: (row) => [seconds(row.p50_seconds), " ", slowness(row)] },
            { name: "Usual", number: true, value: (row) => row.usual_p50_seconds ?? 0, show: (row) => seconds(row.usual_p50_seconds) },
            { name: "95 % within", number: true, value: (row) => row.p95_seconds ?? 0, show: (row) => seconds(row.p95_seconds) },
            { name: "Waiting for quota", number: true, value: (row) => row.waited_share ?? 0, show: (row) => row.waited_share === null ? "–" : percent(row.waited_share) },
            { name: "Ended", number: true, value: (row) => row.tasks },
            { name: "In progress", number: true, value: (row) => row.running, show: (row) => row.overdue ? [String(row.running), " ", chip(`${row.overdue} late`, "warn")] : String(row.running) },
          ];
        }

        function slowness(row) {
          if (row.p50_seconds === null || !row.usual_p50_seconds) return null;
          const times = row.p50_seconds / row.usual_p50_seconds;
          return times >= 1.5 ? chip(`${times < 10 ? times.toFixed(1) : Math.round(times)} ×`, times >= 3 ? "bad" : "warn") : null;
        }
        """#)
}

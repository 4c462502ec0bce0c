extension DashboardFile {
    static let auditPage = module(
        "audit",
        #"""
        // The audit log: who did what, newest first; and whether the chain is as it was written.

        import { card, empty, h, replace, tableCard } from "/dashboard/elements.js";
        import { moment } from "/dashboard/format.js";
        import { get, query } from "/dashboard/service.js";

        // A page shows so many of the newest.
        const most = 10000;

        export async function show(main, argument, until) {
          const chain = h("div");
          const list = h("div");
          const search = h("input", { type: "search", placeholder: "Who, what, about whom", "aria-label": "Search the audit log", autocomplete: "off" });
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Audit"), h("p", null, "Everything that people and automation have set, chained by hash.")), h("div", null, search)), chain, list);
          const entries = [];
          // The log is read forwards, from where it was last verified to end.
          const { verified } = await get("/v1/audit?limit=1", { signal: until });
          let after = Math.max(0, (verified?.sequence ?? 0) - most);
          while (after !== null && !until.aborted) {
            const answer = await get("/v1/audit" + query({ after, limit: 1000 }), { signal: until });
            entries.push(...answer.entries);
            after = answer.next;
          }
          entries.splice(0, entries.length - most);
          if (until.aborted) return;
          replace(chain, !verified ? h("p", { class: "quiet" }, "The chain has not been walked yet since the start.")
            : verified.fault ? h("p", { class: "problem", role: "alert" }, `The log is not as it was written, at row ${verified.fault.sequence}: ${verified.fault.detail}`)
              : h("p", { class: "done" }, `All ${verified.sequence} rows were as they were written, ${moment(verified.at)}. The last one's hash is ${verified.hash.slice(0, 16)}…`));
          const draw = () => {
            const wanted = search.value.trim().toLowerCase();
            const rows = entries.filter((entry) => !wanted || `${entry.author} ${entry.action} ${JSON.stringify(entry.detail)}`.toLowerCase().includes(wanted)).reverse();
            replace(list, tableCard(`${rows.length} entries`, [
              { name: "When", value: (row) => row.at, show: (row) => h("span", { class: "nowrap" }, moment(row.at)) },
              { name: "Who", value: (row) => row.author, kind: "name" },
              { name: "What", value: (row) => row.action },
              { name: "Detail", kind: "wide", value: (row) => JSON.stringify(row.detail), show: (row) => h("span", { class: "mono" }, summary(row.detail)) },
              { name: "Row", number: true, value: (row) => row.sequence },
            ], rows, wanted ? "No entry has this in it." : "Nothing has been set yet."));
          };
          search.addEventListener("input", draw);
          draw();
        }

        function summary(detail) {
          return Object.entries(detail ?? {}).filter(([, value]) => value !== null && value !== "")
            .map(([name, value]) => name === "until_ms" ? `until ${moment(value)}` : `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`).join("  ");
        }
        """#)
}

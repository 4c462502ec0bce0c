extension DashboardFile {
    static let alertsPage = module(
        "alerts",
        #"""
        // Alerts: what a person should look at, since when, and what would help.

        import { card, chip, empty, h, replace, tableCard } from "/dashboard/elements.js";
        import { duration, moment, relative } from "/dashboard/format.js";
        import { ask, endField, reasonField } from "/dashboard/forms.js";
        import { get, may, pause, post, remove } from "/dashboard/service.js";

        const severities = { info: null, warning: "warn", critical: "bad" };

        export async function show(main, argument, until) {
          const open = h("div", { class: "stack" });
          const past = h("div");
          replace(main, h("div", { class: "head" }, h("div", null, h("h1", null, "Alerts"),
            h("p", null, "Each says what is wrong, since when, and what would help; it closes by itself when it is over."))), open, past);
          let shown = "";
          async function refresh() {
            const { alerts } = await get("/v1/alerts?state=all", { signal: until });
            if (until.aborted) return;
            const now = JSON.stringify(alerts);
            if (now === shown) return;
            shown = now;
            const current = alerts.filter((alert) => !alert.closed_at);
            replace(open, current.length ? current.map((alert) => alertCard(alert, refreshNow)) : card(null, empty("No alert is open.")));
            replace(past, tableCard("Closed", [
              { name: "Opened", value: (row) => row.opened_at, show: (row) => h("span", { class: "nowrap" }, moment(row.opened_at)) },
              { name: "Lasted", number: true, value: (row) => seconds(row), show: (row) => duration(seconds(row)) },
              { name: "Kind", value: (row) => row.kind.replaceAll("_", " ") },
              { name: "Pool", value: (row) => row.pool ?? "", kind: "name" },
              { name: "What", value: (row) => row.sentence, kind: "wide" },
              { name: "At its end", value: (row) => row.outcome ?? "", kind: "wide" },
              { name: "Acknowledged by", value: (row) => row.acknowledged?.author ?? "" },
            ], alerts.filter((alert) => alert.closed_at), "No alert has been closed yet."));
          }
          const refreshNow = async () => { window.dispatchEvent(new Event("steered")); await refresh(); };
          while (!until.aborted) {
            await refresh().catch((error) => { if (!until.aborted && !shown) replace(open, h("p", { class: "problem" }, error.message)); });
            await pause(4000, until);
          }
        }

        function seconds(alert) { return (Date.parse(alert.closed_at) - Date.parse(alert.opened_at)) / 1000; }

        function alertCard(alert, done) {
          const act = (verb, fields, send) => ask(`${verb}: ${alert.kind.replaceAll("_", " ")}`, fields, verb, async (values) => { await send(values); await done(); });
          const members = alert.members.slice(0, 10);
          return h("section", { class: "card stack", "aria-label": alert.sentence },
            h("header", null, h("h2", null, alert.sentence),
              h("div", { class: "row" }, chip(alert.severity, severities[alert.severity] ?? "warn"), chip(alert.kind.replaceAll("_", " ")),
                alert.acknowledged ? chip(`acknowledged by ${alert.acknowledged.author}`, "good") : null,
                alert.muted ? chip(`muted by ${alert.muted.author}, ends ${relative(alert.muted.until)}`) : null)),
            h("p", { class: "quiet" }, `Since ${moment(alert.since)} (${relative(alert.since)})`, alert.pool ? [" in ", h("a", { href: `#/pool/${encodeURIComponent(alert.pool)}` }, alert.pool)] : null),
            h("ul", { class: "sentences" }, members.filter((member) => member.sentence !== alert.sentence || member.tenant || member.recommendation).map((member) => h("li", null,
              member.sentence === alert.sentence ? null : member.sentence, " ", member.tenant ? h("a", { href: `#/tenant/${encodeURIComponent(member.tenant)}` }, "Why?") : null,
              member.recommendation ? h("div", { class: "row" }, h("span", { class: "quiet" }, member.recommendation.sentence), doIt(member.recommendation, act)) : null))),
            alert.count > members.length ? h("p", { class: "quiet" }, `and ${alert.count - members.length} more`) : null,
            may("sre", "admin") ? h("div", { class: "row" },
              alert.acknowledged ? null : h("button", { type: "button", onclick: () => act("Acknowledge", [reasonField()], (values) => post(`/v1/alerts/${alert.id}/acknowledge`, { reason: values.reason })) }, "Acknowledge"),
              h("button", { type: "button", onclick: () => act("Mute", [reasonField(), endField("3600")], (values) => post(`/v1/alerts/${alert.id}/mute`, { reason: values.reason, expires_in_seconds: Number(values.expires) })) }, "Mute")) : null);
        }

        // The call that does what is recommended, shown before it is made.
        function doIt(recommendation, act) {
          const { call } = recommendation;
          if (!call || !may(...(call.path === "/v1/overrides" ? ["success", "sre", "admin"] : ["sre", "admin"]))) return null;
          return h("button", { type: "button", onclick: () => act("Do this", [h("p", null, recommendation.sentence), h("p", { class: "mono quiet" }, `${call.method} ${call.path} ${call.body ? JSON.stringify(call.body) : ""}`)],
            () => call.method === "DELETE" ? remove(call.path) : post(call.path, call.body ?? {})) }, "Do this …");
        }
        """#)
}

extension DashboardFile {
    static let app = module(
        "app",
        #"""
        // The frame: signing in, the pages by address, the time range, the freeze.

        import { announce, h, replace, say } from "/dashboard/elements.js";
        import { duration, moment, relative, zone } from "/dashboard/format.js";
        import { ask, endField, field, form, reasonField, select } from "/dashboard/forms.js";
        import { begin, end, live, onTick } from "/dashboard/live.js";
        import { onRange, timeline } from "/dashboard/plot.js";
        import { get, may, post, remove, session } from "/dashboard/service.js";

        // Those that are `whole` ask for what no limited token gets.
        // A page is a module with `show(main, argument, until)`: it fills `main`, and lets go when `until` (an AbortSignal) ends.
        const pages = [
          { path: "", name: "Overview", load: () => import("/dashboard/overview.js") },
          { path: "pools", name: "Pools", load: () => import("/dashboard/pools.js") },
          { path: "pool", load: () => import("/dashboard/pool.js"), parent: "pools" },
          { path: "tenants", name: "Tenants", load: () => import("/dashboard/tenants.js") },
          { path: "usage", name: "Use and queues", load: () => import("/dashboard/usage.js") },
          { path: "tenant", load: () => import("/dashboard/tenant.js"), parent: "tenants" },
          { path: "levels", name: "Service levels", load: () => import("/dashboard/levels.js") },
          { path: "alerts", name: "Alerts", load: () => import("/dashboard/alerts.js"), counts: true },
          { path: "decisions", name: "Decisions", load: () => import("/dashboard/decisions.js"), counts: true },
          { path: "gateways", name: "Gateways", load: () => import("/dashboard/gateways.js"), whole: true },
          { path: "whatif", name: "What if", load: () => import("/dashboard/whatif.js"), whole: true, roles: ["success", "sre", "admin"] },
          { path: "costs", name: "Costs", load: () => import("/dashboard/costs.js") },
          { path: "contracts", name: "Contracts", load: () => import("/dashboard/contracts.js") },
          { path: "audit", name: "Audit", load: () => import("/dashboard/audit.js"), whole: true, roles: ["sre", "admin"] },
        ];

        const frame = document.getElementById("frame");
        const spans = [["300", "Last 5 min"], ["900", "Last 15 min"], ["1800", "Last 30 min"], ["10800", "Last 3 hours"], ["86400", "Last 24 hours"], ["604800", "Last 7 days"], ["2592000", "Last 30 days"]];
        let leave = new AbortController();
        let frameLife = new AbortController();

        start();

        async function start() {
          session.ended = () => { session.current = null; end(); signIn("The session has ended. Sign in again."); };
          window.addEventListener("hashchange", () => {
            if (location.hash.startsWith("#/share/")) location.reload();
            else if (session.current?.signed_in) showPage();
          });
          try {
            session.current = await get("/v1/session");
            await takeShare();
          } catch (error) {
            if (session.current) signIn(`The link does not work any more: ${error.message}`);
            else replace(frame, h("main", null, h("p", { class: "problem" }, `Headroom does not answer: ${error.message}`)));
            return;
          }
          if (session.current.signed_in) enter(); else signIn();
        }

        // A link to one tenant: its token signs in who is not, and leaves the address at once.
        async function takeShare() {
          const [, tenant, token] = location.hash.match(/^#\/share\/([^/]+)\/([^/?]+)/) ?? [];
          if (!tenant) return;
          history.replaceState(null, "", `#/tenant/${tenant}`);
          if (!session.current.signed_in) session.current = await post("/v1/session", { token });
        }

        function signIn(said) {
          leave.abort();
          const token = h("input", { name: "token", type: "password", required: true, autocomplete: "current-password" });
          replace(frame, h("main", { class: "signin", id: "main" }, h("section", { class: "card stack" },
            h("div", { class: "brand" }, h("img", { src: "/dashboard/icon.svg", alt: "" }), "Headroom"),
            h("h1", null, "Sign in"),
            said ? h("p", { class: "problem" }, said) : null,
            form([field("Token", token, "An administrator makes one with: headroom token create --name you --role viewer")],
              "Sign in", async (values) => {
                session.current = await post("/v1/session", { token: values.token.trim() });
                enter();
              }))));
          token.focus();
        }

        function enter() {
          const who = session.current;
          // Who may see some tenants only has a page for each, and no other.
          const nav = who.tenants ? h("nav", { class: "nav", "aria-label": "Tenants" }, who.tenants.map((tenant) =>
            h("a", { href: `#/tenant/${encodeURIComponent(tenant)}`, "data-path": `tenant/${tenant}` }, tenant)))
            : h("nav", { class: "nav", "aria-label": "Pages" }, pages.filter((page) => page.name && (!page.roles || may(...page.roles)) && !(page.whole && who.pools))
            .map((page) => h("a", { href: `#/${page.path}`, "data-path": page.path }, page.name,
              page.counts ? h("span", { class: "count", hidden: true }) : null)));
          const pulse = h("span", { class: "pulse" }, "connecting");
          const chosen = h("option", { value: "chosen", hidden: true });
          const range = h("select", { "aria-label": "Time range", onchange: () => {
            if (range.value === "yesterday") timeline.choose(yesterday());
            else if (range.value === "ask") { range.value = timeline.chosen ? "chosen" : String(timeline.span); askForRange(); }
            else timeline.show(Number(range.value));
          } }, spans.map(([value, text]) => h("option", { value, selected: Number(value) === timeline.span }, text)),
            h("option", { value: "yesterday" }, "Yesterday"), h("option", { value: "ask" }, "From … to …"), chosen);
          const back = h("button", { type: "button", hidden: true, onclick: () => timeline.choose(null) }, "Back to now");
          const wider = h("button", { type: "button", hidden: true, title: "Twice as much time", onclick: () => timeline.widen() }, "Wider");
          const zoneButton = h("button", { type: "button", class: "plain", title: "Which time zone times are in", onclick: () => {
            zone.set(!zone.isUTC);
            say(zoneButton, zone.isUTC ? "UTC" : "Local time");
            timeline.changed();
            showPage();
          } }, zone.isUTC ? "UTC" : "Local time");
          const freeze = may("sre", "admin")
            ? h("button", { type: "button", onclick: askForFreeze, title: "Keep all numbers as they are" }, "Freeze") : null;
          const banners = h("div", { "aria-live": "polite" });
          const main = h("main", { id: "main", tabindex: "-1" });
          replace(frame, h("div", { class: "frame" },
            h("aside", { class: "side" },
              h("a", { class: "brand", href: "#/" }, h("img", { src: "/dashboard/icon.svg", alt: "" }), "Headroom"), nav,
              h("div", { class: "who" }, who.open
                ? h("span", { class: "role", title: "There are no tokens: everybody on this machine may do everything" }, "No tokens: everybody here may do everything")
                : [h("span", null, who.name, h("span", { class: "role" }, ` · ${who.role}`)),
                  h("button", { type: "button", class: "plain", onclick: signOut }, "Sign out")])),
            h("div", null, h("div", { class: "bar" }, pulse, h("span", { class: "spring" }), back, wider, range, zoneButton, freeze), banners, main)));
          frameLife.abort();
          frameLife = new AbortController();
          const ranged = () => {
            const part = timeline.chosen;
            back.hidden = wider.hidden = !part;
            if (part) say(chosen, `${moment(part.from)} – ${moment(part.to)}`);
            range.value = part ? "chosen" : String(timeline.span);
          };
          onRange(() => { ranged(); keepRange(); }, frameLife.signal);
          takeRange();
          ranged();
          onTick((state) => {
            const ahead = Date.parse(state.at) - live.heardAt;
            timeline.ahead = Math.abs(ahead) > 4000 ? ahead : 0;
            timeline.begun = Number.isFinite(live.begun) ? live.begun : 0;
            pulse.dataset.is = live.fault ? "late" : "live";
            say(pulse, live.fault ?? `generation ${state.generation ?? "–"} · a tick every ${duration(state.period_seconds)}`);
          }, frameLife.signal);
          begin();
          if (!who.tenants) watchSteering(banners, nav);
          showPage();
        }

        async function signOut() {
          end();
          leave.abort();
          await remove("/v1/session");
          session.current = null;
          signIn();
        }

        // The range is in the address, so that a link shows what its sender saw.
        function keepRange() {
          const part = timeline.chosen;
          const [path] = location.hash.split("?");
          const words = part ? `?from=${Math.round(part.from)}&to=${Math.round(part.to)}` : timeline.span === 900 ? "" : `?last=${timeline.span}`;
          history.replaceState(null, "", (path || "#/") + words);
        }

        function takeRange() {
          const words = new URLSearchParams(location.hash.split("?")[1] ?? "");
          const [from, to, last] = ["from", "to", "last"].map((name) => Number(words.get(name)));
          const { chosen, span } = timeline;
          if (from > 0 && to > from) {
            if (from !== Math.round(chosen?.from) || to !== Math.round(chosen?.to)) timeline.chosen = { from, to };
          } else if (spans.some(([value]) => Number(value) === last)) [timeline.span, timeline.chosen] = [last, null];
          return timeline.chosen !== chosen || timeline.span !== span;
        }

        function yesterday() {
          const day = new Date(Date.now() + timeline.ahead);
          if (zone.isUTC) day.setUTCHours(0, 0, 0, 0); else day.setHours(0, 0, 0, 0);
          const before = new Date(day);
          if (zone.isUTC) before.setUTCDate(day.getUTCDate() - 1); else before.setDate(day.getDate() - 1);
          return { from: before.getTime(), to: day.getTime() };
        }

        function askForRange() {
          const { from, to } = timeline.range();
          const shift = (at) => zone.isUTC ? 0 : new Date(at).getTimezoneOffset() * 60000;
          const written = (at) => new Date(at - shift(at)).toISOString().slice(0, 16);
          const read = (text) => Date.parse(`${text}Z`) + shift(Date.parse(text));
          const input = (name, at) => h("input", { name, type: "datetime-local", required: true, value: written(at) });
          return ask("Time range", [h("p", { class: "quiet" }, `Times are in ${zone.name}. Dragging over a plot chooses a range as well.`),
            h("div", { class: "fields" }, field("From", input("from", from)), field("To", input("to", to)))], "Show", async (values) => {
            const range = { from: read(values.from), to: read(values.to) };
            if (!(range.to - range.from >= 10000)) throw new Error("The range must end after it begins.");
            timeline.choose(range);
          });
        }

        function showPage() {
          leave.abort();
          if (takeRange()) timeline.changed(); else keepRange();
          const [path = "", ...rest] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/");
          const own = session.current.tenants;
          if (own && (path !== "tenant" || !own.includes(unescaped(rest[0] ?? "")))) {
            location.hash = `#/tenant/${encodeURIComponent(own[0] ?? "")}`;
            return;
          }
          const page = pages.find((candidate) => candidate.path === path) ?? pages[0];
          leave = new AbortController();
          const until = leave.signal;
          const main = document.getElementById("main");
          const current = own ? `tenant/${unescaped(rest[0])}` : page.name ? page.path : page.parent;
          for (const link of document.querySelectorAll(".nav a")) {
            if (link.dataset.path === current) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
          }
          const argument = rest.map(unescaped);
          document.title = `${argument[0] ?? page.name ?? "Headroom"} · Headroom`;
          live.want(8);
          replace(main);
          window.scrollTo(0, 0);
          page.load().then((module) => { if (!until.aborted) return module.show(main, argument, until); })
            .then(() => { if (!until.aborted) announce(document.title); })
            .catch((error) => { if (!until.aborted && session.current) replace(main, h("p", { class: "problem", role: "alert" }, error.message)); });
        }

        function unescaped(part) { try { return decodeURIComponent(part); } catch { return part; } }

        // MARK: Freezes and what waits for people, every few seconds

        async function watchSteering(banners, nav) {
          const isHere = () => banners.isConnected;
          let shown = "";
          while (isHere()) {
            if (!session.current) return;
            try {
              const [{ freezes }, { approvals }, { recommendations }, { alerts }] = await Promise.all([
                get("/v1/freeze"), get("/v1/approvals?state=pending"), get("/v1/recommendations?state=pending"), get("/v1/alerts?state=open")]);
              const ready = live.state?.faults ?? [];
              const now = JSON.stringify([freezes, ready]);
              if (now !== shown) {
                shown = now;
                replace(banners, ready.length ? h("div", { class: "banner", "data-is": "bad", role: "alert" }, ready.join("; ")) : null,
                  freezes.map((freeze) => h("div", { class: "banner" },
                    h("span", null, `${freeze.pool ? `Pool ${freeze.pool} is` : "All pools are"} frozen${freeze.generation ? ` at generation ${freeze.generation}` : ""} by ${freeze.author}: ${freeze.reason}`),
                    h("span", { class: "spring" }), h("span", null, `ends ${relative(freeze.until)}`),
                    may("sre", "admin") ? h("button", { type: "button", onclick: async () => {
                      await remove(`/v1/freeze/${freeze.id}`);
                      shown = "";
                      window.dispatchEvent(new Event("steered"));
                    } }, "Thaw") : null)));
              }
              const counts = { decisions: approvals.length + recommendations.length, alerts: alerts.length };
              [live.decisions, live.alerts] = [counts.decisions, counts.alerts];
              for (const badge of nav.querySelectorAll(".count")) {
                const count = counts[badge.parentElement.dataset.path];
                badge.hidden = count === 0;
                say(badge, String(count));
                badge.setAttribute("aria-label", `${count} waiting`);
              }
            } catch { /* the pulse says that the service does not answer */ }
            await new Promise((done) => {
              const timer = setTimeout(finish, document.hidden ? 15000 : 4000);
              function finish() { clearTimeout(timer); window.removeEventListener("steered", finish); done(); }
              window.addEventListener("steered", finish);
            });
          }
        }

        function askForFreeze() {
          const pools = live.state?.pools.map((pool) => [pool.pool, pool.pool]) ?? [];
          return ask("Freeze", [
            h("p", { class: "quiet" }, "Numbers stay as they are until the freeze ends or somebody thaws it. Lost capacity still lowers them."),
            field("What", select("pool", [["", "All pools"], ...pools])), reasonField(), endField("3600"),
          ], "Freeze", async (values) => {
            await post("/v1/freeze", { pool: values.pool || null, reason: values.reason, expires_in_seconds: Number(values.expires) });
            window.dispatchEvent(new Event("steered"));
          });
        }
        """#)
}

extension DashboardFile {
    static let tenantPage = module(
        "tenant",
        #"""
        // One tenant: what it asks for and gets, why its number is what it is, and raising or lowering it for a while.

        import { card, chip, copyText, empty, figures, h, replace, say } from "/dashboard/elements.js";
        import { compact, constraints, duration, moment, money, percent, rates, relative, units } from "/dashboard/format.js";
        import { ask, endField, field, form, problem, reasonField, select } from "/dashboard/forms.js";
        import { live, onTick, recentTenant, storedTenant } from "/dashboard/live.js";
        import { onRange, Plot, timeline } from "/dashboard/plot.js";
        import { poolEvents } from "/dashboard/pool.js";
        import { get, may, post, query, remove, session } from "/dashboard/service.js";
        import { showTasks } from "/dashboard/tasks.js";

        export async function show(main, [name], until) {
          if (!name) { location.hash = "#/tenants"; return; }
          live.want(32);
          const isGuest = Boolean(session.current.tenants);
          const head = h("div", { class: "head" }, h("div", null, h("h1", null, name), h("p")),
            !isGuest && !session.current.open && may("success", "sre", "admin") ? h("button", { type: "button", onclick: () => shareLink(name) }, "Share this page") : null);
          const pools = h("div", { class: "stack" });
          const overrides = h("div");
          const steering = h("div");
          const costs = h("div");
          const tasks = h("div");
          replace(main, head, h("div", { class: "wide-left" }, h("div", { class: "stack" }, tasks, pools), h("div", { class: "stack" }, costs, overrides, steering)));
          showCosts(costs, name, until).catch(() => {});
          showTasks(tasks, name, until);
          const parts = new Map();
          let policy = null;
          onRange(() => { for (const part of parts.values()) part.draw(); }, until);

          async function refresh() {
            const [{ tenants: [tenant] }, { overrides: held }] = await Promise.all([
              get("/v1/tenants" + query({ tenant: name, limit: 1 }), { signal: until }),
              get("/v1/overrides" + query({ tenant: name }), { signal: until })]);
            if (until.aborted) return;
            if (!tenant) {
              replace(pools, card(null, empty("Nobody has heard of this tenant: no contract names it, and no gateway has reported it.")));
            } else {
              const contract = tenant.contract;
              say(head.querySelector("p"), contract ? `Contract: ${contract.tier ?? "default tier"}${contract.strategic ? ", strategic account" : ""}` : "No contract: it is served as the default tier");
              if (!tenant.pools.length && !pools.firstChild) replace(pools, card(null, empty("It has a contract, and has not called yet.")));
              for (const own of tenant.pools) {
                let part = parts.get(own.pool);
                if (!part) {
                  if (!parts.size) replace(pools);
                  part = new InPool(name, own.pool, until);
                  parts.set(own.pool, part);
                  pools.append(part.element);
                }
                part.update(own);
              }
            }
            listOverrides(overrides, held, refresh);
            if (!steering.firstChild && may("success", "sre", "admin")) {
              policy = (await get("/v1/policy", { signal: until })).rules;
              if (!until.aborted) replace(steering, overrideCard(name, tenant, policy, refresh));
            }
          }

          let isAsking = false;
          onTick(async () => {
            if (isAsking) return;
            isAsking = true;
            await refresh().catch((error) => { if (!until.aborted && !pools.firstChild) replace(pools, problem(error)); });
            isAsking = false;
          }, until);
        }

        class InPool {
          constructor(tenant, pool, until) {
            Object.assign(this, { tenant, pool, until, asked: null, resource: "tpm", moment: null });
            this.plot = new Plot({ title: "Asked for, sure of, served", unit: "tokens/min", height: 230, until, pick: (at) => this.explainAt(at) });
            this.waits = new Plot({ title: "Oldest waiting call", unit: "s", height: 110, until });
            this.refusals = new Plot({ title: "Denied and tried again", unit: "calls a minute", height: 110, until });
            this.waited = new Plot({ title: "Mean wait", unit: "s, calls that went through", height: 110, until });
            this.credit = new Plot({ title: "Burst credit", unit: "tokens", height: 110, until });
            this.later = h("div", { class: "pairs" }, this.waits.element, this.waited.element, this.refusals.element, this.credit.element);
            this.numbers = h("div");
            this.why = h("div", { class: "stack tight" }, h("p", { class: "quiet" }, "Asking …"));
            this.profile = h("div");
            this.status = h("div", { class: "row" });
            this.element = h("section", { class: "stack", "aria-label": `In ${pool}` },
              h("div", { class: "card stack" }, h("header", null, h("h2", null, "In ", h("a", { href: `#/pool/${encodeURIComponent(pool)}` }, pool)), this.status), this.plot.element, this.later),
              this.numbers, card(["Why this number", this.back = h("button", { type: "button", class: "plain", hidden: true, onclick: () => this.explainAt(null) }, "Back to now")],
                this.why, h("p", { class: "quiet" }, "A click into the plot asks for another moment; by keyboard: Tab to it, the arrow keys, and Space.")), this.profile);
            this.own = { at: [], asked: [], assured: [], consumed: [], ceiling: [], oldest: [], credit: [] };
            this.earlier = null;
          }

          async update(own) {
            const resource = own.asked.tpm !== undefined ? "tpm" : own.asked.itpm !== undefined ? "itpm" : "rpm";
            const at = Date.parse(live.state.at);
            const [asked, assured, consumed, ceiling] = [own.asked, own.assured, own.consumed, own.ceiling].map((value) => value?.[resource] ?? null);
            const kept = this.own;
            if (at > (kept.at.at(-1) ?? 0)) {
              kept.at.push(at);
              const oldest = Math.max(0, ...Object.values(own.queue).map((queue) => queue.oldest_seconds));
              for (const [line, value] of Object.entries({ asked, assured, consumed, ceiling, oldest, credit: own.credit })) kept[line].push(value);
              // Half an hour, as the service keeps it.
              if (kept.at.length > 900) for (const line of Object.keys(kept)) kept[line].shift();
            }
            replace(this.status, own.starvation ? chip(`starved: ${own.starvation}`, "bad") : own.underserved_seconds >= 1 ? chip(`short for ${duration(own.underserved_seconds)}`, "warn") : chip("gets what it is due", "good"),
              own.flags.map((flag) => chip(flag.replaceAll("_", " "), "warn")));
            const waiting = Object.values(own.queue).reduce((sum, queue) => sum + queue.depth, 0);
            const oldest = Math.max(...Object.values(own.queue).map((queue) => queue.oldest_seconds));
            replace(this.numbers, figures([
              ["Sure of", compact(assured), units[resource], constraints[own.constraint] ?? own.constraint],
              ["Gets", compact(consumed), null, asked ? `${percent(Math.min(1, consumed / asked))} of what it asks for` : "idle", own.starvation ? "bad" : null],
              ["Asks for", compact(asked), null, null],
              ["At most", ceiling === null ? "no limit" : compact(ceiling), null, "its ceiling"],
              ["Tier", own.tier, null, `weight ${compact(own.weight)}`],
              ["Waiting", compact(waiting), "calls", waiting ? `oldest ${duration(oldest)}` : null, oldest > 10 ? "warn" : null],
              own.floor[resource] ? ["Floor", compact(own.floor[resource]), null, "by contract"] : null,
              ["Burst credit", compact(own.credit), resource === "rpm" ? "requests" : "tokens", Object.values(own.burst).some(Boolean) ? `it pays for ${rates(own.burst)} now` : own.credit ? "saved for the middle of a task" : "none saved"],
            ]));
            this.showProfile(own.profile);
            this.resource = resource;
            await Promise.all([this.explain(own), this.draw()]);
          }

          // Ticks from before this page was open come once, where the tenant is a large one. What is older is stored, and so
          // are denials and waits, by the minute.
          async draw() {
            const range = timeline.range();
            const isStored = range.from < live.begun - 65000 && (timeline.chosen || range.to - range.from > 1800000);
            this.credit.element.hidden = isStored;
            const minutes = this.minutes(range);
            if (!isStored) {
              this.earlier ??= recentTenant(this.pool, this.tenant, this.until).catch(() => ({ at: [] }));
              const before = await this.earlier;
              if (this.until.aborted) return;
              const begin = this.own.at[0] ?? Infinity;
              const places = before.at.map((at, index) => index).filter((index) => before.at[index] < begin);
              const join = (line) => [...places.map((index) => before[line]?.[index] ?? null), ...this.own[line]];
              const at = join("at");
              const acts = this.known?.events.filter((event) => event.kind === "act") ?? [];
              const events = [...poolEvents(this.pool).filter((event) => !event.tenant || event.tenant === this.tenant), ...acts].sort((a, b) => a.at - b.at);
              this.lines({ at, events, asked: join("asked"), consumed: join("consumed"), assured: join("assured"), ceiling: join("ceiling") });
              this.waits.draw({ at, events, series: [{ name: "oldest", kind: "area", tone: "var(--c2)", values: join("oldest") }] });
              this.credit.draw({ at, events, series: [{ name: "credit", kind: "area", tone: "var(--c1)", values: join("credit") }] });
            }
            const found = await minutes;
            if (!found || this.until.aborted) return;
            this.known = found;
            const { at, events } = found;
            if (isStored) {
              this.lines(found);
              this.waits.draw({ at, events, series: [{ name: "oldest", kind: "area", tone: "var(--c2)", values: found.oldest }] });
            }
            this.refusals.draw({ at, events, series: [{ name: "denied", kind: "area", tone: "var(--shortage)", values: found.denied }, { name: "tried again", kind: "line", tone: "var(--c3)", values: found.retries }] });
            this.waited.draw({ at, events, series: [{ name: "mean wait", kind: "line", tone: "var(--c3)", values: found.waited }] });
          }

          // What is stored of a range; asked for again once a minute, as it grows.
          minutes(range) {
            const step = Math.max(60000, (range.to - range.from) / 300);
            const key = [Math.floor(range.from / step), Math.floor(range.to / step)].join("|");
            if (this.storedKey !== key) {
              this.storedKey = key;
              this.stored = storedTenant(this.pool, this.tenant, range.from, range.to, this.until).catch(() => { this.storedKey = null; return null; });
            }
            return this.stored;
          }

          lines({ at, events, asked, consumed, assured, ceiling }) {
            this.plot.draw({ at, events, series: [
              { name: "served", kind: "area", tone: "var(--use)", values: consumed },
              { name: "missing", kind: "gap", values: consumed, upper: asked.map((value, index) => value !== null && consumed[index] !== null && value > consumed[index] * 1.1 ? value : consumed[index]) },
              { name: "asked for", kind: "line", tone: "var(--shortage)", values: asked },
              { name: "sure of", kind: "line", tone: "var(--c1)", values: assured },
              ...(ceiling.some((value) => value !== null) ? [{ name: "at most", kind: "dash", tone: "var(--nominal)", values: ceiling }] : []),
            ] });
          }

          // At a moment of the axis; null: now.
          async explainAt(at) {
            this.moment = at;
            this.back.hidden = at === null;
            if (at === null) { this.asked = null; this.askedAt = 0; replace(this.why, h("p", { class: "quiet" }, "Asking …")); return; }
            try {
              const answer = await get("/v1/explain" + query({ tenant: this.tenant, pool: this.pool, at: Math.round(at) }), { signal: this.until });
              if (this.moment === at) this.tell(answer, `As it was ${moment(at)}.`);
            } catch (error) {
              if (!this.until.aborted && this.moment === at) replace(this.why, h("p", { class: "quiet" }, `${moment(at)}: ${error.message}`));
            }
          }

          tell({ sentences, generation, at }, when) {
            replace(this.why, h("ul", { class: "sentences" }, sentences.map((sentence) => h("li", null, sentence))),
              h("p", { class: "quiet" }, `${when ? `${when} ` : ""}Set by generation ${generation}, ${moment(at)}.`));
          }

          // A chain is kept for changes only: asked for when the number or what binds it is another.
          async explain(own) {
            const key = JSON.stringify([own.assured, own.constraint]);
            if (this.moment !== null || key === this.asked || !live.state.generation || !own.constraint) return;
            if (Date.now() - (this.askedAt ?? 0) < 5000) return;
            this.asked = key;
            this.askedAt = Date.now();
            try {
              const answer = await get("/v1/explain" + query({ tenant: this.tenant, pool: this.pool }), { signal: this.until });
              if (this.moment === null) this.tell(answer);
            } catch (error) {
              if (!this.until.aborted && this.moment === null) replace(this.why, h("p", { class: "quiet" }, error.message));
            }
          }

          showProfile(profile) {
            if (!profile) return;
            const key = JSON.stringify([profile.shape_class, profile.flags, profile.flows.map((flow) => flow.criticality), Math.round(profile.confidence * 20), profile.tasks]);
            if (key === this.profileKey) return;
            this.profileKey = key;
            const task = profile.tasks;
            replace(this.profile, card("How it behaves", h("ul", { class: "sentences" },
              h("li", null, `Its requests are ${profile.shape_class.replaceAll("_", " ")}. The estimate of its demand has a confidence of ${percent(profile.confidence)}.`),
              profile.burstiness.peak_minute ? h("li", null, `Its busiest minute lately was ${moment(profile.burstiness.peak_minute)}, ${compact(profile.burstiness.peak_to_mean)} times its mean.`) : null,
              h("li", null, `After a burst it returns to its base with a reliability of ${percent(profile.repayment)}.`),
              task ? h("li", null, `One task takes ${compact(task.requests)} requests and ${compact(task.tokens)} tokens on average; ${percent(task.completion)} of its tasks complete.`) : null,
              profile.flows.map((flow) => h("li", null, `${flow.criticality.replaceAll("_", " ")}: ${rates(flow.demand)} planned, usually ${rates(flow.usual_demand)}.`)),
              profile.flags.map((flag) => h("li", { class: "warn" }, `Flagged since ${moment(flag.since)} as ${flag.kind.replaceAll("_", " ")}: ${Array.isArray(flag.evidence) ? flag.evidence.join("; ") : flag.evidence}`)))));
          }
        }

        // The month so far, and the contract's limit.
        async function showCosts(element, name, until) {
          const answer = await get("/v1/costs" + query({ by: "tenant" }), { signal: until });
          const lines = answer.costs.filter((line) => line.key === name);
          if (until.aborted || !lines.length) return;
          const { tenants: [tenant] } = await get("/v1/tenants" + query({ tenant: name, limit: 1 }), { signal: until });
          const limit = tenant?.contract?.cost;
          replace(element, card("The month so far", lines.map((line) => h("div", { class: "share" },
            h("span", null, line.currency ? `${money(line.cost_micros)} ${line.currency}` : "no price"),
            h("span", { class: "quiet" }, limit && limit.currency === line.currency ? `of ${money(limit.most_micros)} a ${limit.period}` : `${compact(line.input_tokens + line.output_tokens)} tokens`),
            limit && limit.currency === line.currency && limit.period === "month" ? h("div", { class: "meter", role: "img", "aria-label": percent(line.cost_micros / limit.most_micros), vars: { "--part": `${Math.min(100, 100 * line.cost_micros / limit.most_micros)}%`, "--tone": line.cost_micros > .8 * limit.most_micros ? "var(--c2)" : "var(--use)" } }, h("i")) : null))));
        }

        // MARK: A link for the tenant's own people

        function shareLink(name) {
          const made = h("div");
          const ends = select("expires", [["86400", "1 day"], ["604800", "7 days"], ["2592000", "30 days"], ["7776000", "90 days"]], "604800");
          return ask(`Share ${name}`, [h("p", { class: "quiet" }, "Who has the link sees this tenant's page and nothing of others, until it ends, or your own token does. The audit log notes who made it."), field("Ends after", ends), made],
            "Make a link", async (values) => {
              const answer = await post(`/v1/tenants/${encodeURIComponent(name)}/share`, { expires_in_seconds: Number(values.expires) });
              const link = new URL(answer.path, location.origin).href;
              const copy = h("button", { type: "button", onclick: () => copyText(link, copy) }, "Copy the link");
              replace(made, h("div", { class: "stack tight" }, h("input", { class: "mono", readonly: true, value: link, "aria-label": "The link" }), h("div", { class: "row" }, copy),
                h("p", { class: "quiet" }, `It ends ${moment(answer.until)}. Before that `, h("code", null, `headroom token revoke ${answer.name}`), " ends it.")));
              return "It is shown this once.";
            }, { stays: true });
        }

        // MARK: Overrides

        function listOverrides(element, held, done) {
          const key = JSON.stringify(held);
          if (element.key === key) return;
          element.key = key;
          replace(element, card("Overrides in force", held.length ? held.map((one) => h("div", { class: "stack tight" },
            h("div", { class: "row" }, one.tier ? chip(`tier ${one.tier}`, "good") : null, one.weight ? chip(`weight ${compact(one.weight)}`, "good") : null, h("span", { class: "quiet" }, one.pool ?? "in all pools")),
            h("p", null, `“${one.reason}”, ${one.author}`), h("div", { class: "row" }, h("span", { class: "quiet" }, `ends ${relative(one.until)}`),
              may("sre", "admin") || (may("success") && one.author === session.current.name)
                ? h("button", { type: "button", onclick: async () => { await remove(`/v1/overrides/${one.id}`); window.dispatchEvent(new Event("steered")); await done(); } }, "End now") : null)))
            : h("p", { class: "quiet" }, "None: its contract decides.")));
        }

        function overrideCard(name, tenant, policy, done) {
          const preview = h("div", { "aria-live": "polite" });
          const pools = tenant?.pools.map((own) => [own.pool, own.pool]) ?? [];
          const body = (values) => ({
            tenant: name, pool: values.pool || null, tier: values.tier || null, weight: values.weight ? Number(values.weight) : null,
            reason: values.reason || "preview", expires_in_seconds: Number(values.expires) });
          const element = form([
            field("Tier", select("tier", [["", "as it is"], ...policy.tiers.map((tier) => [tier.name, `${tier.name} (weight ${tier.weight})`])])),
            field("Weight", h("input", { name: "weight", type: "number", min: "0.001", step: "any", placeholder: "the tier's" })),
            field("Where", select("pool", [["", "In all pools"], ...pools])), endField(), reasonField(), preview,
          ], "Set override", async (values) => {
            const answer = await post("/v1/overrides", body(values));
            window.dispatchEvent(new Event("steered"));
            await done();
            if (answer.approval) return `It waits for a second person: ${answer.reasons.join("; ")}. See Decisions.`;
            return `In force at the next tick, until ${moment(answer.until)}.${answer.warnings ? ` ${answer.warnings.join(" ")}` : ""}`;
          });
          let timer;
          let asked = 0;
          const look = () => {
            clearTimeout(timer);
            timer = setTimeout(async () => {
              asked += 1;
              const mine = asked;
              const values = Object.fromEntries(new FormData(element));
              if (!values.tier && !values.weight) { replace(preview); return; }
              try {
                const answer = await post("/v1/overrides/preview", body(values));
                if (mine === asked) replace(preview, effects(name, answer));
              } catch (error) {
                if (mine === asked) replace(preview, problem(error));
              }
            }, 300);
          };
          element.addEventListener("input", (event) => { if (event.target.name !== "reason") look(); });
          return card("Raise or lower it for a while", element);
        }

        export function effects(name, answer) {
          return h("div", { class: "stack tight" }, h("h3", null, "What it would do, with what everybody asks for now"),
            answer.reasons.length ? h("p", { class: "warn" }, `A second person would have to agree: ${answer.reasons.join("; ")}.`) : null,
            answer.pools.length ? answer.pools.map((pool) => {
              const resource = pool.resource;
              const own = pool.effects.find((effect) => effect.tenant === name);
              const others = pool.effects.filter((effect) => effect.tenant !== name);
              const line = (effect) => {
                const [from, to] = [effect.from[resource] ?? 0, effect.to[resource] ?? 0];
                return h("div", { class: "share" }, h("span", null, effect.tenant),
                  h("span", { class: `number ${to < from ? "bad" : "good"}` }, `${compact(from)} → ${compact(to)}`));
              };
              return h("div", { class: "stack tight" }, h("p", { class: "quiet" }, `${pool.pool}, ${units[resource]}`),
                own ? line(own) : h("p", null, `No change: ${pool.unmoved ?? `${name} is no member of the pool`}.`),
                others.slice(0, 6).map(line),
                others.length > 6 ? h("p", { class: "quiet" }, `and ${others.length - 6} more`) : null,
                others.length === 0 ? h("p", { class: "quiet" }, "Nobody else gets less.") : null);
            }) : h("p", { class: "quiet" }, "It has not called yet, so there is nothing to divide."));
        }
        """#)
}

extension DashboardFile {
    static let plot = module(
        "plot",
        #"""
        // Plots over time: lines, areas, stacked areas, and hatched gaps between two lines. All plots of a page share one
        // time range and one crosshair; dragging over one chooses a range.

        import { announce, copyText, csv, h, replace, say } from "/dashboard/elements.js";
        import { axisTime, clock, compact, moment } from "/dashboard/format.js";

        export const timeline = {
          // Seconds that are shown up to now, unless somebody chose a range.
          span: 900,
          chosen: null,
          // How far the service's clock is ahead of this one, in milliseconds.
          ahead: 0,
          // Nothing is known from before; a young service's plots begin here.
          begun: 0,
          at: null,
          plots: new Set(),
          listeners: new Set(),
          // What is asked for.
          range() {
            if (this.chosen) return this.chosen;
            const to = Date.now() + this.ahead;
            return { from: to - this.span * 1000, to };
          },
          // What is shown: a young service's minutes fill the plot.
          window() {
            const { from, to } = this.range();
            return this.chosen || this.span > 1800 ? { from, to } : { from: Math.min(to - 60000, Math.max(from, this.begun)), to };
          },
          // A part of what is shown: `of` is that, and the rest of it is what the part is compared with.
          choose(range) {
            this.chosen = range;
            this.changed();
          },
          // Twice as much, about the same middle, and never beyond now.
          widen() {
            const { from, to } = this.range();
            const half = to - from;
            const end = Math.min((from + to) / 2 + half, Date.now() + this.ahead);
            this.choose({ from: end - 2 * half, to: end });
          },
          show(span) {
            this.span = span;
            this.chosen = null;
            this.changed();
          },
          changed() {
            for (const plot of this.plots) plot.paint();
            for (const listener of this.listeners) listener(this.chosen);
          },
          point(at) {
            if (this.at === at) return;
            this.at = at;
            for (const plot of this.plots) plot.mark();
          },
        };

        // Calls `listener` when the range changes, until `until` (an AbortSignal) ends.
        export function onRange(listener, until) {
          timeline.listeners.add(listener);
          until.addEventListener("abort", () => timeline.listeners.delete(listener));
        }

        const margin = { left: 44, right: 8, top: 8, bottom: 20 };
        const steps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800]
          .map((seconds) => seconds * 1000);

        export class Plot {
          // title: what it shows; unit: of all values; height in pixels; most: where the axis ends, if not by the values;
          // pick: is called with the time of a click; window: of a plot that does not follow the page's time range.
          constructor({ title, unit, height = 190, most = null, show = compact, pick = null, window = null, until }) {
            Object.assign(this, { title, unit, height, most, show, pick, own: window, data: null, width: 0 });
            this.legend = h("ul", { class: "legend" });
            this.moment = h("span", { class: "moment" });
            const copy = h("button", { type: "button", class: "plain copy", title: "Copy these numbers as CSV", "aria-label": `Copy as CSV: ${title}`, onclick: () => copyText(this.csv(), copy) }, "CSV");
            this.svg = h("svg", { "aria-hidden": "true", height, focusable: "false" });
            this.canvas = h("div", {
              class: "canvas", tabindex: "0", role: "img", "aria-label": title,
              onpointermove: (event) => this.moved(event), onpointerleave: () => { if (!this.drag) timeline.point(null); },
              onpointerdown: (event) => this.pressed(event), onpointerup: (event) => this.released(event),
              onpointercancel: () => { this.drag = null; this.mark(); },
              ondblclick: () => timeline.choose(null), onkeydown: (event) => this.typed(event),
              onblur: () => timeline.point(null),
            }, this.svg);
            this.element = h("figure", { class: "plot" },
              h("figcaption", null, h("h3", null, title), unit ? h("span", { class: "quiet" }, unit) : null, this.moment, copy),
              this.canvas, this.legend);
            this.observer = new ResizeObserver((entries) => {
              const width = Math.round(entries[0].contentRect.width);
              if (width !== this.width) { this.width = width; this.paint(); }
            });
            this.observer.observe(this.canvas);
            timeline.plots.add(this);
            until?.addEventListener("abort", () => this.remove());
          }

          remove() {
            this.observer.disconnect();
            timeline.plots.delete(this);
          }

          // data: { at: [ms], series: [{ name, values, kind, tone, href? }], events: [{ at, kind, text }] }
          //   kind: "line", "dash", "thin", "area", "stack" (on those before it), "gap" (hatched, from `values` up to `upper`).
          draw(data) {
            this.data = data;
            this.paint();
          }

          // What is shown, a line a moment.
          csv() {
            const { at, series } = this.data ?? { at: [], series: [] };
            const rows = Array.from({ length: Math.max(0, this.last - this.first + 1) }, (_, place) => this.first + place);
            return csv([{ name: "at", value: (index) => new Date(at[index]).toISOString() },
              ...series.map((one) => ({ name: one.name, value: (index) => (one.kind === "gap" ? one.upper[index] - one.values[index] : one.values[index]) ?? null }))], rows);
          }

          paint() {
            if (!this.width || !this.element.isConnected) return;
            const { from, to } = this.own ?? timeline.window();
            const data = this.data ?? { at: [], series: [], events: [] };
            const [first, last] = visible(data.at, from, to);
            this.first = first;
            this.last = last;
            const right = this.width - margin.right;
            const bottom = this.height - margin.bottom;
            const x = (at) => margin.left + (at - from) / (to - from) * (right - margin.left);
            const top = this.most ?? niceTop(highest(data.series, first, last));
            const y = (value) => bottom - value / top * (bottom - margin.top);
            this.x = x;
            this.y = y;

            const grid = [];
            for (let index = 0; index <= 4; index += 2) {
              const value = top * index / 4;
              grid.push(h("line", { class: index ? "grid-line" : "axis-line", x1: margin.left, x2: right, y1: Math.round(y(value)) + .5, y2: Math.round(y(value)) + .5 }));
              grid.push(h("text", { x: margin.left - 6, y: y(value) + 4, "text-anchor": "end" }, this.show(value)));
            }
            const wanted = (to - from) / Math.max(2, Math.floor((right - margin.left) / 96));
            const step = steps.find((candidate) => candidate >= wanted) ?? steps.at(-1);
            for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
              grid.push(h("text", { x: Math.min(Math.max(x(at), margin.left + 14), right - 14), y: this.height - 4, "text-anchor": "middle" }, axisTime(at, step)));
            }

            const marks = [];
            let base = null;
            for (const series of data.series) {
              const vars = { "--tone": series.tone ?? "var(--use)" };
              if (series.kind === "stack") {
                const upper = sum(base, series.values, first, last);
                marks.push(h("path", { class: "mark-area", vars, d: area(data.at, base, upper, first, last, x, y) }));
                base = upper;
              } else if (series.kind === "gap") {
                marks.push(h("path", { class: "mark-gap", d: area(data.at, series.values, series.upper, first, last, x, y) }));
              } else {
                if (series.kind === "area") marks.push(h("path", { class: "mark-area soft", vars, d: area(data.at, null, series.values, first, last, x, y) }));
                marks.push(h("path", { class: `mark-line ${series.kind}`, vars, d: line(data.at, series.values, first, last, x, y) }));
              }
            }
            const flags = [];
            for (const event of data.events ?? []) {
              if (event.at < from || event.at > to) continue;
              const place = Math.round(x(event.at)) + .5;
              flags.push(h("g", null, h("title", null, `${clock(event.at)} ${event.text}`),
                h("line", { class: "mark-event", "data-kind": event.kind, x1: place, x2: place, y1: margin.top, y2: bottom }),
                h("polygon", { class: "mark-event-flag", "data-kind": event.kind, points: `${place - 4},${bottom + 6} ${place + 4},${bottom + 6} ${place},${bottom}` })));
            }
            const nothing = last < first
              ? [h("text", { class: "no-data", x: (margin.left + right) / 2, y: (margin.top + bottom) / 2, "text-anchor": "middle" },
                  this.data && (data.at.length || timeline.chosen || timeline.span > 1800) ? "nothing in this range" : "waiting for the first numbers")] : [];
            this.cross = h("line", { class: "crosshair", y1: margin.top, y2: bottom, visibility: "hidden" });
            this.chosen = h("rect", { class: "chosen", y: margin.top, height: bottom - margin.top, visibility: "hidden" });
            this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
            const clip = h("svg", { x: margin.left, y: 0, width: Math.max(0, right - margin.left), height: this.height, viewBox: `${margin.left} 0 ${Math.max(1, right - margin.left)} ${this.height}`, overflow: "hidden" }, marks);
            replace(this.svg, grid, clip, flags, nothing, this.chosen, this.cross);
            this.keys(data);
            this.mark();
          }

          // The legend's entries; kept as long as the same things are shown.
          keys(data) {
            const wanted = data.series.map((series) => `${series.name}|${series.tone}|${series.kind}`).join("\n");
            if (wanted === this.known) return;
            this.known = wanted;
            this.values = [];
            replace(this.legend, data.series.map((series) => {
              const value = h("span", { class: "value" });
              this.values.push(value);
              const shape = series.kind === "gap" ? "gap" : series.kind === "dash" ? "dash" : ["line", "thin"].includes(series.kind) ? "line" : "";
              return h("li", null, h("span", { class: `key ${shape}`, vars: { "--tone": series.tone ?? "var(--use)" } }),
                series.href ? h("a", { class: "label", href: series.href }, series.name) : h("span", { class: "label" }, series.name), value);
            }));
          }

          // The crosshair, and the values there; without one the newest values.
          mark() {
            if (!this.x || !this.data) return;
            const { at, series } = this.data;
            const index = timeline.at === null ? this.last : nearest(at, timeline.at, this.first, this.last);
            const isShown = timeline.at !== null && index >= this.first && index <= this.last;
            this.cross.setAttribute("visibility", isShown ? "visible" : "hidden");
            if (isShown) {
              const place = Math.round(this.x(at[index])) + .5;
              this.cross.setAttribute("x1", place);
              this.cross.setAttribute("x2", place);
            }
            const near = isShown ? this.data.events?.findLast((event) => Math.abs(this.x(event.at) - this.x(timeline.at)) < 5) : null;
            say(this.moment, isShown ? `${moment(at[index])}${near ? ` · ${near.text}` : ""}` : "");
            series.forEach((one, place) => {
              let value = one.values[index];
              if (one.kind === "gap") value = one.upper[index] === null || value === null ? null : Math.max(0, one.upper[index] - value);
              if (this.values?.[place]) say(this.values[place], last(this) ? this.show(value) : "");
            });
            if (this.drag) {
              const [left, right] = [this.drag.from, this.drag.to].sort((a, b) => a - b);
              this.chosen.setAttribute("x", left);
              this.chosen.setAttribute("width", right - left);
            }
            this.chosen.setAttribute("visibility", this.drag ? "visible" : "hidden");
            const described = series.map((one) => `${one.name} ${this.show(one.values[this.last] ?? null)}`).join(", ");
            this.canvas.setAttribute("aria-label", `${this.title}${this.unit ? `, ${this.unit}` : ""}: ${described}. Arrow keys move along it, Enter marks a range${this.pick ? ", Space asks why" : ""}.`);
          }

          place(event) {
            const box = this.canvas.getBoundingClientRect();
            return Math.min(Math.max(event.clientX - box.left, margin.left), this.width - margin.right);
          }

          time(place) {
            const { from, to } = this.own ?? timeline.window();
            return from + (place - margin.left) / (this.width - margin.right - margin.left) * (to - from);
          }

          moved(event) {
            const place = this.place(event);
            if (this.drag) this.drag.to = place;
            const at = this.time(place);
            if (timeline.at === at) this.mark(); else timeline.point(at);
          }

          pressed(event) {
            if (event.button !== 0 || event.pointerType === "touch") return;
            this.canvas.setPointerCapture(event.pointerId);
            const place = this.place(event);
            this.drag = { from: place, to: place };
          }

          released() {
            const drag = this.drag;
            this.drag = null;
            if (!drag || Math.abs(drag.to - drag.from) < 6) {
              this.mark();
              if (drag) this.pick?.(this.time(drag.from));
              return;
            }
            this.choose(this.time(drag.from), this.time(drag.to));
          }

          choose(one, other) {
            if (this.own) return;
            timeline.choose({ from: Math.min(one, other), to: Math.max(one, other), of: timeline.window() });
            timeline.point(null);
          }

          typed(event) {
            const at = this.data?.at ?? [];
            if (!at.length || this.last < this.first) return;
            const here = timeline.at === null ? this.last : nearest(at, timeline.at, this.first, this.last);
            const stride = event.shiftKey ? 10 : 1;
            if (event.key === "ArrowLeft") timeline.point(at[Math.max(this.first, here - stride)]);
            else if (event.key === "ArrowRight") timeline.point(at[Math.min(this.last, here + stride)]);
            else if (event.key === " " && this.pick) this.pick(at[here]);
            else if (event.key === "Enter" && this.begun === undefined) this.begun = at[here];
            else if (event.key === "Enter") {
              const begun = this.begun;
              this.begun = undefined;
              if (begun !== at[here]) this.choose(begun, at[here]);
            } else if (event.key === "Escape") {
              this.begun = undefined;
              timeline.choose(null);
            } else return;
            event.preventDefault();
            const now = timeline.at === null ? this.last : nearest(at, timeline.at, this.first, this.last);
            announce(`${clock(at[now])}: ${this.data.series.map((one) => `${one.name} ${this.show(one.values[now] ?? null)}`).join(", ")}`
              + (this.begun === undefined ? "" : ". A range begins here; move and press Enter to end it."));
          }
        }

        function last(plot) { return plot.last >= plot.first; }

        // The indices of the samples in a range, and of one on either side, so that lines go to the edge.
        function visible(at, from, to) {
          let first = at.findIndex((time) => time >= from);
          if (first < 0) return [0, -1];
          let end = at.length - 1;
          while (end >= first && at[end] > to) end -= 1;
          if (end < first) return [0, -1];
          return [Math.max(0, first - 1), Math.min(at.length - 1, end + 1)];
        }

        function nearest(at, time, first, last) {
          let [low, high] = [first, last];
          while (low < high) {
            const middle = (low + high) >> 1;
            if (at[middle] < time) low = middle + 1; else high = middle;
          }
          return low > first && time - at[low - 1] < at[low] - time ? low - 1 : low;
        }

        function highest(series, first, last) {
          let top = 0;
          let base = null;
          for (const one of series) {
            if (one.kind === "stack") base = sum(base, one.values, first, last);
            const values = one.kind === "stack" ? base : one.upper ?? one.values;
            for (let index = first; index <= last; index += 1) top = Math.max(top, values[index] ?? 0);
          }
          return top;
        }

        function sum(base, values, first, last) {
          const total = [];
          for (let index = first; index <= last; index += 1) total[index] = (base?.[index] ?? 0) + (values[index] ?? 0);
          return total;
        }

        function niceTop(value) {
          if (value <= 0) return 1;
          const power = 10 ** Math.floor(Math.log10(value));
          return [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].map((factor) => factor * power).find((top) => top >= value * 1.02) ?? value * 1.1;
        }

        // Further apart than this, nothing was heard in between, and no line is drawn.
        function gapLimit(at, first, last) { return Math.max(15000, 3.5 * (at[last] - at[first]) / Math.max(1, last - first)); }

        function line(at, values, first, last, x, y) {
          let path = "";
          let isOpen = false;
          const limit = gapLimit(at, first, last);
          for (let index = first; index <= last; index += 1) {
            const value = values[index];
            if (value === null || value === undefined) { isOpen = false; continue; }
            if (isOpen && at[index] - at[index - 1] > limit) isOpen = false;
            path += `${isOpen ? "L" : "M"}${x(at[index]).toFixed(1)} ${y(value).toFixed(1)}`;
            isOpen = true;
          }
          return path;
        }

        // Between `lower` (null: the axis) and `upper`, where upper is above.
        function area(at, lower, upper, first, last, x, y) {
          let path = "";
          let run = [];
          const limit = gapLimit(at, first, last);
          const close = () => {
            if (run.length > 1) {
              const there = run.map((index) => `${x(at[index]).toFixed(1)} ${y(Math.max(upper[index], lower?.[index] ?? 0)).toFixed(1)}`);
              const back = run.toReversed().map((index) => `${x(at[index]).toFixed(1)} ${y(lower?.[index] ?? 0).toFixed(1)}`);
              path += `M${there.join("L")}L${back.join("L")}Z`;
            }
            run = [];
          };
          for (let index = first; index <= last; index += 1) {
            if (upper[index] === null || upper[index] === undefined) { close(); continue; }
            if (run.length && at[index] - at[index - 1] > limit) close();
            run.push(index);
          }
          close();
          return path;
        }
        """#)
}

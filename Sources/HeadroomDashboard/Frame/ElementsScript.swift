extension DashboardFile {
    static let elements = module(
        "elements",
        #"""
        // Elements from values. Text goes in as text nodes only: a name is never markup.

        const drawn = new Set(["svg", "g", "path", "line", "rect", "text", "title", "polygon", "clipPath", "defs"]);

        // h("p", { class: "quiet" }, "text", otherElement). A listener is `onclick`; `vars` are CSS variables, since the
        // Content-Security-Policy lets no style attribute in.
        export function h(tag, attributes, ...children) {
          const element = drawn.has(tag)
            ? document.createElementNS("http://www.w3.org/2000/svg", tag)
            : document.createElement(tag);
          for (const [name, value] of Object.entries(attributes ?? {})) {
            if (value === null || value === undefined || value === false) continue;
            if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
            else if (name === "vars") for (const key in value) element.style.setProperty(key, value[key]);
            else if (name === "value") element.value = value;
            else element.setAttribute(name, value === true ? "" : value);
          }
          fill(element, children);
          return element;
        }

        function fill(element, children) {
          for (const child of children) {
            if (Array.isArray(child)) fill(element, child);
            else if (child !== null && child !== undefined && child !== false) element.append(child);
          }
        }

        export function replace(element, ...children) {
          element.replaceChildren();
          fill(element, children);
        }

        // Sets the text only when it differs, so that nothing is laid out anew for an unchanged number.
        export function say(element, text) {
          if (element.textContent !== text) element.textContent = text;
        }

        // For screen readers.
        export function announce(text) { say(document.getElementById("said"), text); }

        export function chip(text, is) { return h("span", { class: "chip", "data-is": is }, text); }

        export function card(title, ...children) {
          const aside = Array.isArray(title) ? title.slice(1) : [];
          const heading = Array.isArray(title) ? title[0] : title;
          return h("section", { class: "card" },
            heading && h("header", null, h("h2", null, heading), aside.length ? h("div", { class: "row" }, aside) : null),
            children);
        }

        // figures([["Starved", "2", "tenants", "note"]]): the numbers that one looks for first.
        export function figures(entries) {
          return h("dl", { class: "figures" }, entries.filter(Boolean).map(([name, value, unit, note, is]) =>
            h("div", { class: "figure" }, h("dt", null, name),
              h("dd", { class: is }, value, unit ? h("small", null, unit) : null),
              note ? h("dd", { class: "note" }, note) : null)));
        }

        // bars([{ name, value }]): one column each, labelled where there is room.
        export function bars(entries, show) {
          const most = Math.max(1e-9, ...entries.map((entry) => entry.value));
          const each = Math.ceil(entries.length / 8);
          return h("ol", { class: "bars" }, entries.map((entry, index) => h("li", { title: `${entry.name}: ${show(entry.value)}`, vars: { "--height": String(entry.value / most) } },
            h("span", { class: "hidden" }, `${entry.name}: ${show(entry.value)}`), h("i", { "aria-hidden": "true" }), h("small", { "aria-hidden": "true" }, index % each === 0 ? entry.name : ""))));
        }

        export function empty(...children) { return h("p", { class: "empty" }, children); }

        // A table that can be sorted by its columns and copied as CSV.
        //   columns: { name, value(row), show(row)?, number?, kind? }
        export function table(columns, rows, options = {}) {
          let order = options.order ?? null;
          const body = h("tbody");
          const heads = columns.map((column, index) => h("th", { class: column.number ? "number" : null, scope: "col" },
            // A column of actions has no name, and nothing to sort by.
            column.name === "" ? null : h("button", { type: "button", onclick: () => {
              order = { index, down: order?.index === index ? !order.down : Boolean(column.number) };
              draw();
            } }, column.name)));
          const copy = h("button", { type: "button", class: "plain", onclick: () => copyText(csv(columns, rows), copy) }, "Copy as CSV");
          function draw() {
            let shown = rows;
            if (order) {
              const { value } = columns[order.index];
              shown = [...rows].sort((a, b) => compare(value(a), value(b)) * (order.down ? -1 : 1));
              heads.forEach((head, index) =>
                index === order.index
                  ? head.setAttribute("aria-sort", order.down ? "descending" : "ascending")
                  : head.removeAttribute("aria-sort"));
            }
            replace(body, shown.slice(0, options.most ?? 500).map((row) => h("tr", null, columns.map((column) =>
              h("td", { class: column.number ? "number" : column.kind }, column.show ? column.show(row) : text(column.value(row)))))));
          }
          draw();
          const element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": options.label ?? "Table" },
            h("table", null, h("thead", null, h("tr", null, heads)), body));
          return { element, copy, update(next) { rows = next; draw(); } };
        }

        // A card with a table in it, or with what to do where there are no rows.
        export function tableCard(title, columns, rows, nothing, options = {}) {
          if (rows.length === 0) return card(title, empty(nothing));
          const made = table(columns, rows, { label: Array.isArray(title) ? title[0] : title, ...options });
          const heading = Array.isArray(title) ? title : [title];
          return card([...heading, made.copy], made.element);
        }

        function compare(a, b) {
          if (typeof a === "number" && typeof b === "number") return a - b;
          return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
        }

        function text(value) { return value === null || value === undefined ? "" : String(value); }

        export function csv(columns, rows) {
          const cell = (value) => {
            let written = text(value);
            // A spreadsheet must not take a name for a formula.
            if (typeof value !== "number" && /^[=+@\t\r-]/.test(written)) written = "'" + written;
            return /[",\n]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
          };
          return [columns.map((column) => cell(column.name)), ...rows.map((row) => columns.map((column) => cell(column.value(row))))]
            .map((line) => line.join(",")).join("\n") + "\n";
        }

        export async function copyText(written, button) {
          const label = button.textContent;
          try {
            await navigator.clipboard.writeText(written);
            button.textContent = "Copied";
          } catch {
            // Without TLS browsers keep the clipboard for themselves; the text can still be taken by hand.
            const area = h("textarea", { readonly: true, rows: "12" });
            area.value = written;
            const dialog = h("dialog", { onclose: () => dialog.remove() }, h("h2", null, "Copy from here"),
              h("form", { method: "dialog" }, area, h("button", { class: "first" }, "Done")));
            document.body.append(dialog);
            dialog.showModal();
            area.select();
            return;
          }
          setTimeout(() => { button.textContent = label; }, 1500);
        }
        """#)
}

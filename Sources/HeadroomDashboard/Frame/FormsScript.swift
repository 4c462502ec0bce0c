extension DashboardFile {
    static let forms = module(
        "forms",
        #"""
        // What people say: each with a reason, and an end where it holds for a while.

        import { h, replace } from "/dashboard/elements.js";

        export const ends = [["900", "15 min"], ["3600", "1 hour"], ["7200", "2 hours"], ["14400", "4 hours"], ["28800", "8 hours"], ["86400", "1 day"], ["259200", "3 days"]];

        export function field(label, control, note) { return h("label", null, label, control, note ? h("small", null, note) : null); }

        export function select(name, options, chosen) {
          return h("select", { name }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
        }

        export function reasonField() {
          return field("Reason", h("input", { name: "reason", required: true, maxlength: "500", autocomplete: "off" }), "Everybody can read it, and the audit log keeps it.");
        }

        export function endField(chosen = "7200") { return field("Ends after", select("expires", ends, chosen)); }

        export function problem(error) {
          return h("div", { class: "problem", role: "alert" }, error.message,
            error.faults?.length ? h("ul", null, error.faults.map((fault) => h("li", null, fault))) : null);
        }

        // A form that sends once, says what went wrong, and gives way to `onDone`'s answer.
        export function form(fields, label, send, options = {}) {
          const said = h("div");
          const button = h("button", { class: options.danger ? "danger" : "first", type: "submit" }, label);
          const element = h("form", { onsubmit: async (event) => {
            event.preventDefault();
            button.disabled = true;
            replace(said);
            try {
              const values = Object.fromEntries(new FormData(element));
              const answer = await send(values);
              if (answer) replace(said, h("div", { class: "done", role: "status" }, answer));
            } catch (error) {
              replace(said, problem(error));
            }
            button.disabled = false;
          } }, fields, said, h("div", { class: "row" }, button, options.besides));
          return element;
        }

        // Asks in a dialog; resolves when it is closed. `stays`: it shows the answer, and a person closes it.
        export function ask(title, fields, label, send, options = {}) {
          return new Promise((done) => {
            const cancel = h("button", { type: "button", onclick: () => dialog.close() }, options.stays ? "Close" : "Cancel");
            const dialog = h("dialog", { "aria-label": title, onclose: () => { dialog.remove(); done(); } }, h("h2", null, title),
              form(fields, label, async (values) => { const answer = await send(values); if (!options.stays) dialog.close(); return answer; }, { besides: cancel, ...options }));
            document.body.append(dialog);
            dialog.showModal();
          });
        }
        """#)
}

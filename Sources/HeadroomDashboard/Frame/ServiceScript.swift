extension DashboardFile {
    static let service = module(
        "service",
        #"""
        // Calls of the service. A refusal becomes a Problem, which says what would be right.

        export class Problem extends Error {
          constructor(status, body) {
            super(body?.detail ?? `the service answered ${status}`);
            this.status = status;
            this.faults = (body?.errors ?? []).map((fault) => `${fault.path ?? `line ${fault.line}`}: ${fault.detail}`);
          }
        }

        // Set by the frame: what to do when the session has ended.
        export const session = { current: null, ended: () => {} };

        async function call(method, path, body, options = {}) {
          const headers = { Accept: "application/json", "Headroom-Request": "dashboard" };
          if (body !== undefined) headers["Content-Type"] = options.type ?? "application/json";
          const reply = await fetch(path, {
            method, headers, body: body === undefined ? undefined : options.type ? body : JSON.stringify(body),
            signal: options.signal, credentials: "same-origin", cache: "no-store",
          });
          const text = await reply.text();
          let answer = null;
          try { answer = text ? JSON.parse(text) : null; } catch { /* a proxy's page */ }
          if (reply.status === 401 && session.current?.signed_in) session.ended();
          if (!reply.ok) throw new Problem(reply.status, answer);
          return answer;
        }

        export const get = (path, options) => call("GET", path, undefined, options);
        export const post = (path, body, options) => call("POST", path, body, options);
        export const put = (path, body) => call("PUT", path, body);
        export const remove = (path) => call("DELETE", path);

        // Ends with `until` (an AbortSignal) too: what waits holds the page that it waits for. A signal that has ended already
        // calls no listener, so that is asked first.
        export function pause(milliseconds, until) {
          if (until?.aborted) return Promise.resolve();
          return new Promise((done) => {
            const finish = () => { clearTimeout(timer); until?.removeEventListener("abort", finish); done(); };
            const timer = setTimeout(finish, milliseconds);
            until?.addEventListener("abort", finish);
          });
        }

        // query({pool: "a", tenant: null}) → "?pool=a"
        export function query(values) {
          const parts = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "")
            .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
          return parts.length ? `?${parts.join("&")}` : "";
        }

        export function may(...roles) {
          const who = session.current;
          return Boolean(who?.open || (who?.role && roles.includes(who.role)));
        }
        """#)
}

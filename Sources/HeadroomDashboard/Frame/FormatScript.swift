extension DashboardFile {
    static let format = module(
        "format",
        #"""
        // Numbers and times as people read them.

        export const units = { rpm: "requests/min", tpm: "tokens/min", itpm: "input tokens/min", otpm: "output tokens/min" };

        // 950, 12.3k, 4.5M; at most three digits that count.
        export function compact(value) {
          if (value === null || value === undefined || !Number.isFinite(value)) return "–";
          const size = Math.abs(value);
          if (size < 1) return size === 0 ? "0" : String(Number(value.toPrecision(2)));
          if (size < 100) return String(Math.round(value * 10) / 10);
          if (size < 1000) return String(Math.round(value));
          for (const [limit, letter] of [[1e6, "k"], [1e9, "M"], [1e12, "B"]]) {
            if (size < limit) {
              const part = value / (limit / 1000);
              return (Math.abs(part) < 100 ? Math.round(part * 10) / 10 : Math.round(part)) + letter;
            }
          }
          return value.toExponential(1);
        }

        export function whole(value) {
          return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US");
        }

        // From millionths of a currency's unit.
        export function money(micros) {
          const value = (micros ?? 0) / 1e6;
          const digits = Math.abs(value) >= 1000 || value === 0 ? 0 : Math.abs(value) < 0.1 ? 4 : 2;
          return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
        }

        export function percent(part) {
          if (part === null || part === undefined || !Number.isFinite(part)) return "–";
          const value = part * 100;
          return (Math.abs(value) < 10 && value !== Math.round(value) ? value.toFixed(1) : Math.round(value)) + " %";
        }

        // With the digits that count close to 100 %.
        export function nearly(part) { return `${(100 * part).toFixed(part > .99 && part < 1 ? 2 : 1)} %`; }

        export function duration(seconds) {
          if (seconds === null || seconds === undefined) return "–";
          if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
          if (seconds < 120) return `${Math.round(seconds)} s`;
          if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
          if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
          return `${Math.round(seconds / 86400)} days`;
        }

        export const zone = {
          isUTC: localStorage.getItem("utc") === "yes",
          set(isUTC) {
            this.isUTC = isUTC;
            localStorage.setItem("utc", isUTC ? "yes" : "no");
            formats.clear();
          },
          get name() { return this.isUTC ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone; },
        };

        const formats = new Map();
        function format(key, options) {
          if (!formats.has(key)) {
            formats.set(key, new Intl.DateTimeFormat("en-GB", { ...options, ...(zone.isUTC ? { timeZone: "UTC" } : {}) }));
          }
          return formats.get(key);
        }

        export function clock(milliseconds) {
          return format("clock", { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(milliseconds);
        }

        export function moment(when) {
          if (!when) return "–";
          return format("moment", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" })
            .format(typeof when === "number" ? when : new Date(when));
        }

        export function axisTime(milliseconds, step) {
          if (step < 60000) return clock(milliseconds);
          if (step < 86400000) return format("minute", { hour: "2-digit", minute: "2-digit" }).format(milliseconds);
          return format("day", { day: "numeric", month: "short" }).format(milliseconds);
        }

        // "in 2 h", "5 min ago".
        export function relative(when) {
          if (!when) return "–";
          const seconds = (new Date(when).getTime() - Date.now()) / 1000;
          if (Math.abs(seconds) < 1) return "now";
          return seconds >= 0 ? `in ${duration(seconds)}` : `${duration(-seconds)} ago`;
        }

        // {"rpm":…,"tpm":…} on one line.
        export function rates(value) {
          const entries = Object.entries(value ?? {});
          return entries.length ? entries.map(([name, rate]) => `${compact(rate)} ${name.toUpperCase()}`).join(", ") : "–";
        }

        export function main(value, preferred) {
          if (!value) return null;
          return value[preferred] ?? value.tpm ?? value.itpm ?? value.rpm ?? null;
        }

        export const constraints = {
          demand: "it gets all that it asks for", level: "fair share of a full pool", floor: "its contract's floor",
          ceiling: "its ceiling", slew: "rising step by step", observation_window: "following the mean of a minute",
          deadband: "small change, ignored for now", guardrail: "a guardrail", awaiting_room: "waiting for others to give back",
          cold_start: "new here", gaming_discount: "its claims count less", burst: "burst credit", override: "an override",
          mode: "the pool's mode", frozen: "frozen", breaker: "the breaker is open", cost_ceiling: "its cost limit",
          cost_breaker: "the cost breaker",
        };

        export const reasons = {
          contract: "the contract, nothing better is known", headers: "stated by the provider",
          throttled: "bounded by refusals", probing: "probing upwards", latency: "held by latency",
          overload: "the provider is overloaded", manual: "pinned by a person",
        };
        """#)
}

// Times as people read them: in their own zone, with the exact moment on hover.
import { html } from "./lib.js";

const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const MINUTE = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
});
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const STEPS = [[60, "second"], [3600, "minute"], [86400, "hour"], [86400 * 14, "day"]];
const UNITS = { second: 1, minute: 60, hour: 3600, day: 86400 };
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

export function ago(at, now = Date.now()) {
  const seconds = (new Date(at) - now) / 1000;
  const step = STEPS.find(([most]) => Math.abs(seconds) < most);
  if (!step) return DAY.format(new Date(at));
  if (Math.abs(seconds) < 5) return "now";
  return RELATIVE.format(Math.round(seconds / UNITS[step[1]]), step[1]);
}

export const day = (at) => DAY.format(new Date(at));

export function Time({ at, relative = false, date = false, none = "open" }) {
  if (!at) return html`<span class="faint">${none}</span>`;
  const moment = new Date(at);
  const shown = relative ? ago(at) : date ? DAY.format(moment) : MINUTE.format(moment);
  return html`<time datetime=${at} title="${EXACT.format(moment)} (${moment.toISOString()})">${shown}</time>`;
}

// What an <input type="datetime-local"> holds, as the moment it means.
export const fromLocal = (text) => (text ? new Date(text).toISOString() : "");
export function toLocal(at) {
  if (!at) return "";
  const moment = new Date(at);
  return new Date(moment - moment.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

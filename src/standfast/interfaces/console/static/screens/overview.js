// What is remembered, what waits, what is being done about it, what it costs, is it well.
import { clip, html, number, plural } from "../lib.js";
import { address, useRoute } from "../route.js";
import { get, Problem, useLoad } from "../api.js";
import { Bars, Empty, Loaded, Panel, RecordLink, Status } from "../parts.js";
import { Time } from "../time.js";

const optional = (asked) => asked.catch((error) => {
  if (error instanceof Problem) return null;
  throw error;
});

async function load(scope) {
  const here = scope ? { scope, descend: true } : {};
  const today = new Date().toISOString().slice(0, 10);
  const [stats, review, due, newest, usage, health] = await Promise.all([
    get("/v1/stats", here),
    get("/v1/review", { scope, limit: 100 }),
    get("/v1/due", { scope, limit: 100 }),
    get("/v1/records", { ...here, newest: true, limit: 500 }),
    optional(get("/v1/usage", { scope, day: today, limit: 1000 })),
    get("/health").catch((error) => { if (error instanceof Problem) return error.body; throw error; }),
  ]);
  return { stats, review: review.items, due, newest: newest.items, more: Boolean(newest.next), usage, health };
}

export function Overview() {
  const { scope } = useRoute().params;
  const loaded = useLoad(() => load(scope), [scope], { live: true });
  return html`<${Loaded} of=${loaded} lines=${10}>${(data) => data.stats.records || data.stats.sessions
    ? html`<${Filled} data=${data} />` : html`<${Nothing} />`}<//>`;
}

function Nothing() {
  return html`<${Empty} title="Nothing is remembered here yet">
    <p>Tell it something, and it appears here at once:</p>
    <pre>standfast remember "Deploys go out on Tuesdays" --scope org:acme
curl ${location.origin}/v1/remember -H 'Authorization: Bearer rck_…' \\
  -H 'Content-Type: application/json' -d '{"text": "Deploys go out on Tuesdays"}'</pre>
    <p>Or let an agent observe its messages: <code>memory.observe("chat/42", messages)</code>.</p><//>`;
}

function Filled({ data }) {
  const { stats, review, due, usage, health } = data;
  const believed = (stats.statuses.active || 0) + (stats.statuses.disputed || 0);
  const spent = usage ? usage.items.reduce((sum, one) => sum + one.cost, 0) : null;
  const calls = usage ? usage.items.reduce((sum, one) => sum + one.calls, 0) : 0;
  return html`<div class="figures">
      <${Figure} value=${number(believed)} label="believed now" href=${address("memories", "", { status: "active" })}
        note="${number(stats.records)} records of every status" />
      <${Figure} value=${review.length >= 100 ? "100+" : review.length} label=${review.length === 1 ? "waits for you" : "wait for you"}
        href=${address("review")} tone=${review.length ? "warn" : ""} note=${review.length ? "contradictions and doubts" : "nothing to decide"} />
      <${Figure} value=${`${stats.complete ? "" : "≥ "}${number(stats.sessions)}`} label=${stats.sessions === 1 ? "session" : "sessions"} href=${address("sessions")} note="conversations and tasks" />
      <${Figure} value=${spent === null ? "–" : spent ? `$${spent.toFixed(spent < 1 ? 4 : 2)}` : "$0"} label="spent today" href=${address("operations")}
        note=${spent === null ? "your key does not see costs" : calls ? `${plural(calls, "model call")}` : "no model was asked"} />
    </div>
    <div class="columns">
      <div>
        <${Panel} title="What is remembered" aside=${html`<a href=${address("memories")}>Browse</a>`}>
          <${Bars} rows=${Object.entries(stats.types).sort((a, b) => b[1] - a[1]).map(([name, value]) => ({
            name: name.replace("_", " "), value, tone: tone(name), href: address("memories", "", { type: name }) }))} />
          <p class="legend">${Object.entries(stats.statuses).map(([name, value]) => html`<a href=${address("memories", "", { status: name })}><${Status} status=${name} /> ${number(value)}</a> `)}</p>
        <//>
        <${Growth} newest=${data.newest} more=${data.more} />
        ${review.length > 0 && html`<${Panel} title="Waits for you" aside=${html`<a href=${address("review")}>Decide</a>`}>
          <ul class="list">${review.slice(0, 4).map((one) => html`<li><span class="said" dir="auto">${clip(one.record ? one.record.text : one.why, 140)}</span>
            <span class="about"><span class="tag review-${one.kind}">${one.kind}</span> ${one.why} · ${one.scope}</span></li>`)}</ul><//>`}
      </div>
      <div>
        <${Panel} title="Health"><${Health} health=${health} due=${due} move=${stats.reembedding} /><//>
        <${Panel} title="Newest" aside=${html`<a href=${address("changes")}>Changes</a>`}>
          <ul class="list">${data.newest.slice(0, 8).map((record) => html`<li><${RecordLink} record=${record} most=${110} />
            <span class="about"><${Time} at=${record.learned_at} relative /> · ${record.type.replace("_", " ")} · ${record.scope}</span></li>`)}</ul>
        <//>
      </div>
    </div>`;
}

const tone = (type) => (["turn", "episode", "summary", "interaction"].includes(type)
  ? "episodic" : type === "procedure" ? "procedural" : "semantic");

function Figure({ value, label, note, href, tone: colour = "" }) {
  return html`<a class="figure ${colour}" href=${href}><strong>${value}</strong><span>${label}</span><small>${note}</small></a>`;
}

// In words: what is wrong, what it means, what to do.
function Health({ health, due, move }) {
  const waiting = due.work.reduce((all, one) => ({ ...all, [one.kind]: (all[one.kind] || 0) + 1 }), {});
  const words = { fold: "to fold into summaries", embed: "without a vector yet", expire: "past their expiry", review: "past their review date" };
  const well = health.status === "ok";
  return html`<p class="health ${well ? "ok" : "bad"}">${well ? "All is well: the store answers, the last write was taken, nothing is stuck."
      : health.status === "degraded" ? "Something is stuck, or the last write was refused. What can be read is still right."
        : "The store does not answer."}</p>
    <ul class="list">
      ${move && html`<li>Re-embedding from ${move.old} to ${move.new}: <progress aria-label="Re-embedding" max=${move.records || 1} value=${move.done}></progress>
        ${number(move.done)} of ${number(move.records)} records${move.minutes === null ? "" : `, about ${plural(Math.max(1, Math.round(move.minutes)), "minute")} left`}.</li>`}
      ${due.stuck.map((one) => html`<li><span class="tag status-disputed">stuck</span> ${one.why}
        <span class="about">${one.scope} · <a href=${address("review")}>try it again</a></span></li>`)}
      ${Object.entries(waiting).map(([kind, n]) => html`<li>Upkeep has ${n >= 100 ? "100 or more" : number(n)} ${words[kind] || kind}.</li>`)}
      ${!due.work.length && !due.stuck.length && html`<li class="faint">Upkeep has nothing to do.</li>`}
    </ul>`;
}

// Of the newest records: how many each day. Where those do not reach back a month, the axis says so.
function Growth({ newest, more }) {
  if (!newest.length) return null;
  const oldest = new Date(newest.at(-1).learned_at);
  const days = Math.max(1, Math.min(30, Math.ceil((Date.now() - oldest) / 86400000) + (more ? 0 : 1)));
  const counts = Array.from({ length: days }, () => 0);
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  for (const record of newest) {
    const back = Math.max(0, Math.ceil((midnight - new Date(record.learned_at)) / 86400000));
    if (back < days) counts[days - 1 - back] += 1;
  }
  const most = Math.max(1, ...counts);
  const name = (n) => new Date(midnight - (days - 1 - n) * 86400000).toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return html`<${Panel} title="Growth" aside=${html`<span class="faint">records learned a day${more ? ", of the newest 500" : ""}</span>`}>
    <div class="days" role="img" aria-label=${counts.map((n, i) => `${name(i)}: ${n}`).join(", ")}>${counts.map((n, i) => html`
      <span title="${name(i)}: ${number(n)}"><i style=${{ height: `${n ? Math.max(4, (100 * n) / most) : 0}%` }}></i></span>`)}</div>
    <p class="axis"><span>${name(0)}</span><span>${days > 1 ? "today" : ""}</span></p><//>`;
}

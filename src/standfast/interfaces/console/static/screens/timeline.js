// Two times: what was true when, and what we believed when. Lanes per subject and slot; one slider
// for the world's time and one for ours.
import { clip, html, number, useMemo, useState } from "../lib.js";
import { address, alter, useRoute } from "../route.js";
import { get, Problem, useLoad } from "../api.js";
import { Empty, Field, Loaded, Panel } from "../parts.js";
import { day } from "../time.js";

const LANES_MAX = 60;
const STEPS = 1000;

async function load(scope) {
  const here = scope ? { scope, descend: true } : {};
  const [facts, episodes, changes] = await Promise.all([
    get("/v1/records", { ...here, kinds: "semantic", newest: true, limit: 1000 }),
    get("/v1/records", { ...here, types: "episode", newest: true, limit: 200 }),
    get("/v1/changes", { scope, limit: 200 }).catch((error) => { if (error instanceof Problem) return { items: [] }; throw error; }),
  ]);
  return { facts: facts.items, more: Boolean(facts.next), episodes: episodes.items, changes: changes.items };
}

export function Timeline() {
  const { scope } = useRoute().params;
  const loaded = useLoad(() => load(scope), [scope], { live: true });
  return html`<${Loaded} of=${loaded}>${(data) => data.facts.length || data.episodes.length ? html`<${Lanes} ...${data} />`
    : html`<${Empty} title="Nothing has a time here yet"><p>Facts appear as lanes, one for each thing that can change (where somebody lives, which database is used),
      as soon as something is remembered in this scope.</p><//>`}<//>`;
}

const ms = (at) => +new Date(at);
const begins = (record) => ms(record.valid_from || record.learned_at);

function lanesOf(facts) {
  const lanes = new Map();
  for (const record of facts) {
    const { subject, slot } = record.data;
    const name = typeof subject === "string" && subject ? `${subject}${typeof slot === "string" && slot ? ` · ${slot.replace(/_/g, " ")}` : ""}` : record.type.replace("_", " ");
    const lane = typeof subject === "string" && subject ? name : `(${name})`;
    if (!lanes.has(lane)) lanes.set(lane, []);
    lanes.get(lane).push(record);
  }
  return [...lanes].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
}

// Spells that overlap stand below each other.
function rowsOf(records, now) {
  const ends = [];
  return [...records].sort((a, b) => begins(a) - begins(b)).map((record) => {
    const end = record.valid_to ? ms(record.valid_to) : now;
    let row = ends.findIndex((one) => one <= begins(record));
    if (row < 0) row = ends.length;
    ends[row] = end;
    return [record, row];
  });
}

function Lanes({ facts, more, episodes, changes }) {
  const { params } = useRoute();
  const lanes = useMemo(() => lanesOf(facts), [facts]);
  const now = useMemo(() => Date.now(), [facts]);
  const [from, to] = useMemo(() => {
    const all = [...facts, ...episodes].flatMap((one) => [begins(one), ms(one.learned_at), ...(one.valid_to ? [Math.min(ms(one.valid_to), now + 3e10)] : [])]);
    const least = Math.min(now - 86400000, ...all);
    return [least - (now - least) * 0.02, Math.max(now, ...all) + (now - least) * 0.02];
  }, [facts, episodes]);
  const [world, setWorld] = useState(params.as_of ? ms(params.as_of) : null);
  const [ours, setOurs] = useState(params.known_at ? ms(params.known_at) : null);
  const place = (at) => `${(100 * (at - from)) / (to - from)}%`;
  const believed = (record) => (ours === null ? record.retired_at === null : ms(record.learned_at) <= ours && (!record.retired_at || ms(record.retired_at) > ours));
  const closed = (record) => record.status === "superseded" && !record.retired_at;
  const known = (record) => (believed(record) || (ours === null && closed(record))) && record.status !== "quarantined";
  const holds = (record, at) => begins(record) <= at && (!record.valid_to || ms(record.valid_to) > at);
  const at = world ?? now;
  const slider = (label, value, set, name, hint) => html`<${Field} label=${label} hint=${hint}><div class="slider">
    <input type="range" min="0" max=${STEPS} aria-valuetext=${value === null ? "now" : day(value)} value=${value === null ? STEPS : Math.round((STEPS * (value - from)) / (now - from))}
      onInput=${(e) => set(Number(e.target.value) >= STEPS ? null : from + ((now - from) * e.target.value) / STEPS)}
      onChange=${(e) => alter({ [name]: Number(e.target.value) >= STEPS ? "" : new Date(from + ((now - from) * e.target.value) / STEPS).toISOString() })} />
    <output>${value === null ? "now" : day(value)}</output></div><//>`;
  const truths = facts.filter((one) => known(one) && holds(one, at));
  const ticks = Array.from({ length: 5 }, (_, n) => from + ((to - from) * (n + 0.5)) / 5);
  return html`<div class="sliders">${slider("The world's time", world, setWorld, "as_of", "what was true then")}${slider("Our time", ours, setOurs, "known_at", "what we believed then")}</div>
    <p class="count">${number(truths.length)} statements hold on ${world === null ? "this day" : day(world)}, as we ${ours === null ? "believe now" : `believed on ${day(ours)}`}
      ${more && html` · <span class="faint">of the newest 1,000</span>`}</p>
    <div class="lanes"><div class="cursor" style=${{ "--at": place(at) }} aria-hidden="true"></div>
      <div class="lane axis-lane"><span class="lane-name">${number(lanes.length)} lanes</span><div class="track">${ticks.map((one) => html`<small style=${{ left: place(one) }}>${day(one)}</small>`)}</div></div>
      ${lanes.slice(0, LANES_MAX).map(([name, records]) => html`<${Lane} name=${name} records=${records}>${(record, row) => html`<a href=${address("memories", record.id)} class="spell ${known(record) ? "" : "unknown"} ${known(record) && holds(record, at) ? "holds" : ""} status-${record.status}"
          style=${{ top: `${5 + 24 * row}px`, left: place(Math.max(begins(record), from)), width: `max(6px, calc(${place(Math.min(record.valid_to ? ms(record.valid_to) : to, to))} - ${place(begins(record))}))` }}
          title="${clip(record.text, 200)} (${day(begins(record))} – ${record.valid_to ? day(record.valid_to) : "still"})"><span dir="auto">${clip(record.text, 60)}</span></a>`}<//>`)}
      ${episodes.length > 0 && html`<div class="lane"><span class="lane-name">episodes</span><div class="track">${episodes.map((one) => html`<a class="point" href=${address("memories", one.id)} style=${{ left: place(begins(one)) }} title="${day(begins(one))}: ${clip(one.text, 160)}" aria-label=${clip(one.text, 80)}></a>`)}</div></div>`}
      ${changes.length > 0 && html`<div class="lane"><span class="lane-name"><a href=${address("changes")}>changes</a></span><div class="track" role="img" aria-label="${changes.length} changes">${changes.filter((one) => ms(one.at) >= from).map((one) => html`<i class="tick" style=${{ left: place(ms(one.at)) }} title="${day(one.at)}: ${one.reason}"></i>`)}</div></div>`}
    </div>${lanes.length > LANES_MAX && html`<p class="faint">${number(lanes.length - LANES_MAX)} more lanes: choose a scope to see fewer.</p>`}
    <${Panel} title="What holds then"><ul class="list">${truths.slice(0, 60).map((record) => html`<li><a class="said" dir="auto" href=${address("memories", record.id)}>${clip(record.text, 200)}</a></li>`)}
      ${!truths.length && html`<li class="faint">Nothing that we know of.</li>`}</ul><//>`;
}

const ROWS_MAX = 8;

function Lane({ name, records, children }) {
  const [all, setAll] = useState(false);
  const placed = useMemo(() => rowsOf(records, Date.now() + 1e12), [records]);
  const rows = Math.max(...placed.map(([, row]) => row)) + 1;
  const shown = all ? Math.min(rows, 200) : Math.min(rows, ROWS_MAX);
  return html`<div class="lane"><span class="lane-name" dir="auto" title=${name}>${clip(name, 60)}
      ${rows > ROWS_MAX && html`<br /><button class="quiet" onClick=${() => setAll(!all)}>${all ? "fewer" : `all ${number(records.length)}`}</button>`}</span>
    <div class="track" style=${{ height: `${6 + 24 * shown}px` }}>${placed.filter(([, row]) => row < shown).map(([record, row]) => children(record, row))}</div></div>`;
}

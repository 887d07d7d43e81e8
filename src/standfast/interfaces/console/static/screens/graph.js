// What is tied to a record, up to two steps; drawn in rings that stay legible, with a table beside.
import { clip, html, number, plural, useEffect, useMemo, useState } from "../lib.js";
import { address, alter, go, useRoute } from "../route.js";
import { get, post, Problem, useLoad } from "../api.js";
import { About, Empty, Kind, Loaded, Panel, RecordLink, Status } from "../parts.js";

const NODES_MAX = 300;
const EXPANDED_MAX = 60;
const AT_ONCE = 6;

async function each(list, work) {
  const found = [];
  for (let n = 0; n < list.length; n += AT_ONCE) {
    found.push(...await Promise.all(list.slice(n, n + AT_ONCE).map(work)));
  }
  return found;
}

const edgesOf = (id) => get("/v1/relations", { id }).then((answer) => answer.relations, (error) => {
  if (error instanceof Problem) return [];
  throw error;
});
const key = (edge) => `${edge.source} ${edge.kind} ${edge.target}`;

// The neighbourhood: edges that were drawn, what a record was made from, and what is about the
// same subject.
async function load(id) {
  const [centre] = (await post("/v1/get", { ids: [id] })).records;
  if (!centre) throw new Problem(404, { detail: "There is no such record; it was erased, or it is somebody else's." });
  const edges = new Map();
  const add = (edge) => edges.set(key(edge), edge);
  (await edgesOf(id)).forEach(add);
  centre.derived_from.forEach((other) => add({ source: id, target: other, kind: "made_from" }));
  const subject = typeof centre.data.subject === "string" ? centre.data.subject : "";
  if (subject) {
    const same = await get("/v1/records", { tags: subject, scope: centre.scope, limit: 100, newest: true });
    same.items.filter((one) => one.id !== id && one.data.subject === subject)
      .forEach((one) => add({ source: id, target: one.id, kind: "same_subject" }));
  }
  const first = [...new Set([...edges.values()].flatMap((e) => [e.source, e.target]))].filter((one) => one !== id);
  for (const more of await each(first.slice(0, EXPANDED_MAX), edgesOf)) more.forEach(add);
  const ids = [...new Set([...edges.values()].flatMap((e) => [e.source, e.target]))].filter((one) => one !== id);
  const wanted = [...first, ...ids.filter((one) => !first.includes(one))].slice(0, NODES_MAX - 1);
  const records = [];
  for (let n = 0; n < wanted.length; n += 200) records.push(...(await post("/v1/get", { ids: wanted.slice(n, n + 200) })).records);
  return { centre, edges: [...edges.values()], others: records, subject, left: ids.length - wanted.length };
}

export function Graph() {
  const { id, params } = useRoute();
  return html`<${Find} params=${params} id=${id} />${id
    ? html`<${Whole} id=${id} key=${id} />`
    : html`<${Empty} title="Whose neighbourhood?"><p>Search for a memory or a subject above. You see what supports it, contradicts it, replaced it,
        what it was made from and what else is said of the same subject, up to two steps away.</p><//>`}`;
}

function Find({ params, id }) {
  const [query, setQuery] = useState(params.q || "");
  useEffect(() => setQuery(params.q || ""), [params.q]);
  const found = useLoad(() => (params.q && !id ? post("/v1/recall", { query: params.q, explain: true, limit: 12, types: ["fact", "preference", "entity", "interest", "user_request", "episode", "procedure"],
    ...(params.scope ? { scope: params.scope } : {}) }) : Promise.resolve(null)), [params.q, params.scope, id]);
  return html`<form class="search" role="search" onSubmit=${(e) => { e.preventDefault(); if (id) go("graph", "", { q: query }); else alter({ q: query }, { replace: false }); }}>
      <input data-search type="search" aria-label="A subject or a memory" placeholder="A subject or a memory" value=${query} onInput=${(e) => setQuery(e.target.value)} />
      <button class="primary" type="submit">Find</button></form>
    ${!id && params.q && html`<${Loaded} of=${found} lines=${3}>${(answer) => answer && (answer.hits.length
      ? html`<ul class="list choose">${answer.hits.map((hit) => html`<li><a class="said" dir="auto" href=${address("graph", hit.id)}>${clip(hit.text, 160)}</a><${About} record=${hit} /></li>`)}</ul>`
      : html`<p class="faint">Nothing is known by that name.</p>`)}<//>`}`;
}

function Whole({ id }) {
  const loaded = useLoad(() => load(id), [id], { live: true });
  return html`<${Loaded} of=${loaded}>${(data) => html`<div class="graph-page">
    <${Panel} title=${data.subject ? `Around ${clip(data.subject, 60)}` : "Around it"} aside=${html`<span class="faint">${plural(data.others.length + 1, "record")}, ${plural(data.edges.length, "edge")}${data.left > 0 ? `, ${number(data.left)} left out` : ""}</span>`}>
      <${Around} centre=${data.centre} edges=${data.edges} others=${data.others} large /><//>
    <${Panel} title="The same as a table"><div class="scroll" tabindex="0" role="region" aria-label="Table of the neighbourhood"><table class="table"><thead><tr><th>How</th><th>What</th><th>Status</th></tr></thead>
      <tbody>${data.edges.map((edge) => {
        const other = edge.source === data.centre.id ? edge.target : edge.source;
        const record = data.others.find((one) => one.id === other) || (other === data.centre.id ? data.centre : null);
        const near = edge.source === data.centre.id || edge.target === data.centre.id;
        return record && html`<tr class=${edge.retired_at ? "retired" : ""}><td><span class="tag edge-${edge.kind}">${edge.kind.replace("_", " ")}</span> ${!near && html`<span class="faint">2 steps</span>`}</td>
          <td><${RecordLink} record=${record} most=${120} /></td><td><${Status} status=${record.status} /></td></tr>`;
      })}</tbody></table></div><//></div>`}<//>`;
}

// Rings around the centre: the first as wide as its labels need, the second in sectors of the first.
function placed(centre, edges, others) {
  const near = new Map(others.map((one) => [one.id, one]));
  const links = (id) => edges.filter((e) => e.source === id || e.target === id).map((e) => (e.source === id ? e.target : e.source));
  const first = [...new Set(links(centre.id))].filter((id) => near.has(id));
  const ring1 = new Set(first);
  const second = new Map(first.map((id) => [id, []]));
  const taken = new Set([centre.id, ...first]);
  for (const id of first) {
    for (const far of links(id)) {
      if (taken.has(far) || !near.has(far)) continue;
      taken.add(far);
      second.get(id).push(far);
    }
  }
  const weight = (id) => Math.max(1, second.get(id).length * 0.8);
  const all = first.reduce((sum, id) => sum + weight(id), 0) || 1;
  const r1 = Math.max(first.length < 4 ? 90 : 120, first.length * 7);
  const r2 = r1 + Math.max(90, (taken.size - first.length) * 1.6);
  const spots = new Map([[centre.id, { x: 0, y: 0, ring: 0 }]]);
  let turn = -Math.PI;
  for (const id of first) {
    const wide = (2 * Math.PI * weight(id)) / all;
    const middle = turn + wide / 2;
    spots.set(id, { x: r1 * Math.cos(middle), y: r1 * Math.sin(middle), ring: 1 });
    second.get(id).forEach((far, n, list) => {
      const angle = turn + (wide * (n + 0.5)) / list.length;
      spots.set(far, { x: r2 * Math.cos(angle), y: r2 * Math.sin(angle), ring: 2 });
    });
    turn += wide;
  }
  const reach = (ring1.size < taken.size - 1 ? r2 : r1) + 30;
  return { spots, reach };
}

export function Around({ centre, edges, others, large = false }) {
  const records = useMemo(() => new Map([centre, ...others].map((one) => [one.id, one])), [centre, others]);
  const { spots, reach } = useMemo(() => placed(centre, edges, others), [centre, edges, others]);
  const [over, setOver] = useState(null);
  const named = spots.size <= 24;
  const label = (id, spot) => {
    const right = spot.x >= -1;
    const text = clip(records.get(id).text, spots.size > 12 ? 18 : 26);
    return html`<text x=${spot.x + (right ? 10 : -10)} y=${spot.y + 4} text-anchor=${right ? "start" : "end"}>${text}</text>`;
  };
  const pad = named ? 200 : 20;
  const box = `${-reach - pad} ${-reach - 10} ${2 * (reach + pad)} ${2 * reach + 20}`;
  const shown = over && records.get(over);
  return html`<figure class="graph ${large && spots.size > 5 ? "large" : ""}"><svg viewBox=${box} role="group" aria-label="Records around this one">
      ${edges.map((edge) => {
        const [a, b] = [spots.get(edge.source), spots.get(edge.target)];
        return a && b && html`<line class="edge-${edge.kind} ${edge.retired_at ? "retired" : ""} ${over && (edge.source === over || edge.target === over) ? "over" : ""}" x1=${a.x} y1=${a.y} x2=${b.x} y2=${b.y}><title>${edge.kind.replace("_", " ")}</title></line>`;
      })}
      ${[...spots].map(([id, spot]) => html`<a href=${address("memories", id)} aria-label=${clip(records.get(id).text, 100)} class="ring-${spot.ring}" onMouseEnter=${() => setOver(id)} onFocus=${() => setOver(id)}>
        <circle class="kind-${records.get(id).kind} ${["superseded", "archived"].includes(records.get(id).status) ? "past" : ""}" cx=${spot.x} cy=${spot.y} r=${[9, 6, 4][spot.ring]}><title>${clip(records.get(id).text, 200)}</title></circle>
        ${named && spot.ring > 0 && label(id, spot)}
        ${named && !spot.ring && html`<text class="centre" x="0" y="-16" text-anchor="middle">${clip(records.get(id).text, 44)}</text>`}</a>`)}
    </svg><figcaption>${shown ? html`<${Kind} kind=${shown.kind} type=${shown.type} /> <span class="said" dir="auto">${clip(shown.text, 160)}</span>`
      : html`<span class="faint">${[...new Set(edges.map((e) => e.kind))].map((one) => html`<span class="edge-key edge-${one}">${one.replace("_", " ")}</span> `)}</span>`}</figcaption></figure>`;
}

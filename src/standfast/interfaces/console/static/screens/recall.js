// The recall debugger: a question with all its options, what came back and why, what did not and
// why not; the same question at another time or under another profile beside it.
import { clip, html, useEffect, useState } from "../lib.js";
import { address, alter, useRoute } from "../route.js";
import { post, useLoad } from "../api.js";
import { About, Choice, Empty, Field, Id, KINDS, Loaded, Panel, RecordLink, STATUSES, Trouble, TYPES } from "../parts.js";
import { fromLocal, toLocal } from "../time.js";

const PROFILES = ["default", "otto", "openmotoko", "agtos", "autobot", "lota"];
const NAMES = ["q", "limit", "kind", "type", "tag", "status", "since", "until", "as_of", "known_at", "threshold", "profile", "descend", "rerank"];

function question(params, other = {}) {
  const p = { ...params, ...other };
  const list = (one) => (one ? [one] : undefined);
  return {
    query: p.q || "", scope: p.scope || undefined, limit: p.limit ? Number(p.limit) : undefined, kinds: list(p.kind), types: list(p.type),
    tags: list(p.tag), statuses: list(p.status), since: p.since || undefined, until: p.until || undefined, as_of: p.as_of || undefined,
    known_at: p.known_at || undefined, threshold: p.threshold ? Number(p.threshold) : undefined, descend: p.descend === "true" || undefined,
    profile: p.profile || undefined,
  };
}

export function Recall() {
  const { params } = useRoute();
  const asked = params.q !== undefined;
  const beside = ["as_of2", "known_at2", "profile2"].some((name) => params[name]);
  return html`<${Form} params=${params} />
    ${!asked ? html`<${Empty} title="Ask what an agent would ask">
        <p>You see which memories come back, each with the steps that made its score, what was dropped, and for any other record why it did not come.
        Looking here does not count as use.</p><//>`
      : html`<div class=${beside ? "beside" : ""}>
        <${Answer} params=${params} other=${{}} title=${beside ? "As asked" : "Answer"} />
        ${beside && html`<${Answer} params=${params} other=${{ as_of: params.as_of2 || params.as_of, known_at: params.known_at2 || params.known_at, profile: params.profile2 || params.profile }}
          title=${["profile2", "as_of2", "known_at2"].filter((n) => params[n]).map((n) => `${n.slice(0, -1).replace("_", " ")} ${params[n].slice(0, 16).replace("T", " ")}`).join(", ")} />`}
      </div>
      <${WhyNot} params=${params} />`}`;
}

function Form({ params }) {
  const [open, setOpen] = useState(NAMES.slice(1).some((name) => params[name]));
  const [query, setQuery] = useState(params.q || "");
  useEffect(() => setQuery(params.q || ""), [params.q]);
  const set = (name) => (value) => alter({ [name]: value }, { replace: false });
  const time = (name, label) => html`<${Field} label=${label}><input type="datetime-local" value=${toLocal(params[name])} onChange=${(e) => set(name)(fromLocal(e.target.value))} /><//>`;
  return html`<form class="ask" role="search" onSubmit=${(e) => { e.preventDefault(); alter({ q: query }, { replace: false }); }}>
    <div class="search"><input data-search aria-label="Question" placeholder="When do we deploy?" dir="auto" value=${query} onInput=${(e) => setQuery(e.target.value)} />
      <button class="primary" type="submit">Recall</button>
      <button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}>Options</button></div>
    ${open && html`<div class="filters">
      <${Choice} label="Kind" value=${params.kind} options=${KINDS} onChange=${set("kind")} />
      <${Choice} label="Type" value=${params.type} options=${TYPES} onChange=${set("type")} />
      <${Choice} label="Status" value=${params.status} options=${STATUSES} any="believed" onChange=${set("status")} />
      <${Field} label="Tag"><input value=${params.tag || ""} onChange=${(e) => set("tag")(e.target.value.trim())} /><//>
      <${Field} label="Limit"><input type="number" min="1" max="200" value=${params.limit || ""} onChange=${(e) => set("limit")(e.target.value)} /><//>
      <${Field} label="Threshold"><input type="number" min="0" max="1" step="0.05" value=${params.threshold || ""} onChange=${(e) => set("threshold")(e.target.value)} /><//>
      ${time("since", "Since")} ${time("until", "Until")} ${time("as_of", "True at (as of)")} ${time("known_at", "Known at")}
      <${Choice} label="Profile" value=${params.profile} options=${PROFILES} any="the server's" onChange=${set("profile")} />
      <label class="check"><input type="checkbox" checked=${params.descend === "true"} onChange=${(e) => set("descend")(e.target.checked ? "true" : "")} /> also below the scope</label>
      <fieldset><legend>Beside it, the same question</legend>
        ${time("as_of2", "True at")} ${time("known_at2", "Known at")}
        <${Choice} label="Under profile" value=${params.profile2} options=${PROFILES} any="–" onChange=${set("profile2")} /></fieldset>
    </div>`}</form>`;
}

function Answer({ params, other, title }) {
  const wish = question(params, other);
  const loaded = useLoad(() => post("/v1/recall", { ...wish, explain: true, fast: params.rerank ? false : true }), [JSON.stringify(wish)]);
  return html`<${Loaded} of=${loaded}>${(answer) => {
    const dropped = answer.notes.filter((note) => note.startsWith("not returned: "));
    const notes = answer.notes.filter((note) => !note.startsWith("not returned: "));
    const top = Math.max(0.0001, ...answer.hits.map((hit) => hit.score));
    return html`<${Panel} title=${title} aside=${html`<span class="faint">${answer.hits.length} hits</span>`}>
      <p class="notes">${notes.map((note) => html`<span class=${note.startsWith("degraded") ? "warning" : ""}>${note}</span>`)}</p>
      ${answer.hits.length ? html`<ol class="hits">${answer.hits.map((hit) => html`<${Hit} hit=${hit} top=${top} />`)}</ol>`
        : html`<p class="faint">Nothing came back. Try it without threshold, or below the scope.</p>`}
      ${dropped.length > 0 && html`<details><summary>${dropped.length} more were ranked and left out</summary>
        <ul class="list">${dropped.map((note) => html`<${Dropped} note=${note} />`)}</ul></details>`}<//>`;
  }}<//>`;
}

function Hit({ hit, top }) {
  const whole = Math.max(hit.score, 0.0001);
  return html`<li><div class="hit-head"><strong class="num">${hit.score.toFixed(3)}</strong><span class="meter" aria-hidden="true"><i style=${{ width: `${(100 * hit.score) / top}%` }}></i></span></div>
    <div><${RecordLink} record=${hit} most=${240} /><${About} record=${hit} />
    <p class="arms"><span title="How near in meaning">meaning ${hit.similarity === null ? "–" : hit.similarity.toFixed(3)}</span>
      <span title="Words in common, BM25">words ${hit.keyword ? hit.keyword.toFixed(2) : "–"}</span>
      ${hit.coverage > 0 && html`<span title="Share of the question's word weight that it holds">covers ${Math.round(100 * hit.coverage)} %</span>`}</p>
    <${Waterfall} why=${hit.why} top=${Math.max(top, whole)} /></div></li>`;
}

// Each step begins where the one before ended.
function Waterfall({ why, top }) {
  let at = 0;
  const steps = why.map((step) => {
    const from = at;
    at += step.value;
    return { ...step, from: Math.min(from, at), to: Math.max(from, at) };
  });
  const reach = Math.max(top, ...steps.map((step) => step.to));
  return html`<table class="waterfall"><tbody>${steps.map((step) => html`<tr class=${step.value < 0 ? "less" : ""}>
    <th scope="row">${step.stage}</th>
    <td class="bar"><i style=${{ marginInlineStart: `${(100 * Math.max(step.from, 0)) / reach}%`, width: `${Math.max((100 * (step.to - step.from)) / reach, 0.4)}%` }}></i></td>
    <td class="num">${step.value >= 0 ? "+" : "−"}${Math.abs(step.value).toFixed(3)}</td><td class="detail" dir="auto">${clip(step.detail, 60)}</td></tr>`)}</tbody></table>`;
}

function Dropped({ note }) {
  const [, id, rest] = note.match(/^not returned: (\S+) \((.*)\)$/s) || [null, "", note];
  return html`<li>${id && html`<a href=${address("memories", id)}><${Id} id=${id} /></a>`} <span class="faint">${rest}</span></li>`;
}

function WhyNot({ params }) {
  const [id, setId] = useState(params.why || "");
  useEffect(() => setId(params.why || ""), [params.why]);
  const wish = { ...question(params), id: params.why };
  const loaded = useLoad(() => (params.why ? post("/v1/why_not", wish) : Promise.resolve(null)), [JSON.stringify(wish)]);
  return html`<${Panel} title="Why not this one?">
    <form class="search" onSubmit=${(e) => { e.preventDefault(); alter({ why: id.trim().replace(/^.*memories\//, "").split("?")[0] }, { replace: false }); }}>
      <input aria-label="Id of a record" placeholder="Id or address of a record" value=${id} onInput=${(e) => setId(e.target.value)} />
      <button type="submit">Explain</button></form>
    <${Trouble} error=${loaded.error} />
    ${loaded.data && html`<p class="verdict">${loaded.data.notes[0]}</p>${loaded.data.hits.map((hit) => html`<${RecordLink} record=${hit} /><${About} record=${hit} />
      ${hit.why.length > 0 && html`<${Waterfall} why=${hit.why} top=${hit.score} />`}`)}`}<//>`;
}

// The packet viewer: what the model would see before its next answer.
import { box, clip, html, number, useEffect, useState, useValue } from "../lib.js";
import { alter, useRoute } from "../route.js";
import { get, post, useLoad } from "../api.js";
import { About, Choice, Empty, Field, Loaded, Panel, RecordLink, Said } from "../parts.js";
import { diff } from "../diff.js";

const SHAPES = ["openai", "anthropic", "gemini"];
const before = box({}); // the packet before, by scope and session: what changed since

export function Packet() {
  const { params } = useRoute();
  const wish = {
    session: params.session || undefined, query: params.q || undefined, scope: params.scope || undefined,
    tokens: params.tokens ? Number(params.tokens) : undefined, shape: params.shape || "openai", cite: params.cite === "true" || undefined,
  };
  const ready = params.q || params.session;
  const loaded = useLoad(() => (ready ? post("/v1/context", wish) : Promise.resolve(null)), [JSON.stringify(wish)]);
  return html`<${Form} params=${params} />
    ${!ready ? html`<${Empty} title="What would the model see?"><p>Name a session, a question, or both. What you get is
      the packet that <code>context()</code> would return now: nothing is marked as delivered.</p><//>`
      : html`<${Loaded} of=${loaded}>${(packet) => packet && html`<${Shown} packet=${packet} wish=${wish} />`}<//>`}`;
}

function Form({ params }) {
  const [query, setQuery] = useState(params.q || "");
  const [session, setSession] = useState(params.session || "");
  useEffect(() => { setQuery(params.q || ""); setSession(params.session || ""); }, [params.q, params.session]);
  const names = useLoad(() => get("/v1/sessions", { scope: params.scope, descend: Boolean(params.scope), limit: 200 }), [params.scope]);
  const set = (name) => (value) => alter({ [name]: value }, { replace: false });
  return html`<form class="ask" onSubmit=${(e) => { e.preventDefault(); alter({ q: query, session: session.trim() }, { replace: false }); }}>
    <div class="search"><input data-search aria-label="What it is for" dir="auto" placeholder="What the task is about" value=${query} onInput=${(e) => setQuery(e.target.value)} />
      <button class="primary" type="submit">Build</button></div>
    <div class="filters">
      <${Field} label="Session"><input list="sessions" value=${session} onInput=${(e) => setSession(e.target.value)} onChange=${(e) => set("session")(e.target.value.trim())} />
        <datalist id="sessions">${(names.data?.items || []).map((one) => html`<option value=${one.id}>${one.scope}</option>`)}</datalist><//>
      <${Field} label="Tokens"><input type="number" min="100" max="200000" step="100" placeholder="as the profile says" value=${params.tokens || ""} onChange=${(e) => set("tokens")(e.target.value)} /><//>
      <${Choice} label="Shape" value=${params.shape || "openai"} any=${null} options=${SHAPES} onChange=${set("shape")} />
      <label class="check"><input type="checkbox" checked=${params.cite === "true"} onChange=${(e) => set("cite")(e.target.checked ? "true" : "")} /> cite ids and trust</label>
    </div></form>`;
}

// The sections of the text with the share of tokens that each takes, by its share of characters.
function sections(packet) {
  const found = [];
  const stable = packet.stable_text.length;
  const cuts = [...packet.text.matchAll(/^<([a-z_-]+)[ >]/gm)].map((one) => [one.index, one[1]]);
  if (!cuts.length || cuts[0][0] > 0) cuts.unshift([0, "preface"]);
  cuts.forEach(([at, name], n) => {
    const end = cuts[n + 1]?.[0] ?? packet.text.length;
    if (end > at) found.push({ name, text: packet.text.slice(at, end), stable: at < stable });
  });
  return found;
}

function Shown({ packet, wish }) {
  const parts = sections(packet);
  const talk = packet.messages.map((message) => JSON.stringify(message));
  const characters = packet.text.length + talk.reduce((sum, one) => sum + one.length, 0) || 1;
  const share = (length) => Math.round((packet.tokens * length) / characters);
  const rows = [...parts.map((one) => ({ name: one.name, length: one.text.length, tone: one.stable ? "semantic" : "episodic" })),
    ...(talk.length ? [{ name: `${talk.length} messages`, length: talk.join("").length, tone: "procedural" }] : [])];
  return html`<div class="budget"><strong>${number(packet.tokens)} tokens</strong> <span class="faint">counted by ${packet.counter}${wish.tokens ? `, of ${number(wish.tokens)}` : ""}, stable block ${packet.hash.slice(0, 12) || "empty"}</span>
      <div class="stack" role="img" aria-label=${rows.map((one) => `${one.name} ${share(one.length)} tokens`).join(", ")}>${rows.map((one) => html`
        <span class=${one.tone} style=${{ flexGrow: Math.max(one.length, 1) }} title="${one.name}: about ${share(one.length)} tokens"><b>${one.name}</b> ${number(share(one.length))}</span>`)}</div></div>
    ${packet.notes.length > 0 && html`<p class="notes">${packet.notes.map((note) => html`<span>${note}</span>`)}</p>`}
    <div class="columns wide-left">
      <div><${Panel} title="Text" aside=${html`<span class="faint">the stable part can be cached by a provider</span>`}>
          ${parts.map((one) => html`<section class="block ${one.stable ? "stable" : ""}" aria-label=${one.name}><h3>${one.name} <span class="faint">${one.stable ? "stable" : "for this question"} · about ${number(share(one.text.length))} tokens</span></h3><${Said} text=${one.text} className="pre" /></section>`)}
          ${!parts.length && html`<p class="faint">No memory belongs into it.</p>`}<//>
        <${Panel} title="Messages, as ${wish.shape} takes them">
          ${packet.messages.length ? html`<ol class="raw">${packet.messages.map((message) => html`<li><pre tabindex="0" dir="auto">${clip(JSON.stringify(message, null, 2), 4000)}</pre></li>`)}</ol>`
            : html`<p class="faint">${wish.session ? "The session has no recent message." : "Name a session to have its newest messages."}</p>`}<//></div>
      <div><${Since} packet=${packet} wish=${wish} />
        <${Panel} title="Near misses" aside=${html`<span class="faint">did not fit</span>`}>
          ${packet.near_misses.length ? html`<ul class="list">${packet.near_misses.slice(0, 30).map((hit) => html`<li><${RecordLink} record=${hit} />
            <span class="about"><b class="num">${hit.score.toFixed(3)}</b> · ${hit.why.at(-1)?.detail || ""}</span></li>`)}</ul>` : html`<p class="faint">Everything relevant fitted.</p>`}<//>
        <${Panel} title="In it" aside=${html`<span class="faint">${packet.hits.length} memories</span>`}>
          <ul class="list">${packet.hits.map((hit) => html`<li><${RecordLink} record=${hit} /><${About} record=${hit} /></li>`)}</ul>
          ${packet.pending.length > 0 && html`<h3>Waiting messages in it</h3><ul class="list">${packet.pending.map((one) => html`<li class="said" dir="auto">${clip(one.text, 200)}</li>`)}</ul>`}<//></div>
    </div>`;
}

function Since({ packet, wish }) {
  const name = `${wish.scope || ""} ${wish.session || wish.query}`;
  const known = useValue(before)[name];
  const [last] = useState(known);
  useEffect(() => { before.set((old) => ({ ...old, [name]: packet.text })); }, [packet.text]);
  const lines = last === undefined || last === packet.text ? [] : diff(last, packet.text).filter(([kind, text]) => kind !== "=" && text.trim());
  return html`<${Panel} title="Since the last packet">
    ${last === undefined ? html`<p class="faint">This is the first packet that you build here for this ${wish.session ? "session" : "question"}.</p>`
      : !lines.length ? html`<p class="faint">It says the same as before.</p>`
        : html`<p class="said diff" dir="auto">${lines.slice(0, 60).map(([kind, text]) => html`${kind === "-" ? html`<del>${clip(text, 400)}</del>` : html`<ins>${clip(text, 400)}</ins>`} `)}</p>`}<//>`;
}

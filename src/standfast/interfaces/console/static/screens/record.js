// One record: what it says, why it is believed, what it was before, what it is tied to; and what
// one can do about it.
import { clip, html, number, plural } from "../lib.js";
import { address, go } from "../route.js";
import { get, may, post, Problem, useLoad } from "../api.js";
import { About, act, askText, forget, Id, Loaded, Panel, RecordLink, Said, Scope, Status, TRUST, undo } from "../parts.js";
import { Diff } from "../diff.js";
import { Time } from "../time.js";
import { Around } from "./graph.js";

const missing = (asked, instead) => asked.catch((error) => {
  if (error instanceof Problem) return instead;
  throw error;
});

async function load(id) {
  const record = await get(`/v1/records/${encodeURIComponent(id)}`);
  const [edges, history] = await Promise.all([
    missing(get("/v1/relations", { id }), { relations: [] }),
    missing(get("/v1/history", { id, limit: 200 }), { entries: [] }),
  ]);
  const source = record.lineage.length && record.session
    ? await missing(get("/v1/messages", { session: record.session, scope: record.session_scope || record.scope,
      around: record.lineage[0], limit: 7 }), null) : null;
  const chain = await versions(record, edges.relations);
  const near = [...new Set(edges.relations.flatMap((edge) => [edge.source, edge.target]))].filter((one) => one !== id);
  const others = near.length ? (await post("/v1/get", { ids: near.slice(0, 200) })).records : [];
  const made = record.derived_from.length ? (await post("/v1/get", { ids: record.derived_from.slice(0, 50) })).records : [];
  return { record, edges: edges.relations, entries: history.entries, source, chain, others, made };
}

// From what it replaced, back and back, to what replaced it.
async function versions(record, edges) {
  const chain = [record];
  for (let steps = 0, known = edges; steps < 12; steps += 1) {
    const older = known.find((edge) => edge.kind === "supersedes" && edge.source === chain[0].id && !edge.retired_at);
    const [found] = older ? (await post("/v1/get", { ids: [older.target] })).records : [];
    if (!found || found.type === "turn" || chain.some((one) => one.id === found.id)) break;
    chain.unshift(found);
    known = (await missing(get("/v1/relations", { id: found.id }), { relations: [] })).relations;
  }
  for (let steps = 0, known = edges; steps < 12; steps += 1) {
    const newer = known.find((edge) => edge.kind === "supersedes" && edge.target === chain.at(-1).id && !edge.retired_at);
    const [found] = newer ? (await post("/v1/get", { ids: [newer.source] })).records : [];
    if (!found || chain.some((one) => one.id === found.id)) break;
    chain.push(found);
    known = (await missing(get("/v1/relations", { id: found.id }), { relations: [] })).relations;
  }
  return chain;
}

export function RecordPage({ id }) {
  const loaded = useLoad(() => load(id), [id], { live: true });
  if (loaded.error instanceof Problem && loaded.error.status === 404) {
    return html`<${Panel} title="There is no such record"><p>It was erased, or it belongs to somebody else.
      <a href=${address("memories")}>Back to all memories</a></p><//>`;
  }
  return html`<${Loaded} of=${loaded} lines=${8}>${(data) => html`<${Page} ...${data} again=${loaded.again} />`}<//>`;
}

function Page({ record, edges, entries, source, chain, others, made, again }) {
  return html`<article class="record">
    <p class="crumbs"><a href=${address("memories")}>Memories</a> / <${Scope} scope=${record.scope} /></p>
    <${Said} text=${record.text} className="large" />
    <${About} record=${record} />
    <${Acts} record=${record} again=${again} />
    <div class="columns">
      <div>
        <${Panel} title="Why it is believed"><${Reasons} record=${record} source=${source} made=${made} /><//>
        <${Panel} title="What it said before" aside=${html`<span class="faint">${plural(chain.length, "version")}</span>`}>
          ${chain.length < 2 ? html`<p class="faint">This is its first and only wording.</p>`
            : html`<ol class="chain">${chain.map((one, n) => html`<li class=${one.id === record.id ? "here" : ""}>
                <span class="about"><${Time} at=${one.learned_at} /> · ${one.source}${one.author && ` · ${one.author}`} <${Status} status=${one.status} />
                  ${one.id !== record.id && html` <a href=${address("memories", one.id)}>open</a>`}</span>
                ${n ? html`<${Diff} before=${chain[n - 1].text} after=${one.text} />` : html`<p class="said" dir="auto">${clip(one.text, 2000)}</p>`}</li>`)}</ol>`}
        <//>
        <${Panel} title="Journal" aside=${html`<span class="faint">${plural(entries.length, "change")}</span>`}>
          <ul class="list">${entries.slice(-30).reverse().map((entry) => html`<li><strong>${entry.reason}</strong>
            <span class="about"><${Time} at=${entry.at} /> · ${entry.actor || "nobody named"} · #${entry.seq}
              ${may("write") && entry.change && html` · <button class="quiet" onClick=${() => undo(entry.change, again)}>undo…</button>`}</span></li>`)}</ul>
        <//>
      </div>
      <div>
        <${Panel} title="When"><${Intervals} record=${record} /><//>
        <${Panel} title="Tied to" aside=${html`<a href=${address("graph", record.id)}>Open as graph</a>`}>
          ${edges.length ? html`<${Around} centre=${record} edges=${edges} others=${others} />` : html`<p class="faint">No other record is tied to it.</p>`}<//>
        <${Panel} title="Facts about it"><${Facts} record=${record} /><//>
      </div>
    </div></article>`;
}

function Acts({ record, again }) {
  if (!may("write")) return html`<p class="faint">Your key may read; it may not change this.</p>`;
  const live = ["active", "disputed", "quarantined"].includes(record.status);
  const statement = record.type !== "turn";
  const pinned = record.durability === "core";
  const edit = () => askText("Put another text in its place", { label: "What it should say", text: record.text,
    note: "The old text stays known as what was believed until now. Undo takes it back." }, async (text) => {
    const receipt = await act("Saved. The old text is superseded.", () => post("/v1/edit", { id: record.id, text }));
    if (receipt) go("memories", receipt.items[0].id);
  });
  const doubt = () => askText("What speaks against it?", { label: "What is true instead", button: "Dispute",
    note: "Both wait in the review until somebody decides." }, async (text) => {
    if (await act("Disputed. Both wait in the review.", () => post("/v1/dispute", { id: record.id, text }))) again();
  });
  const pin = async () => {
    if (await act(pinned ? "Pinned no longer." : "Pinned: shown at every task.",
      () => post("/v1/pin", { ids: [record.id], pinned: !pinned }))) again();
  };
  const archive = async () => {
    if (await act("Archived: not recalled any more.", () => post("/v1/archive", { ids: [record.id] }))) again();
  };
  return html`<div class="acts">
    ${live && statement && record.type !== "procedure" && html`<button onClick=${edit}>Edit…</button>`}
    ${live && statement && html`<button aria-pressed=${pinned} onClick=${pin}>${pinned ? "Unpin" : "Pin"}</button>`}
    ${live && statement && html`<button onClick=${doubt}>Dispute…</button>`}
    ${live && statement && html`<button onClick=${archive}>Archive</button>`}
    ${may("erase") && html`<button class="danger" onClick=${() => forget(record, () => go("memories"))}>Forget…</button>`}
    <span class="spring"></span>
    <a href=${address("recall", "", { q: clip(record.text, 200), why: record.id })}>Ask for it in recall</a></div>`;
}

function Reasons({ record, source, made }) {
  return html`<p>${TRUST[record.trust]}. It comes from <strong>${record.source}</strong>${record.author && html`, said by <strong dir="auto">${record.author}</strong>`},
      learned <${Time} at=${record.learned_at} relative />. Confidence ${Math.round(record.confidence * 100)} %.</p>
    ${typeof record.data.suspicion === "string" && html`<p class="warning">Held back because it ${record.data.suspicion}.</p>`}
    ${source && html`<h3>Where it was said <a class="more" href=${address("sessions", record.session, { scope: record.session_scope || record.scope })}>whole session</a></h3>
      <ol class="talk small">${source.items.map((message) => html`<li class="role-${message.role} ${record.lineage.includes(message.id) ? "here" : ""}">
        <span class="about">${message.author || message.role} · <${Time} at=${message.at} /></span>
        <p class="said" dir="auto">${clip(message.text, 600)}</p></li>`)}</ol>`}
    ${made.length > 0 && html`<h3>Made from</h3><ul class="list">${made.map((one) => html`<li><${RecordLink} record=${one} /><${About} record=${one} /></li>`)}</ul>`}
    ${!source && !made.length && html`<p class="faint">It was said outright, not learned from a conversation.</p>`}`;
}

function Intervals({ record }) {
  const rows = [["True", record.valid_from, record.valid_to, "always", "still"],
    ["Believed", record.learned_at, record.retired_at, "", "still"]];
  const ends = rows.flatMap(([, a, b]) => [a, b]).filter(Boolean).map((at) => +new Date(at));
  const from = Math.min(...ends);
  const to = Math.max(Date.now(), ...ends);
  const place = (at) => (100 * (at - from)) / Math.max(to - from, 1);
  return html`<dl class="intervals">${rows.map(([name, begin, end, open, still]) => {
    const left = begin ? place(+new Date(begin)) : 0;
    const right = end ? place(+new Date(end)) : 100;
    return html`<div><dt>${name}</dt><dd><span class="span"><i class=${begin ? "" : "open-left"} style=${{ left: `${left}%`, width: `${Math.max(right - left, 1.5)}%` }}></i></span>
      <small>${begin ? html`since <${Time} at=${begin} />` : open} · ${end ? html`until <${Time} at=${end} />` : still}</small></dd></div>`;
  })}</dl>`;
}

function Facts({ record }) {
  const rows = [["Id", html`<code class="id whole">${record.id}</code>`], ["Importance", record.importance.toFixed(2)], ["Durability", record.durability],
    ["Uses", html`${number(record.uses)}${record.used_at && html`, last <${Time} at=${record.used_at} relative />`}`],
    record.expires_at && ["Expires", html`<${Time} at=${record.expires_at} />`],
    record.origin && record.origin !== record.id && ["Copy of", html`<${Id} id=${record.origin} />`],
    ...Object.entries(record.data).map(([name, value]) => [name, html`<span class="said data" dir="auto">${clip(typeof value === "string" ? value : JSON.stringify(value), 500)}</span>`]),
  ].filter(Boolean);
  return html`<dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

// What waits for a person: two sides of a contradiction, doubtful texts, held change sets.
import { clip, html, number, plural, useEffect, useState } from "../lib.js";
import { address, useRoute } from "../route.js";
import { get, may, post, useLoad } from "../api.js";
import { About, act, askText, Empty, Loaded, RecordLink, Said, Scope, TRUST } from "../parts.js";
import { Diff } from "../diff.js";
import { Time } from "../time.js";

const WORDS = { disputed: "Contradiction", quarantined: "Doubtful text", held: "Held change", stuck: "Stuck work" };

export function Review() {
  const { scope } = useRoute().params;
  const loaded = useLoad(() => get("/v1/review", { scope, limit: 200 }), [scope], { live: true });
  return html`<${Loaded} of=${loaded}>${(data) => html`<${Inbox} items=${data.items} again=${loaded.again} />`}<//>`;
}

function Inbox({ items, again }) {
  const [chosen, setChosen] = useState(0);
  const [marked, setMarked] = useState(() => new Set());
  const at = Math.min(chosen, items.length - 1);
  if (!items.length) {
    return html`<${Empty} title="Nothing waits for you"><p>Contradictions, texts that want to steer a model, and upkeep that would
      retire too much come here. Everything else is decided by rules, and each decision is in <a href=${address("changes")}>the changes</a>.</p><//>`;
  }
  const keys = (event) => {
    const to = { j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setChosen(Math.max(0, Math.min(to, items.length - 1)));
  };
  const bulk = items.filter((one) => marked.has(one.id) && one.kind === "quarantined");
  const rejectAll = async () => {
    for (const one of bulk) {
      if (!await act("Rejected: archived.", () => post("/v1/resolve", { id: one.id, action: "reject" }))) break;
    }
    setMarked(new Set());
    again();
  };
  const toggle = (id) => setMarked((old) => { const next = new Set(old); if (!next.delete(id)) next.add(id); return next; });
  return html`<div class="inbox">
    <div class="inbox-list">
      <p class="count">${plural(items.length, "decision")} ${items.length === 1 ? "waits" : "wait"}
        ${bulk.length > 0 && html` · <button class="danger" onClick=${rejectAll}>Reject ${bulk.length} marked</button>`}</p>
      <ul data-list tabindex="0" role="listbox" aria-label="What waits" aria-activedescendant=${`item-${at}`} onKeyDown=${keys}>${items.map((one, n) => html`
        <li id=${`item-${n}`} role="option" aria-selected=${n === at} class=${n === at ? "chosen" : ""} onClick=${() => setChosen(n)}>
          <span class="about"><span class="tag review-${one.kind}">${WORDS[one.kind]}</span> <${Time} at=${one.since} relative none="" /></span>
          <span class="said" dir="auto">${clip(one.record ? one.record.text : one.why, 120)}</span></li>`)}</ul>
    </div>
    <${Decision} item=${items[at]} key=${items[at].id} again=${again} marked=${marked.has(items[at].id)} toggle=${() => toggle(items[at].id)} />
  </div>`;
}

function Decision({ item, again, marked, toggle }) {
  const decide = (said, action, more = {}) => async () => {
    if (await act(said, () => post("/v1/resolve", { id: more.id || item.id, action, ...more.body }))) again();
  };
  const can = (action) => may("write") && item.actions.includes(action);
  const edit = () => askText("What is right?", { label: "Text", text: item.record.text, button: "Replace" },
    (text) => decide("Edited: the new text stands.", "edit", { body: { text } })());
  const [other] = item.touches;
  const dispute = item.kind === "disputed" && other;
  return html`<article class="decision" aria-label="Decision">
    <header><span class="tag review-${item.kind}">${WORDS[item.kind]}</span> <${Scope} scope=${item.scope} />
      <span class="faint"><${Time} at=${item.since} none="" /></span></header>
    <p class="reason" dir="auto">${item.why}</p>
    ${dispute ? html`<${Sides} item=${item} other=${other} />`
      : item.record && html`<${Said} text=${item.record.text} className="large" /><${About} record=${item.record} />
        <p class="faint">${TRUST[item.record.trust]}.</p>`}
    ${item.kind === "held" && html`<h3>What it would change</h3><ul class="list">${item.touches.map((one) => html`<li><del><${RecordLink} record=${one} /></del><${About} record=${one} /></li>`)}</ul>`}
    <div class="acts">
      ${dispute ? html`
        ${can("approve") && html`<button class="primary" onClick=${decide("The newer one stands.", "approve")}>Keep the newer</button>`}
        ${can("reject") && html`<button onClick=${decide("The older one stands.", "reject")}>Keep the older</button>`}
        ${can("merge") && html`<button onClick=${decide("Merged: the older stays as it reads.", "merge", { body: { into: other.id } })}>Same thing: merge</button>`}
        ${may("write") && html`<${Both} item=${item} again=${again} />`}
        ${can("edit") && html`<button onClick=${edit}>Edit…</button>`}`
      : html`
        ${can("approve") && html`<button class="primary" onClick=${decide(item.kind === "stuck" ? "It will be tried again." : "Approved.", "approve")}>${
          item.kind === "stuck" ? "Try again" : item.kind === "held" ? "Apply it" : "Believe it"}</button>`}
        ${can("reject") && html`<button onClick=${decide("Rejected.", "reject")}>${item.kind === "held" ? "Drop it" : "Reject"}</button>`}
        ${can("edit") && html`<button onClick=${edit}>Edit…</button>`}
        ${item.kind === "quarantined" && may("write") && html`<label class="check"><input type="checkbox" checked=${marked} onChange=${toggle} /> mark, to reject several</label>`}`}
    </div>
  </article>`;
}

// Both are true: each holds for a time, or they are of different things. They are told apart by an
// edit of the one that is unclear.
function Both({ item, again }) {
  const both = () => askText("Both are true", { label: "Say the newer one so that it does not speak against the older", text: item.record.text,
    button: "Keep both", note: "Two statements that cannot both be true can only both stay if one of them says when, where or of whom it holds." },
  async (text) => { if (await act("Both stay.", () => post("/v1/resolve", { id: item.id, action: "edit", text }))) again(); });
  return html`<button onClick=${both}>Both…</button>`;
}

function Sides({ item, other }) {
  const { record } = item;
  return html`<div class="sides">
      <section aria-label="Older"><h3>Older <${Time} at=${other.learned_at} /></h3><${Said} text=${other.text} className="large" most=${2000} /><${About} record=${other} />
        <p class="faint">${TRUST[other.trust]}. <a href=${address("memories", other.id)}>Open</a></p></section>
      <section aria-label="Newer"><h3>Newer <${Time} at=${record.learned_at} /></h3><${Said} text=${record.text} className="large" most=${2000} /><${About} record=${record} />
        <p class="faint">${TRUST[record.trust]}. <a href=${address("memories", record.id)}>Open</a></p></section>
    </div>
    <h3>What differs</h3><${Diff} before=${other.text} after=${record.text} />
    ${item.touches.length > 1 && html`<p class="faint">${number(item.touches.length - 1)} more speak against it:</p>
      <ul class="list">${item.touches.slice(1).map((one) => html`<li><${RecordLink} record=${one} /></li>`)}</ul>`}`;
}

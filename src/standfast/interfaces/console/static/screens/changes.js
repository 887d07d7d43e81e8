// The journal as changes that a person can read: what, who, why; undone after a look.
import { clip, html, number, plural, useEffect, useMemo, useState } from "../lib.js";
import { address, useRoute } from "../route.js";
import { finished, get, may, me, post, useLoad } from "../api.js";
import { Empty, Id, Loaded, Panel, Trouble, undo } from "../parts.js";
import { Time } from "../time.js";

export function Changes() {
  const { scope } = useRoute().params;
  const root = (scope || "").split(":").slice(0, 2).join(":");
  const where = scope || me.get().default_scope;
  const loaded = useLoad(() => get("/v1/changes", { scope, limit: 100 }), [scope], { live: true });
  const [older, setOlder] = useState({ items: [], next: null });
  useEffect(() => setOlder({ items: [], next: null }), [scope]);
  const more = async () => {
    const page = await get("/v1/changes", { scope, limit: 100, cursor: older.next ?? loaded.data.next });
    setOlder({ items: [...older.items, ...page.items], next: page.next });
  };
  return html`${may("admin") && html`<${DryRun} scope=${scope} />`}
    <${Loaded} of=${loaded}>${(page) => {
      const seen = new Set(page.items.map((one) => one.seq));
      const all = [...page.items, ...older.items.filter((one) => !seen.has(one.seq))];
      return all.length ? html`<p class="count">The journal of ${root || where.split(":").slice(0, 2).join(":")}, newest first
          ${!root && html` · <span class="faint">choose a scope above to see another's</span>`}</p>
        <${Journal} entries=${all} again=${loaded.again} />${(older.next ?? page.next) && html`<button onClick=${more}>Older changes</button>`}`
        : html`<${Empty} title="Nothing has changed in ${where} yet"><p>Choose another scope above. Every write appears here, with who made it, and can be taken back.</p><//>`;
    }}<//>`;
}

// Commits of one change belong together.
function Journal({ entries, again }) {
  const groups = useMemo(() => {
    const found = new Map();
    for (const entry of entries) {
      const name = entry.change || entry.batch;
      if (!found.has(name)) found.set(name, { ...entry, touched: [], commits: 0 });
      const group = found.get(name);
      group.touched = [...group.touched, ...entry.touched.filter((touch) => touch.kind !== "vector")];
      group.commits += 1;
    }
    return [...found.values()];
  }, [entries]);
  const ids = useMemo(() => [...new Set(groups.slice(0, 300).flatMap((group) => group.touched.slice(0, SHOWN)
    .filter((touch) => touch.kind === "record" && touch.after).map((touch) => touch.id)))].slice(0, 1000), [groups]);
  const known = useLoad(() => (ids.length ? post("/v1/get", { ids }) : Promise.resolve({ records: [] })), [ids.join(" ")]);
  const texts = useMemo(() => new Map((known.data?.records || []).map((one) => [one.id, one.text])), [known.data]);
  const [chosen, setChosen] = useState(0);
  const keys = (event) => {
    const to = { j: chosen + 1, ArrowDown: chosen + 1, k: chosen - 1, ArrowUp: chosen - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(to, groups.length - 1));
    setChosen(next);
    event.currentTarget.children[next]?.scrollIntoView({ block: "nearest" });
  };
  return html`<ol class="journal" data-list tabindex="0" aria-label="Changes" onKeyDown=${keys}>${groups.map((group, n) => html`<li class=${n === chosen ? "chosen" : ""} key=${group.change || group.batch}>
    <div class="when"><${Time} at=${group.at} relative /></div>
    <div class="what"><p><strong>${said(group)}</strong> <span class="faint">${group.reason}</span></p>
      <ul>${group.touched.slice(0, SHOWN).map((touch) => html`<${Touch} touch=${touch} text=${texts.get(touch.id)} />`)}${group.touched.length > SHOWN && html`<li class="faint">… and ${number(group.touched.length - SHOWN)} more</li>`}</ul>
      <span class="about">by ${group.actor || "nobody named"} · #${group.seq}${group.commits > 1 ? `, ${group.commits} commits` : ""}</span></div>
    <div>${may("write") && group.change && html`<button class="quiet" onClick=${() => undo(group.change, again)}>Undo…</button>`}</div></li>`)}</ol>`;
}

function said(group) {
  const count = (test) => group.touched.filter(test).length;
  const made = count((t) => t.kind === "record" && !t.before && t.after);
  const erased = count((t) => t.kind === "record" && !t.after);
  const altered = count((t) => t.kind === "record" && t.before && t.after);
  const messages = count((t) => t.kind === "message" && t.after);
  const parts = [messages && plural(messages, "message") + " heard", made && plural(made, "memory", "memories") + " made", altered && plural(altered, "memory", "memories") + " changed",
    erased && plural(erased, "memory", "memories") + " erased"].filter(Boolean);
  const edges = count((t) => t.kind === "relation");
  return parts.join(", ") || (edges && plural(edges, "edge") + " drawn") || `${plural(group.touched.length, "thing")} changed`;
}

const SHOWN = 6;
const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const readable = (value) => (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? html`<${Time} at=${value} />`
  : value === null || value === undefined ? "none" : clip(plain(value), 40));

function Touch({ touch, text }) {
  const did = touch.after === null ? "erased" : touch.before === null ? "made" : "changed";
  const fields = touch.before && touch.after
    ? Object.keys(touch.after).filter((name) => name !== "version" && plain(touch.after[name]) !== plain(touch.before[name])) : [];
  return html`<li><span class="tag did-${did}">${did}</span> ${touch.kind === "relation" ? html`edge ${touch.id.split(" ")[1]}` : touch.kind === "record" && touch.after
    ? html`<a class="said" dir="auto" href=${address("memories", touch.id)}>${text === undefined ? html`<${Id} id=${touch.id} />` : clip(text, 110)}</a>`
    : html`${touch.kind} <${Id} id=${touch.id} />`}
    ${fields.slice(0, 4).map((name) => html`<span class="field-change">${name} <del>${readable(touch.before[name])}</del> <ins>${readable(touch.after[name])}</ins></span>`)}</li>`;
}

const SIGNS = { archive: "−", supersede: "−", settle: "✓", dispute: "?", merge: "⇉", importance: "±", profile: "+", procedure: "+" };

function DryRun({ scope }) {
  const [state, setState] = useState({ receipt: null, busy: false, error: null });
  const run = async (dry) => {
    setState({ receipt: null, busy: true, error: null });
    try {
      const job = await finished(await post("/v1/maintain", { dry_run: dry, ...(scope ? { scope } : {}) }));
      setState({ receipt: { ...job.receipt, dry }, busy: false, error: null });
    } catch (error) { setState({ receipt: null, busy: false, error }); }
  };
  const { receipt } = state;
  return html`<${Panel} title="Consolidation" aside=${html`<button disabled=${state.busy} onClick=${() => run(true)}>${state.busy ? "Looking…" : "What would it change?"}</button>`}>
    <${Trouble} error=${state.error} />
    ${receipt && html`<ul class="dry">${receipt.items.slice(0, 100).map((item) => html`<li class="step-${item.step || item.status}"><b aria-hidden="true">${SIGNS[item.step] || "·"}</b> ${item.step || item.status}
        <a href=${address("memories", item.id)}><${Id} id=${item.id} /></a> ${item.reason}</li>`)}${!receipt.items.length && html`<li class="faint">Nothing to do.</li>`}</ul>
      <p class="notes">${receipt.notes.map((note) => html`<span>${note}</span>`)}</p>
      ${receipt.dry && receipt.items.length > 0 && html`<div class="buttons"><button class="primary" onClick=${() => run(false)}>Do it</button></div>`}`}
    ${!receipt && !state.error && html`<p class="faint">Upkeep merges, settles and retires by itself, each run as one change. Here you see the next run before it happens.</p>`}<//>`;
}

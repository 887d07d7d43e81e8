// What several screens are made of.
import { box, clip, Fragment, html, number, useEffect, useRef, useState, useValue } from "./lib.js";
import { address } from "./route.js";
import { Gone, may, post, Problem, useLoad } from "./api.js";
import { Time } from "./time.js";

export const KINDS = ["semantic", "episodic", "procedural"];
export const TYPES = ["fact", "preference", "turn", "episode", "summary", "interaction",
  "user_request", "entity", "interest", "procedure"];
export const STATUSES = ["active", "disputed", "quarantined", "superseded", "archived"];
export const SOURCES = ["user", "assistant", "tool", "web", "import", "file", "system"];
export const TRUST = ["Anybody may have written it", "A program said it", "An assistant or a file says it", "A person said it"];
const LONG = 6000;
const PIECE = 4000;

// Text of a memory is data: it goes into the page as text, never as markup. A long one is cut, and
// shown whole in pieces, of which a browser lays out only those that can be seen.
export function Said({ text, most = LONG, className = "" }) {
  const [all, setAll] = useState(false);
  if (text.length <= most) return html`<div class="said ${className}" dir="auto">${text}</div>`;
  if (all) {
    return html`<div class="said ${className}">${pieces(text).map((one) => html`<div class="piece ${/\s/.test(one) ? "" : "solid"}" dir="auto">${one}</div>`)}</div>`;
  }
  return html`<div class="said ${className} ${/\s/.test(text.slice(0, most)) ? "" : "solid"}" dir="auto">${text.slice(0, most)}</div>
    <button class="quiet" onClick=${() => setAll(true)}>Show all ${number(text.length)} characters</button>`;
}

// Cut behind a line or a word where there is one.
function pieces(text) {
  const found = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + PIECE, text.length);
    const blank = Math.max(text.lastIndexOf("\n", end), text.lastIndexOf(" ", end));
    if (end < text.length && blank > at + PIECE / 2) end = blank + 1;
    else if (end < text.length && /[\uDC00-\uDFFF]/.test(text[end])) end -= 1;
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

export const Status = ({ status }) => html`<span class="tag status-${status}">${status}</span>`;
export const Kind = ({ kind, type }) => html`<span class="tag kind-${kind}">${(type || kind).replace("_", " ")}</span>`;
export const Scope = ({ scope }) => html`<a class="scope" href=${address("memories", "", { scope })}
  title="Memories of ${scope}">${scope}</a>`;
export const Id = ({ id }) => html`<code class="id" title=${id}>${id.length > 13 ? `…${id.slice(-8)}` : id}</code>`;
export const Key = ({ children }) => html`<kbd>${children}</kbd>`;

export function RecordLink({ record, most = 160 }) {
  return html`<a class="said" dir="auto" href=${address("memories", record.id)}>${clip(record.text, most) || "(no text)"}</a>`;
}

// As `origin_mark` of `standfast.types`: what no person said is marked.
const MARKS = { assistant: "agent", tool: "tool", web: "web", import: "import" };
function originMark({ source, trust }) {
  if (!(trust < 3)) return "";
  return MARKS[source] || (source === "file" && trust === 2 ? "" : ["web", "import", "agent"][trust]);
}

export function About({ record }) {
  return html`<span class="about spread">
    <${Kind} kind=${record.kind} type=${record.type} />
    ${originMark(record) && html`<span class="tag">${originMark(record)}</span>`}
    ${record.status !== "active" && html`<${Status} status=${record.status} />`}
    ${record.durability === "core" && html`<span class="tag pinned">pinned</span>`}
    <${Time} at=${record.valid_from || record.learned_at} date />
    <${Scope} scope=${record.scope} />
    ${record.author && html`<span dir="auto">by ${clip(record.author, 60)}</span>`}
    ${record.tags.slice(0, 6).map((tag) => html`<span class="hash" dir="auto">#${clip(tag, 40)}</span>`)}
  </span>`;
}

// What there is to see while, or instead of, what was asked for.
export function Trouble({ error, again }) {
  if (!error) return null;
  const gone = error instanceof Gone;
  const title = gone ? "The server is not there" : error instanceof Problem && error.status === 403
    ? "Your key does not reach that far" : "That did not work";
  return html`<div class="trouble" role="alert"><strong>${title}.</strong> ${error.message}
    ${gone ? " This page asks again by itself." : again && html` <button onClick=${again}>Try again</button>`}</div>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><h3>${title}</h3><div>${children}</div></div>`;
}

export function Loaded({ of, children, lines = 6 }) {
  if (of.data !== null && of.data !== undefined) {
    return html`<${Trouble} error=${of.error} again=${of.again} />${children(of.data)}`;
  }
  if (of.error) return html`<${Trouble} error=${of.error} again=${of.again} />`;
  return html`<div class="loading" aria-busy="true" aria-label="Loading">
    ${Array.from({ length: lines }, () => html`<div class="bone"></div>`)}</div>`;
}

export function Panel({ title, aside, children, className = "", id }) {
  return html`<section class="panel ${className}" aria-label=${title}>
    <header><h2 id=${id}>${title}</h2>${aside && html`<div class="aside">${aside}</div>`}</header>
    ${children}</section>`;
}

export function Bars({ rows, unit = "" }) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return html`<table class="bars"><tbody>${rows.map((row) => html`<tr>
    <th scope="row">${row.href ? html`<a href=${row.href}>${row.name}</a>` : row.name}</th>
    <td class="bar"><span class="fill ${row.tone || ""}" style=${{ width: `${(100 * row.value) / most}%` }}></span></td>
    <td class="num">${row.shown || number(row.value)}${unit}</td></tr>`)}</tbody></table>`;
}

export function Field({ label, children, hint }) {
  return html`<label class="field"><span>${label}${hint && html`<small>${hint}</small>`}</span>${children}</label>`;
}

export function Choice({ label, value, options, onChange, any = "any" }) {
  return html`<${Field} label=${label}><select value=${value || ""} onChange=${(e) => onChange(e.target.value)}>
    ${any !== null && html`<option value="">${any}</option>`}
    ${options.map((one) => html`<option value=${one} selected=${one === value}>${one.replace("_", " ")}</option>`)}
  </select></${Field}>`;
}

// Dialogs and notices: one of each, wherever they are asked for.
const dialog = box(null);
const notices = box([]);
export const lastChange = box(null);

export function show(content) { dialog.set(content); }
export function hide() { dialog.set(null); }

export function notify(said, { change = "", bad = false } = {}) {
  const notice = { said, change, bad, id: Math.random() };
  if (change) lastChange.set(change);
  notices.set((old) => [...old.slice(-2), notice]);
  setTimeout(() => notices.set((old) => old.filter((one) => one !== notice)), bad ? 12000 : 8000);
}

export function Layer() {
  const content = useValue(dialog);
  const told = useValue(notices);
  const element = useRef(null);
  useEffect(() => {
    if (content && !element.current.open) element.current.showModal();
    if (!content && element.current.open) element.current.close();
  }, [content]);
  return html`<dialog ref=${element} onClose=${hide} aria-label=${content?.title || "Dialog"}>
      ${content && html`<form method="dialog" class="dialog" onSubmit=${(e) => e.preventDefault()}>
        <h2>${content.title}</h2><${content.body} ...${content.props} /></form>`}
    </dialog>
    <div class="notices" role="status" aria-live="polite">${told.map((one) => html`<div class="notice ${one.bad ? "bad" : ""}" key=${one.id}>
      <span>${one.said}</span>${one.change && may("write") && html`<button onClick=${() => undo(one.change)}>Undo <${Key}>u<//></button>`}
    </div>`)}</div>`;
}

// One act: done, told, and undone by `u` where it can be.
export async function act(said, work) {
  try {
    const receipt = await work();
    const skipped = receipt.items?.length && receipt.items.every((one) => one.status === "skipped");
    if (skipped) notify(receipt.items[0].reason || "Nothing was done.", { bad: true });
    else notify(typeof said === "function" ? said(receipt) : said, { change: receipt.change });
    return skipped ? null : receipt;
  } catch (error) {
    notify(error.message, { bad: true });
    return null;
  }
}

// Undo shows what would come back before anything does.
export function undo(change, after = () => {}) {
  show({ title: "Take this change back?", body: UndoPreview, props: { change, after } });
}

function UndoPreview({ change, after }) {
  const plan = useLoad(() => post("/v1/undo", { change, dry_run: true }), [change]);
  const done = async () => {
    hide();
    if (await act("The change is taken back.", () => post("/v1/undo", { change }))) after();
  };
  return html`<${Loaded} of=${plan} lines=${2}>${(receipt) => html`
    <ul class="plan">${receipt.items.slice(0, 50).map((item) => html`<li>
      <span class="tag item-${item.status}">${item.status}</span> <${Id} id=${item.id} /> ${item.reason}</li>`)}
      ${receipt.items.length > 50 && html`<li>… and ${number(receipt.items.length - 50)} more</li>`}
      ${!receipt.items.length && html`<li>Nothing would change.</li>`}</ul>
    <p class="faint">Undo is a change too: it can be undone.</p>
    <div class="buttons"><button onClick=${hide}>Keep it</button>
      <button class="primary" onClick=${done}>Take it back</button></div>`}<//>
    ${plan.error && html`<div class="buttons"><button onClick=${hide}>Close</button></div>`}`;
}

export function forget(record, after = () => {}) {
  show({ title: "Erase for good?", body: ForgetPreview, props: { record, after } });
}

function ForgetPreview({ record, after }) {
  const [sources, setSources] = useState(false);
  const [several, setSeveral] = useState(false);
  const wish = { ids: [record.id], sources };
  const plan = useLoad(() => post("/v1/forget", { ...wish, dry_run: true }), [sources]);
  const done = async () => {
    hide();
    if (await act("Erased for good.", () => post("/v1/forget", { ...wish, several_authors: several }))) after();
  };
  return html`<label class="check"><input type="checkbox" checked=${sources}
        onChange=${(e) => { setSources(e.target.checked); setSeveral(false); }} />
      also what it was made from, and copies</label>
    <${Loaded} of=${plan} lines=${2}>${(receipt) => {
      const authors = [...new Set(receipt.items.map((item) => item.author).filter(Boolean))].sort();
      return html`<p><strong>This would be erased</strong>, with its words,
      vectors and edges, down to the bytes of the file:</p>
      <ul class="plan">${receipt.items.map((item) => html`<li><span class="tag item-${item.status}">${item.status}</span>
        <span class="said" dir="auto">${clip(item.text, 240)}</span>
        <span class="faint">${item.author ? `by ${item.author}` : "by nobody named"}</span> <${Id} id=${item.id} /> ${item.reason}</li>`)}</ul>
      ${receipt.survivors.length > 0 && html`<p>Still holding it: ${receipt.survivors.map((id) => html`<${Id} id=${id} /> `)}</p>`}
      ${authors.length > 1 && html`<label class="check"><input type="checkbox" checked=${several}
        onChange=${(e) => setSeveral(e.target.checked)} /> erase it although it is by ${authors.join(", ")}</label>`}
      <p class="warning">This cannot be undone.</p>
      <div class="buttons"><button onClick=${hide}>Keep it</button>
        <button class="danger" disabled=${authors.length > 1 && !several}
          onClick=${done}>Erase ${receipt.items.length} for good</button></div>`;
    }}<//>
    ${plan.error && html`<div class="buttons"><button onClick=${hide}>Close</button></div>`}`;
}

export function askText(title, { label, text = "", button = "Save", note }, done) {
  show({ title, body: TextWanted, props: { label, text, button, note, done } });
}

function TextWanted({ label, text, button, note, done }) {
  const [said, setSaid] = useState(text);
  const send = () => { if (said.trim()) { hide(); done(said); } };
  return html`<${Field} label=${label}><textarea rows="5" dir="auto" autofocus value=${said}
      onInput=${(e) => setSaid(e.target.value)}
      onKeyDown=${(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) send(); }}></textarea><//>
    ${note && html`<p class="faint">${note}</p>`}
    <div class="buttons"><button onClick=${hide}>Cancel</button>
      <button class="primary" disabled=${!said.trim()} onClick=${send}>${button}</button></div>`;
}

export const Several = ({ parts, between = " · " }) =>
  html`<${Fragment}>${parts.filter(Boolean).map((part, n) => html`${n > 0 && between}${part}`)}<//>`;

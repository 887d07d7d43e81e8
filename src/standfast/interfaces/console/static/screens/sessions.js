// Conversations: what was said, beside it what was learned or not and why; live while it grows.
import { clip, html, number, plural, useEffect, useMemo, useRef, useState } from "../lib.js";
import { address, go, useRoute } from "../route.js";
import { get, Problem, useLoad } from "../api.js";
import { Empty, Kind, Loaded, Panel, RecordLink, Said, Scope, Status, Trouble } from "../parts.js";
import { Rows } from "../rows.js";
import { Time } from "../time.js";

const PAGE = 200;

export function Sessions() {
  const { id, params } = useRoute();
  return id ? html`<${Talk} id=${id} scope=${params.scope} key=${`${params.scope} ${id}`} />` : html`<${List} />`;
}

function List() {
  const { scope } = useRoute().params;
  const loaded = useLoad(() => get("/v1/sessions", { scope, descend: Boolean(scope), limit: 1000 }), [scope], { live: true });
  const waiting = useLoad(() => get("/v1/pending", { scope }).catch((error) => { if (error instanceof Problem) return { messages: [] }; throw error; }), [scope], { live: true });
  const [chosen, setChosen] = useState(null);
  return html`<${Loaded} of=${loaded}>${(page) => html`
    ${waiting.data?.messages.length > 0 && html`<${Panel} title="Waiting messages" aside=${html`<span class="faint">delivered with the next packet</span>`}>
      <ul class="list">${waiting.data.messages.slice(0, 20).map((one) => html`<li><span class="said" dir="auto">${clip(one.text, 200)}</span>
        <span class="about"><${Time} at=${one.at} relative /> · ${one.author || one.role} · ${one.scope}</span></li>`)}</ul><//>`}
    ${page.items.length ? html`<p class="count">${number(page.items.length)}${page.next ? " or more" : ""} sessions</p>
      <${Rows} items=${page.items} height=${48} label="Sessions" chosen=${chosen} onChoose=${setChosen}
        open=${(one) => go("sessions", one.id, { scope: one.scope })} render=${(one) => html`<div class="line">
          <span class="said" dir="auto">${one.id}</span><span class="about spread"><${Time} at=${one.started_at} none="" /> <span>${plural(one.last_seq, "message")}</span>
          ${one.channel && html`<span>${one.channel}</span>`} ${one.ended_at && html`<span class="tag">ended</span>`} <span class="scope">${one.scope}</span></span></div>`} />`
      : html`<${Empty} title="No conversation was observed here yet"><p>An agent tells what is said with <code>memory.observe("chat/42", messages)</code>
          or <code>POST /v1/observe</code>; each message is then here, with what was learned from it.</p><//>`}`}<//>`;
}

async function load(id, scope) {
  const where = { session: id, scope };
  const [messages, summaries, learned] = await Promise.all([
    get("/v1/messages", { ...where, newest: true, limit: PAGE }),
    get("/v1/summaries", { ...where, limit: 50 }),
    get("/v1/records", { session: id, scope, limit: 1000, newest: true }),
  ]);
  const session = (await get("/v1/sessions", { scope, limit: 1000 })).items.find((one) => one.id === id && one.scope === (scope || one.scope));
  return { messages: messages.items.reverse(), older: messages.next, summaries: summaries.summaries, learned: learned.items, session };
}

function Talk({ id, scope }) {
  const loaded = useLoad(() => load(id, scope), [id, scope], { live: true });
  const [older, setOlder] = useState([]);
  const [next, setNext] = useState(null);
  const [error, setError] = useState(null);
  const end = useRef(null);
  const count = loaded.data?.messages.at(-1)?.seq;
  useEffect(() => { end.current?.scrollIntoView({ block: "nearest" }); }, [count]);
  const more = async () => {
    try {
      const page = await get("/v1/messages", { session: id, scope, newest: true, limit: PAGE, cursor: next ?? loaded.data.older });
      setOlder([...page.items.reverse(), ...older]);
      setNext(page.next);
    } catch (trouble) { setError(trouble); }
  };
  return html`<p class="crumbs"><a href=${address("sessions")}>Sessions</a> / <strong dir="auto">${clip(id, 80)}</strong> ${scope && html`<${Scope} scope=${scope} />`}
      · <a href=${address("packet", "", { session: id })}>its packet</a></p>
    <${Loaded} of=${loaded}>${(data) => {
      const seen = new Set(data.messages.map((one) => one.id));
      const all = [...older.filter((one) => !seen.has(one.id)), ...data.messages];
      return html`<${Head} data=${data} />
        ${(next ?? data.older) && html`<button onClick=${more}>Older messages</button>`}<${Trouble} error=${error} />
        <${Folds} summaries=${data.summaries} />
        <ol class="talk">${all.map((message) => html`<${Line} key=${message.id} message=${message} data=${data} />`)}</ol>
        ${!all.length && html`<p class="faint">Nothing was said in it, or it was forgotten.</p>`}<div ref=${end}></div>`;
    }}<//>`;
}

function Head({ data: { session, learned } }) {
  if (!session) return null;
  const behind = Object.entries(session.cursors).filter(([, at]) => at < session.last_seq);
  const facts = learned.filter((one) => one.type !== "turn").length;
  return html`<p class="notes"><span>${plural(session.last_seq, "message")}</span><span>${plural(facts, "memory", "memories")} learned from it</span>
    ${session.ended_at && html`<span>ended <${Time} at=${session.ended_at} relative /></span>`}
    ${behind.map(([reader, at]) => html`<span class="warning">${reader} has read up to #${at}</span>`)}</p>
    ${Object.keys(session.state).length > 0 && html`<${Panel} title="State of the task"><pre tabindex="0" dir="auto">${clip(JSON.stringify(session.state, null, 2), 3000)}</pre><//>`}`;
}

function Folds({ summaries }) {
  if (!summaries.length) return null;
  return html`<details class="folds"><summary>${plural(summaries.length, "summary", "summaries")} of older messages</summary>
    <ol class="list">${summaries.map((one) => html`<li><span class="about">#${one.from_seq} to #${one.to_seq} · ${one.how === "model" ? "by a model" : "an extract"} · <${Time} at=${one.learned_at} /></span>
      <${Said} text=${one.text} most=${1200} /></li>`)}</ol></details>`;
}

// Beside each message: what came of it, or why nothing did.
function Line({ message, data }) {
  const made = useMemo(() => data.learned.filter((one) => one.lineage.includes(message.id)), [data, message.id]);
  const turn = made.find((one) => one.type === "turn");
  const facts = made.filter((one) => one.type !== "turn");
  const reader = Object.entries(data.session?.cursors || {}).find(([name]) => name.startsWith("learn"));
  const unread = reader && reader[1] < message.seq;
  const nothing = message.pending ? "waits to be delivered" : turn?.status === "quarantined" ? null
    : unread ? "not read yet" : message.role === "user" ? "nothing to learn in it" : `${message.role} messages are searched, not learned from`;
  return html`<li class="role-${message.role}"><div class="words">
      <span class="about"><strong>${message.author || message.role}</strong> · <${Time} at=${message.at} /> · #${message.seq} ${message.source !== "user" && html`· ${message.source}`}</span>
      <${Said} text=${message.text || "(no text)"} most=${3000} />
      ${message.calls.length > 0 && html`<p class="faint">calls ${message.calls.map((call) => html`<code>${clip(call.name, 60)}</code> `)}</p>`}</div>
    <aside aria-label="What was learned">${facts.map((one) => html`<div><${Kind} kind=${one.kind} type=${one.type} /> ${one.status !== "active" && html`<${Status} status=${one.status} />`} <${RecordLink} record=${one} most=${140} /></div>`)}
      ${turn?.status === "quarantined" && html`<div class="warning">held back: it ${clip(String(turn.data.suspicion || "was doubted"), 200)}</div>`}
      ${!facts.length && nothing && html`<span class="faint">${nothing}</span>`}</aside></li>`;
}

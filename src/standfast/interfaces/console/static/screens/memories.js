// Every record: a list that is as long as it is, filters, search; and one record's page.
import { clip, html, number, useEffect, useRef, useState } from "../lib.js";
import { alter, go, useRoute } from "../route.js";
import { get, post } from "../api.js";
import { Choice, Empty, Field, Kind, KINDS, SOURCES, Status, STATUSES, Trouble, TYPES } from "../parts.js";
import { Rows } from "../rows.js";
import { ScopeTree } from "../scopes.js";
import { fromLocal, Time, toLocal } from "../time.js";
import { RecordPage } from "./record.js";

const PAGE = 500;
const FILTERS = ["kind", "type", "status", "tag", "source", "author", "since", "until"];

export function Memories() {
  const { id } = useRoute();
  return id ? html`<${RecordPage} id=${id} key=${id} />` : html`<${Browse} />`;
}

const slim = (record) => ({
  id: record.id, text: record.text.slice(0, 400), kind: record.kind, type: record.type, status: record.status,
  scope: record.scope, durability: record.durability, at: record.valid_from || record.learned_at,
  author: record.author, tags: record.tags, score: record.score,
});

function asked(params) {
  return {
    scope: params.scope, descend: Boolean(params.scope), kinds: params.kind, types: params.type, tags: params.tag,
    statuses: params.status, sources: params.source, authors: params.author, since: params.since, until: params.until,
  };
}

// The pages that were read, and how many there are, where that is known.
function useRecords(params) {
  const [state, setState] = useState({ items: [], total: null, next: "", error: null, loading: true });
  const turn = useRef(0);
  const now = useRef(state);
  now.current = state;
  const change = (mine, part) => { if (mine === turn.current) setState((old) => ({ ...old, ...part })); };
  const page = async (mine, cursor, wanted = 0) => {
    try {
      let [next, items] = [cursor, cursor ? now.current.items : []];
      do {
        const answer = await get("/v1/records", { ...asked(params), newest: params.order !== "oldest", limit: PAGE, cursor: next });
        if (mine !== turn.current) return;
        items = [...items, ...answer.items.map(slim)];
        next = answer.next;
        change(mine, { items, next, error: null, loading: Boolean(next && items.length < wanted) });
      } while (next && items.length < wanted);
    } catch (error) { change(mine, { error, loading: false }); }
  };
  const begin = async () => {
    const mine = ++turn.current;
    setState({ items: [], total: null, next: "", error: null, loading: true });
    if (params.q) {
      try {
        const filters = asked(params);
        const list = (one) => (one ? [one] : undefined);
        const answer = await post("/v1/recall", {
          query: params.q, limit: 200, explain: true, threshold: 0, ...(params.scope ? { scope: params.scope, descend: true } : {}),
          kinds: list(filters.kinds), types: list(filters.types), tags: list(filters.tags),
          statuses: params.status ? [params.status] : STATUSES.filter((one) => one !== "quarantined"),
          since: params.since || undefined, until: params.until || undefined,
        });
        change(mine, { items: answer.hits.map(slim), total: answer.hits.length, next: "", loading: false });
      } catch (error) { change(mine, { error, loading: false }); }
      return;
    }
    await page(mine, "");
    if (FILTERS.every((name) => !params[name])) {
      get("/v1/stats", params.scope ? { scope: params.scope, descend: true } : {}).then(
        (stats) => change(mine, { total: stats.records }), () => {});
    }
  };
  useEffect(() => { begin(); return () => { turn.current += 1; }; }, [JSON.stringify(params)]);
  const more = (wanted) => {
    const { next, loading, items } = now.current;
    if (!next || loading || wanted < items.length - 50) return;
    setState((old) => ({ ...old, loading: true }));
    page(turn.current, next, wanted);
  };
  return { ...state, more, again: begin };
}

function Browse() {
  const { params } = useRoute();
  const found = useRecords(params);
  const [chosen, setChosen] = useState(null);
  const [open, setOpen] = useState(FILTERS.some((name) => params[name]));
  const [query, setQuery] = useState(params.q || "");
  useEffect(() => setChosen(null), [JSON.stringify(params)]);
  useEffect(() => setQuery(params.q || ""), [params.q]);
  const set = (name) => (value) => alter({ [name]: value }, { replace: false });
  const used = FILTERS.filter((name) => params[name]).length;
  return html`<div class="browse">
    <aside aria-label="Scopes"><h2>Scopes</h2><${ScopeTree} chosen=${params.scope || ""} choose=${(scope) => alter({ scope }, { replace: false })} /></aside>
    <div class="found">
      <form class="search" role="search" onSubmit=${(e) => { e.preventDefault(); set("q")(query.trim()); }}>
        <input type="search" data-search aria-label="Search memories" placeholder="Search by words and meaning" value=${query}
          onInput=${(e) => { setQuery(e.target.value); if (!e.target.value && params.q) set("q")(""); }} />
        <button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}>Filters${used ? ` (${used})` : ""}</button>
      </form>
      ${open && html`<div class="filters">
        <${Choice} label="Kind" value=${params.kind} options=${KINDS} onChange=${set("kind")} />
        <${Choice} label="Type" value=${params.type} options=${TYPES} onChange=${set("type")} />
        <${Choice} label="Status" value=${params.status} options=${STATUSES} onChange=${set("status")} />
        <${Choice} label="Source" value=${params.source} options=${SOURCES} onChange=${set("source")} />
        <${Field} label="Tag"><input value=${params.tag || ""} onChange=${(e) => set("tag")(e.target.value.trim())} /><//>
        <${Field} label="Author"><input value=${params.author || ""} onChange=${(e) => set("author")(e.target.value.trim())} /><//>
        <${Field} label="Since"><input type="datetime-local" value=${toLocal(params.since)} onChange=${(e) => set("since")(fromLocal(e.target.value))} /><//>
        <${Field} label="Until"><input type="datetime-local" value=${toLocal(params.until)} onChange=${(e) => set("until")(fromLocal(e.target.value))} /><//>
        ${used > 0 && html`<button onClick=${() => alter(Object.fromEntries(FILTERS.map((n) => [n, ""])), { replace: false })}>Clear</button>`}
      </div>`}
      <p class="count" role="status">${told(found, params)}
        ${!params.q && html` · <button class="quiet" onClick=${() => set("order")(params.order === "oldest" ? "" : "oldest")}>
          ${params.order === "oldest" ? "oldest first" : "newest first"}</button>`}</p>
      <${Trouble} error=${found.error} again=${found.again} />
      ${!found.items.length && !found.loading && !found.error
        ? html`<${Empty} title=${params.q || used ? "Nothing matches" : "Nothing is remembered here yet"}>
            ${params.q || used ? "Take a filter away, or look in every scope." : html`<code>standfast remember "..."</code> puts the first memory in.`}<//>`
        : html`<${Rows} items=${found.items} total=${found.total} height=${56} label="Memories" chosen=${chosen} onChoose=${setChosen}
            more=${found.more} open=${(record) => go("memories", record.id)} render=${(record) => html`<${Line} record=${record} />`} />`}
    </div>
  </div>`;
}

function told(found, params) {
  if (found.loading && !found.items.length) return "Reading…";
  if (params.q) return `The best ${number(found.items.length)} for “${clip(params.q, 60)}”`;
  if (found.total !== null) return `${number(found.total)} records${found.loading ? `, ${number(found.items.length)} read` : ""}`;
  return `${number(found.items.length)}${found.next ? " or more" : ""} records`;
}

function Line({ record }) {
  return html`<div class="line kind-${record.kind}">
    <span class="said" dir="auto">${record.text || "(no text)"}</span>
    <span class="about spread"><${Kind} kind=${record.kind} type=${record.type} />
      ${record.status !== "active" && html`<${Status} status=${record.status} />`}
      ${record.durability === "core" && html`<span class="tag pinned">pinned</span>`}
      <${Time} at=${record.at} date /><span class="scope">${record.scope}</span>
      ${record.author && html`<span dir="auto">by ${clip(record.author, 40)}</span>`}
      ${record.score !== undefined && html`<span class="num">${record.score.toFixed(3)}</span>`}</span></div>`;
}

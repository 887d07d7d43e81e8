// The scope that everything on the page is about, and the tree of all of them.
import { html, number, useEffect, useMemo, useRef, useState } from "./lib.js";
import { alter, useRoute } from "./route.js";
import { get, useLoad } from "./api.js";
import { Loaded } from "./parts.js";

const PAGES_MAX = 5;

// Up to a few thousand; whoever has more writes the scope's name.
export async function allScopes() {
  const found = [];
  let cursor = "";
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await get("/v1/scopes", { limit: 1000, cursor });
    found.push(...answer.items);
    cursor = answer.next;
    if (!cursor) return { scopes: found, more: false };
  }
  return { scopes: found, more: true };
}

export function ScopePicker() {
  const { params } = useRoute();
  const [open, setOpen] = useState(false);
  const around = useRef(null);
  useEffect(() => {
    if (!open) return undefined;
    const away = (event) => { if (!around.current.contains(event.target)) setOpen(false); };
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [open]);
  const choose = (scope) => { setOpen(false); alter({ scope }, { replace: false }); };
  return html`<div class="picker" ref=${around} onKeyDown=${(e) => { if (e.key === "Escape") setOpen(false); }}>
    <button aria-haspopup="true" aria-expanded=${open} onClick=${() => setOpen(!open)} title="Whose memories">
      <span class="faint">scope</span> ${params.scope || "every scope"}</button>
    ${open && html`<div class="popover"><${ScopeTree} choose=${choose} chosen=${params.scope || ""} /></div>`}
  </div>`;
}

export function ScopeTree({ choose, chosen }) {
  const loaded = useLoad(allScopes, []);
  const [filter, setFilter] = useState("");
  return html`<div class="tree">
    <input type="search" placeholder="Find or write a scope" aria-label="Find or write a scope" autofocus value=${filter}
      onInput=${(e) => setFilter(e.target.value)}
      onKeyDown=${(e) => { if (e.key === "Enter" && filter.trim()) { e.preventDefault(); choose(filter.trim()); } }} />
    <${Loaded} of=${loaded} lines=${4}>${(data) => html`<${Branches} ...${{ data, filter, choose, chosen }} />`}<//>
  </div>`;
}

function Branches({ data, filter, choose, chosen }) {
  const shown = useMemo(
    () => data.scopes.filter((one) => one.scope.includes(filter.trim())).slice(0, 300),
    [data, filter],
  );
  const whole = data.scopes.filter((one) => one.scope.split(":").length === 2)
    .reduce((sum, one) => sum + one.below, 0);
  const line = (scope, name, depth, count, own) => html`<li><button class="quiet ${scope === chosen ? "chosen" : ""}"
    style=${{ paddingInlineStart: `${0.5 + depth}rem` }} aria-pressed=${scope === chosen} onClick=${() => choose(scope)}
    title=${own === undefined ? "" : `${number(own)} in it, ${number(count)} with all below`}>
    <span>${name}</span><span class="num faint">${number(count)}</span></button></li>`;
  return html`<ul>${!filter && line("", "every scope", 0, whole)}
    ${shown.map((one) => {
      const parts = one.scope.split(":");
      const depth = filter ? 0 : parts.length / 2 - 1;
      return line(one.scope, filter || !depth ? one.scope : parts.slice(-2).join(":"), depth, one.below, one.records);
    })}
    ${!shown.length && filter && html`<li class="faint">Enter looks into ${filter}</li>`}
    ${data.more && html`<li class="faint">There are more: write the name.</li>`}</ul>`;
}

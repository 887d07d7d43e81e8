// The shell: who is looking, where they are, what their keys do.
import { html, render, useEffect, useRef, useState, useValue } from "./lib.js";
import { address, CODE, go, route, useRoute } from "./route.js";
import { enter, forgetKey, get, key, listen, login, logout, me, online, why } from "./api.js";
import { Field, hide, Key, lastChange, Layer, Panel, show, Trouble, undo } from "./parts.js";
import { ScopePicker } from "./scopes.js";
import { Overview } from "./screens/overview.js";
import { Memories } from "./screens/memories.js";
import { Recall } from "./screens/recall.js";
import { Packet } from "./screens/packet.js";
import { Timeline } from "./screens/timeline.js";
import { Sessions } from "./screens/sessions.js";
import { Review } from "./screens/review.js";
import { Changes } from "./screens/changes.js";
import { Graph } from "./screens/graph.js";
import { Operations } from "./screens/operations.js";

const SCREENS = [
  ["overview", "Overview", "o", Overview],
  ["memories", "Memories", "m", Memories],
  ["recall", "Recall", "r", Recall],
  ["packet", "Packet", "p", Packet],
  ["timeline", "Timeline", "t", Timeline],
  ["sessions", "Sessions", "s", Sessions],
  ["review", "Review", "i", Review],
  ["changes", "Changes", "c", Changes],
  ["graph", "Graph", "n", Graph],
  ["operations", "Operations", "x", Operations],
];

function App() {
  const secret = useValue(key);
  const who = useValue(me);
  const [error, setError] = useState(null);
  const [tried, setTried] = useState(!CODE);
  const load = () => {
    setError(null);
    get("/v1/me").then(me.set, (trouble) => { if (trouble.status !== 401) setError(trouble); });
  };
  useEffect(() => {
    if (!CODE || tried) return;
    login(CODE).catch((trouble) => why.set(trouble.message)).finally(() => setTried(true));
  }, []);
  useEffect(() => { if (secret) load(); }, [secret]);
  const isOnline = useValue(online);
  useEffect(() => { if (isOnline && error && secret) load(); }, [isOnline]);
  if (!tried) return html`<main class="login"><p>Opening…</p></main>`;
  if (!secret) return html`<${Login} /><${Layer} />`;
  if (!who) {
    return html`<main class="login"><${Trouble} error=${error} again=${load} />
      ${error && html`<button onClick=${() => forgetKey()}>Use another key</button>`}</main>`;
  }
  return html`<${Shell} /><${Layer} />`;
}

function Login() {
  const [said, setSaid] = useState("");
  const [keep, setKeep] = useState(false);
  const [error, setError] = useState(null);
  const reason = useValue(why);
  const submit = async (event) => {
    event.preventDefault();
    if (!said.trim()) return;
    try {
      await enter(said.trim(), { keep });
    } catch (trouble) { setError(trouble); }
  };
  return html`<main class="login"><form onSubmit=${submit}>
    <h1><img src="/console/icon.svg" alt="" width="28" height="28" /> standfast</h1>
    <p>See what an agent believes, why, and since when; and change it.</p>
    ${reason && html`<p class="warning" role="status">${reason}</p>`}
    <${Field} label="A one-time code, or a key"><input type="password" autocomplete="off" autofocus
      spellcheck="false" value=${said} onInput=${(e) => setSaid(e.target.value)} /><//>
    <label class="check"><input type="checkbox" checked=${keep} onChange=${(e) => setKeep(e.target.checked)} />
      keep it until this tab is closed</label>
    <${Trouble} error=${error} />
    <button class="primary wide" type="submit">Open the console</button>
    <p class="faint">On the server's machine, <code>standfast console</code> prints a link that opens this page
      once. Without it, the key stays in this page's memory and is gone when you reload.</p>
  </form></main>`;
}

function Shell() {
  const where = useRoute();
  const isOnline = useValue(online);
  const found = SCREENS.find(([name]) => name === where.screen);
  const main = useRef(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const ending = new AbortController();
    listen(where.params.scope, ending.signal);
    return () => ending.abort();
  }, [where.params.scope]);
  useEffect(() => {
    document.title = `${found ? found[1] : "Not found"} · standfast`;
    setOpen(false);
    if (main.current) main.current.scrollTop = 0;
  }, [where.screen, where.id]);
  useShortcuts();
  const Screen = found?.[3];
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); main.current.focus(); }}>Skip to the content</a>
    <nav aria-label="Screens" class=${open ? "open" : ""}>
      <a class="brand" href=${address("overview")}><img src="/console/icon.svg" alt="" width="22" height="22" /><span>standfast</span></a>
      <ul>${SCREENS.map(([name, title, letter]) => html`<li><a href=${address(name)} data-screen=${name}
        aria-current=${name === where.screen ? "page" : undefined} title="g then ${letter}">${title}<kbd aria-hidden="true">${letter}</kbd></a></li>`)}</ul>
      <${Account} />
    </nav>
    <header class="top">
      <button class="menu" aria-label="Menu" aria-expanded=${open} onClick=${() => setOpen(!open)}>☰</button>
      <h1>${found ? found[1] : "Not found"}</h1>
      <${ScopePicker} />
      <span class="live ${isOnline ? "" : "off"}" role="status">${isOnline ? "live" : "server gone"}</span>
      <button class="quiet" aria-label="Keyboard help" title="Keyboard help (?)" onClick=${help}>?</button>
    </header>
    ${!isOnline && html`<div class="offline" role="alert">The server does not answer. What you see may be old; this page asks again by itself.</div>`}
    <main id="main" ref=${main} tabindex="-1">${Screen
      ? html`<${Screen} key=${where.screen} />`
      : html`<${Panel} title="There is no such view"><p>The address names a view that does not exist. <a href=${address("overview")}>Begin at the overview</a>.</p><//>`}</main>
  </div>`;
}

function Account() {
  const who = useValue(me);
  const [dark, setDark] = useState(document.documentElement.dataset.theme || "auto");
  const turn = () => {
    const next = { auto: "dark", dark: "light", light: "auto" }[dark];
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    setDark(next);
  };
  return html`<div class="account">
    <p title=${who.rights.join(", ")}><strong>${who.name || "a key"}</strong><br />
      <span class="faint">${who.scopes.length ? who.scopes.join(", ") : "every scope"} · ${who.rights.join(", ")}</span></p>
    <div><button class="quiet" onClick=${turn} title="Light, dark, or as your system is">Theme: ${dark}</button>
    <button class="quiet" onClick=${() => logout()}>Log out</button></div></div>`;
}

const KEYS = [
  ["j / k, ↓ / ↑", "next and previous in a list"],
  ["Enter", "open what is chosen"],
  ["/", "search"],
  ["g, then a letter", `go to a screen: ${SCREENS.map(([, t, l]) => `${l} ${t.toLowerCase()}`).join(", ")}`],
  ["u", "undo your last change, after a look at what comes back"],
  ["Esc", "leave a field, close a dialog, back to the list"],
  ["?", "this help"],
];

function help() { show({ title: "Keyboard", body: Help, props: {} }); }
function Help() {
  return html`<table class="plain"><tbody>${KEYS.map(([keys, does]) => html`<tr><th scope="row"><${Key}>${keys}<//></th><td>${does}</td></tr>`)}</tbody></table>
    <div class="buttons"><button class="primary" onClick=${hide} autofocus>Close</button></div>`;
}

const inField = (element) => element.closest?.("input, textarea, select, dialog, [contenteditable]");

function useShortcuts() {
  const before = useRef("");
  useEffect(() => {
    const keys = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (inField(event.target)) {
        if (event.key === "Escape" && !event.target.closest("dialog")) event.target.blur();
        return;
      }
      const screen = before.current === "g" && SCREENS.find(([, , letter]) => letter === event.key);
      before.current = event.key;
      if (screen) go(screen[0]);
      else if (event.key === "/") document.querySelector("[data-search]")?.focus();
      else if (event.key === "?") help();
      else if (event.key === "u" && lastChange.get()) undo(lastChange.get(), () => lastChange.set(null));
      else if (event.key === "Escape" && route().id) history.back();
      else if (["j", "k", "ArrowDown", "ArrowUp"].includes(event.key)) {
        const list = document.querySelector("[data-list]");
        if (!list || list.contains(document.activeElement)) return;
        list.focus();
        list.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: true }));
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
}

render(html`<${App} />`, document.getElementById("app"));

// For whoever runs it: keys, devices, long work, costs, models, backups, doctor, settings.
import { clip, html, number, useState } from "../lib.js";
import { alter, useRoute } from "../route.js";
import { ask, finished, get, isMaster, may, me, post, Problem, useLoad } from "../api.js";
import { act, Bars, Field, hide, Loaded, notify, Panel, show, Trouble } from "../parts.js";
import { Time } from "../time.js";

const RIGHTS = ["read", "write", "erase", "admin"];

export function Operations() {
  const { scope } = useRoute().params;
  return html`<div class="columns">
    <div>${may("admin") ? html`<${Keys} /><${Devices} />` : html`<${Panel} title="Keys"><p class="faint">Keys and devices are shown to keys with the right admin.</p><//>`}<${Work} scope=${scope} /></div>
    <div><${Costs} scope=${scope} />${isMaster() ? html`<${Server} />` : html`<${Panel} title="Server"><p class="faint">What runs here is shown to admin keys that reach every scope.</p><//>`}<${Backups} /></div></div>`;
}

function Keys() {
  const loaded = useLoad(() => get("/v1/keys"), []);
  const revoke = (key) => show({ title: "Revoke this key?", body: RevokeAsked, props: { key_: key, again: loaded.again } });
  const works = (key) => !key.revoked_at && (!key.expires_at || new Date(key.expires_at) > Date.now());
  return html`<${Panel} title="Keys" aside=${html`<button onClick=${() => show({ title: "Make a key", body: NewKey, props: { again: loaded.again } })}>Make a key…</button>`}>
    <${Loaded} of=${loaded} lines=${3}>${({ keys }) => html`<div class="scroll" tabindex="0" role="region" aria-label="Keys"><table class="table"><thead><tr><th>Name</th><th>Reaches</th><th>May</th><th>Made</th><th></th></tr></thead><tbody>
      ${[...keys].reverse().slice(0, 200).map((key) => html`<tr class=${works(key) ? "" : "retired"}><td>${clip(key.name, 60) || html`<code class="id">${key.id}</code>`}${key.id === me.get().id && html` <span class="tag">this one</span>`}</td>
        <td>${key.scopes.length ? key.scopes.join(", ") : "every scope"}</td><td>${key.rights.join(", ")}</td><td><${Time} at=${key.created_at} relative /></td>
        <td>${works(key) ? html`<button class="quiet danger" aria-label="Revoke ${key.name || key.id}" onClick=${() => revoke(key)}>Revoke…</button>` : key.revoked_at ? "revoked" : "expired"}</td></tr>`)}</tbody></table></div>`}<//><//>`;
}

function RevokeAsked({ key_: key, again }) {
  const done = async () => {
    hide();
    try { await ask("DELETE", `/v1/keys/${key.id}`); notify("Revoked: it works no more."); again(); } catch (error) { notify(error.message, { bad: true }); }
  };
  return html`<p>Whoever uses <strong>${key.name || key.id}</strong> is refused from their next request on. This cannot be undone; a new key can be made.</p>
    <div class="buttons"><button onClick=${hide}>Keep it</button><button class="danger" onClick=${done}>Revoke it</button></div>`;
}

function NewKey({ again }) {
  const [wish, setWish] = useState({ name: "", scopes: me.get().scopes.join(", "), rights: ["read", "write"] });
  const [made, setMade] = useState(null);
  const [error, setError] = useState(null);
  const make = async () => {
    try {
      setMade(await post("/v1/keys", { ...wish, scopes: wish.scopes.split(/[\s,]+/).filter(Boolean) }));
      again();
    } catch (trouble) { setError(trouble); }
  };
  if (made) {
    return html`<p>It is shown once. Keep it safe:</p><pre tabindex="0" class="secret">${made.key}</pre><div class="buttons"><button class="primary" onClick=${hide}>Done</button></div>`;
  }
  const toggle = (right) => setWish({ ...wish, rights: wish.rights.includes(right) ? wish.rights.filter((one) => one !== right) : [...wish.rights, right] });
  return html`<${Field} label="Whose it is"><input autofocus value=${wish.name} onInput=${(e) => setWish({ ...wish, name: e.target.value })} /><//>
    <${Field} label="Scopes it reaches" hint="none: every scope, for admin keys"><input value=${wish.scopes} placeholder="user:ann, org:acme" onInput=${(e) => setWish({ ...wish, scopes: e.target.value })} /><//>
    <fieldset><legend>It may</legend>${RIGHTS.map((right) => html`<label class="check"><input type="checkbox" checked=${wish.rights.includes(right)} onChange=${() => toggle(right)} /> ${right}</label>`)}</fieldset>
    <${Trouble} error=${error} /><div class="buttons"><button onClick=${hide}>Cancel</button><button class="primary" onClick=${make}>Make it</button></div>`;
}

function Devices() {
  const loaded = useLoad(() => get("/v1/devices"), []);
  const [wish, setWish] = useState({ device: "", scope: "" });
  const map = async (event) => {
    event.preventDefault();
    try { await ask("PUT", "/v1/devices", { body: wish }); setWish({ device: "", scope: "" }); loaded.again(); } catch (error) { notify(error.message, { bad: true }); }
  };
  return html`<${Panel} title="Devices"><${Loaded} of=${loaded} lines=${2}>${({ devices }) => html`<ul class="list">${devices.map((one) => html`<li><strong>${one.id}</strong> <span class="about">belongs to ${one.scope}</span></li>`)}
    ${!devices.length && html`<li class="faint">No device is mapped to anybody.</li>`}</ul>`}<//>
    <form class="search" onSubmit=${map}><input aria-label="Device" placeholder="kitchen" value=${wish.device} onInput=${(e) => setWish({ ...wish, device: e.target.value })} />
      <input aria-label="Scope of the device" placeholder="user:ann" value=${wish.scope} onInput=${(e) => setWish({ ...wish, scope: e.target.value })} /><button type="submit" disabled=${!wish.device || !wish.scope}>Map</button></form><//>`;
}

function Work({ scope }) {
  const [round, setRound] = useState(0);
  const loaded = useLoad(() => get("/v1/work"), [round], { live: true });
  const begin = async (path, body) => {
    try {
      const job = await post(path, body);
      setRound((n) => n + 1);
      finished(job, () => setRound((n) => n + 1)).then(() => setRound((n) => n + 1), (error) => { setRound((n) => n + 1); if (error.status !== 409) notify(error.message, { bad: true }); });
    } catch (error) { notify(error.message, { bad: true }); }
  };
  const cancel = async (job) => {
    try { await ask("DELETE", `/v1/work/${job.id}`); notify("Cancelled. What it had done stays."); } catch (error) { notify(error.message, { bad: true }); }
    setRound((n) => n + 1);
  };
  const save = async (job) => {
    const answer = await fetch(job.file, { headers: { Authorization: `Bearer ${(await import("../api.js")).key.get()}` } });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = "standfast-export.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  const here = scope ? { scope } : {};
  return html`<${Panel} title="Long work"><div class="acts">
      <button onClick=${() => begin("/v1/export", here)}>Export${scope ? ` ${scope}` : " everything"}</button>
      ${may("admin") && html`<button onClick=${() => begin("/v1/maintain", here)}>Upkeep now</button><button onClick=${() => begin("/v1/reembed")}>Embed anew</button>`}
      ${isMaster() && html`<button onClick=${() => begin("/v1/doctor")}>Doctor</button>`}</div>
    <${Loaded} of=${loaded} lines=${2}>${({ work }) => html`<ul class="list">${[...work].reverse().slice(0, 30).map((job) => html`<li><strong>${job.operation}</strong> <span class="tag work-${job.state}">${job.state}</span>
      <span class="about"><${Time} at=${job.begun_at} relative />${job.progress > 0 && ` · ${number(job.progress)} done`}${job.problem && ` · ${job.problem.detail}`}${job.receipt?.notes.length ? ` · ${job.receipt.notes.join("; ")}` : ""}</span>
      ${job.state === "running" && html`<progress aria-label="Running"></progress> <button class="quiet" onClick=${() => cancel(job)}>Cancel</button>`}
      ${job.file && html` <button class="quiet" onClick=${() => save(job)}>Save the file</button>`}</li>`)}
      ${!work.length && html`<li class="faint">Nothing ran in the last hour.</li>`}</ul>`}<//><//>`;
}

function Costs({ scope }) {
  const loaded = useLoad(() => get("/v1/usage", { scope, limit: 1000 }), [scope]);
  if (loaded.error instanceof Problem && loaded.error.status === 403) return html`<${Panel} title="Usage"><p class="faint">${loaded.error.message}</p><//>`;
  return html`<${Panel} title="Usage" aside=${html`<span class="faint">models, by day (UTC)</span>`}><${Loaded} of=${loaded} lines=${3}>${({ items }) => {
    const by = (name, value) => Object.entries(items.reduce((all, one) => ({ ...all, [one[name]]: (all[one[name]] || 0) + value(one) }), {}));
    const days = by("day", (one) => one.cost).sort().slice(-14);
    const works = by("operation", (one) => one.tokens_in + one.tokens_out).sort((a, b) => b[1] - a[1]);
    return items.length ? html`<h3>Cost a day</h3><${Bars} rows=${days.map(([name, value]) => ({ name, value, shown: `$${value.toFixed(4)}` }))} />
      <h3>Tokens by operation</h3><${Bars} rows=${works.map(([name, value]) => ({ name, value, tone: "episodic" }))} />` : html`<p class="faint">No model was asked; nothing was spent.</p>`;
  }}<//><//>`;
}

function Server() {
  const loaded = useLoad(() => get("/v1/server"), []);
  return html`<${Panel} title="Server"><${Loaded} of=${loaded} lines=${4}>${(server) => {
    const { settings } = server;
    const models = Object.entries(server.models);
    return html`<dl class="facts"><dt>Version</dt><dd>${server.version}</dd><dt>Store</dt><dd>${server.store}, erases ${server.erasure === "nothing" ? "down to the bytes" : server.erasure}</dd>
      <dt>Profile</dt><dd>${server.profile}</dd><dt>Embedder</dt><dd>${server.embedder || "none: keywords only"}${server.space && server.space !== server.embedder ? ` (the store has ${server.space})` : ""}${server.reembedding && html`<div>${server.reembedding}</div>`}</dd>
      <dt>Learning</dt><dd>${server.learning}</dd>
      <dt>Models</dt><dd>${models.length ? models.map(([does, name]) => html`<div>${does}: ${name}</div>`) : "none: summaries are extracts, rules learn"}</dd>
      <dt>Budgets</dt><dd>${number(settings.tokens_per_day)} tokens and $${settings.money_per_day} per root and day; ${number(settings.rate)} requests a minute for a key</dd></dl>
      <details><summary>Settings in force</summary><dl class="facts">${Object.entries(settings).filter(([, value]) => value !== "").map(([name, value]) => html`<dt><code>${name}</code></dt><dd>${String(value)}</dd>`)}</dl></details>`;
  }}<//><//>`;
}

function Backups() {
  return html`<${Panel} title="Backups"><p>A backup is one file, checked as it is made, while the server runs:</p><pre tabindex="0">standfast backup memory-$(date +%F).db
standfast restore memory-2026-05-03.db</pre><p class="faint">They are made on the server's machine: no key can make it write a file. An export above is everything that your key may read.</p><//>`;
}

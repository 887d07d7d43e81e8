// Everything that the page asks the server for, with the key of whoever looks.
import { box, useCallback, useEffect, useRef, useState, useValue } from "./lib.js";

const KEPT = "standfast.key";

export const key = box(sessionStorage.getItem(KEPT) || "");
export const me = box(null); // who we are, as the server sees it
export const online = box(true);
export const changed = box({ count: 0, last: null }); // what the stream of changes brought

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

export class Gone extends Error {}

export async function ask(method, path, { query, body, signal, headers } = {}) {
  const answer = await sent(method, path + written(query), { body, signal, headers });
  const text = await answer.text();
  let read = null;
  try {
    read = text ? JSON.parse(text) : null;
  } catch {
    throw new Problem(answer.status, { detail: "the answer is no JSON; is this a standfast server?" });
  }
  if (answer.ok) return read;
  if (answer.status === 401 && path !== "/v1/login") forgetKey("Your key works no more. Log in again.");
  throw new Problem(answer.status, read || {});
}

export const get = (path, query, options) => ask("GET", path, { query, ...options });
export const post = (path, body = {}, options) => ask("POST", path, { body, ...options });

async function sent(method, address, { body, signal, headers = {} }) {
  const said = { Accept: "application/json", ...headers };
  if (key.get()) said.Authorization = `Bearer ${key.get()}`;
  if (body !== undefined) said["Content-Type"] = "application/json";
  try {
    const answer = await fetch(address, {
      method, signal, headers: said, cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!online.get()) online.set(true);
    return answer;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost();
    throw new Gone("The server does not answer. Its last answers are still shown.");
  }
}

function written(query) {
  const pairs = [];
  for (const [name, value] of Object.entries(query || {})) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value]) pairs.push([name, String(one)]);
  }
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

// Gone and back: look every second or so until it answers, then everything that failed asks again.
let looking = false;
async function lost() {
  online.set(false);
  if (looking) return;
  looking = true;
  for (let wait = 500; !online.get(); wait = Math.min(wait * 1.5, 5000)) {
    await new Promise((done) => setTimeout(done, wait));
    try {
      await fetch("/health", { cache: "no-store" });
      online.set(true);
    } catch { /* not yet */ }
  }
  looking = false;
}

// Keys

export const why = box(""); // why somebody has to log in

export function useKey(secret, { keep = false } = {}) {
  if (keep) sessionStorage.setItem(KEPT, secret);
  else sessionStorage.removeItem(KEPT);
  why.set("");
  key.set(secret);
}

export function forgetKey(said = "") {
  sessionStorage.removeItem(KEPT);
  why.set(said);
  me.set(null);
  key.set("");
}

// Whatever opens: a key, which may look like anything, for an operator chooses one; or a one-time code.
export async function enter(text, options) {
  const [, code] = text.match(/#code=(.*)$/) || [];
  if (code === undefined && (await isKey(text))) useKey(text, options);
  else await login(code ?? text, options);
}

async function isKey(text) {
  if (!/^[\x21-\x7e]+$/.test(text)) return false; // no header can carry it
  const answer = await sent("GET", "/v1/me", { headers: { Authorization: `Bearer ${text}` } });
  if (answer.ok || answer.status === 401) return answer.ok;
  throw new Problem(answer.status, await answer.json().catch(() => ({})));
}

export async function login(code, options) {
  const made = await post("/v1/login", { code });
  useKey(made.key, options);
}

export async function logout() {
  try {
    await post("/v1/logout");
    forgetKey("You are logged out. The key is revoked.");
  } catch (error) {
    forgetKey(`You are logged out here, but the key was not revoked: ${error.message}`);
  }
}

export const may = (right) => Boolean(me.get()?.rights.includes(right));
export const isMaster = () => may("admin") && !me.get().scopes.length;

// What a screen shows: loaded when its dependencies change, again when the server is back, and
// again (`live`) when something changed. What was there stays until the next answer is.
export function useLoad(load, deps, { live = false } = {}) {
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const turn = useRef(0);
  const isOnline = useValue(online);
  const news = useValue(changed);
  const again = useCallback(async () => {
    const mine = ++turn.current;
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    try {
      const data = await load(abort.signal);
      if (mine === turn.current) setState({ data, error: null, loading: false });
    } catch (error) {
      if (mine === turn.current) setState((old) => ({ ...old, error, loading: false }));
    }
  }, deps);
  useEffect(() => {
    again();
    return () => { turn.current += 1; };
  }, [again]);
  useEffect(() => {
    if (isOnline && state.error instanceof Gone) again();
  }, [isOnline]);
  useEffect(() => {
    if (!live || !news.count) return undefined;
    const soon = setTimeout(again, 250);
    return () => clearTimeout(soon);
  }, [news.count]);
  return { ...state, again };
}

// The stream of changes: read by fetch, because an EventSource cannot send a key.
export async function listen(scope, signal) {
  let last = "";
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 15000)) {
    try {
      const headers = last ? { "Last-Event-ID": last } : {};
      const answer = await sent("GET", `/v1/changes/stream${written({ scope })}`, { signal, headers });
      if (!answer.ok) {
        if (answer.status === 401) return;
        throw new Error(String(answer.status));
      }
      for await (const event of events(answer.body.getReader())) {
        wait = 500;
        last = event.id || last;
        if (event.name === "bye") return;
        if (event.name === "change" || event.name === "gap") {
          changed.set((old) => ({ count: old.count + 1, last: event.data }));
        }
      }
    } catch {
      if (signal.aborted) return;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function* events(reader) {
  const decoder = new TextDecoder();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += decoder.decode(value, { stream: true });
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const event = parsed(held.slice(0, end));
      held = held.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parsed(block) {
  const event = { name: "", id: "", data: null };
  for (const line of block.split("\n")) {
    const cut = line.indexOf(": ");
    if (cut <= 0) continue;
    const [name, value] = [line.slice(0, cut), line.slice(cut + 2)];
    if (name === "event") event.name = value;
    if (name === "id") event.id = value;
    if (name === "data") event.data = JSON.parse(value);
  }
  return event.name ? event : null;
}

// Long work: begun, then looked at until it is over.
export async function finished(work, onProgress = () => {}) {
  let job = work;
  while (job.state === "running") {
    onProgress(job);
    job = await get(`/v1/work/${job.id}`, { wait: 10 });
  }
  onProgress(job);
  if (job.problem) throw new Problem(job.problem.status, job.problem);
  return job;
}

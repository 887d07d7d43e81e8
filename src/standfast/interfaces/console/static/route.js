// Every view is an address behind "#": it can be shared, and no server is ever told what was
// looked for. The key is never part of it.
import { box, useValue } from "./lib.js";

// A one-time code in the address is taken out of it before anything else is done.
export const CODE = new URLSearchParams(location.hash.replace(/^#/, "")).get("code");
if (CODE) history.replaceState(null, "", "#/overview");

function read() {
  const raw = location.hash.replace(/^#\/?/, "");
  const [path, query] = raw.split("?", 2);
  const [screen, ...rest] = path.split("/").map(decoded);
  return {
    screen: screen || "overview",
    id: rest.join("/"),
    params: Object.fromEntries(new URLSearchParams(query || "")),
  };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const here = box(read());
addEventListener("hashchange", () => {
  // A link with a code, opened in a tab that has this page already: only a new start takes it.
  if (/^#code=/.test(location.hash)) location.reload();
  else here.set(read());
});

export const useRoute = () => useValue(here);
export const route = () => here.get();

export function address(screen, id = "", params = {}) {
  const scope = params.scope === undefined ? here.get().params.scope : params.scope;
  const given = Object.entries({ ...params, scope }).filter(
    ([, value]) => value !== undefined && value !== null && value !== "" && value !== false,
  );
  const query = new URLSearchParams(given.map(([k, v]) => [k, String(v)])).toString();
  const path = id ? `/${encodeURIComponent(id)}` : "";
  return `#/${screen}${path}${query ? `?${query}` : ""}`;
}

export function go(screen, id = "", params = {}) {
  location.hash = address(screen, id, params);
}

// The same view with other parameters. `replace`: not a step to go back to.
export function alter(params, { replace = true } = {}) {
  const now = here.get();
  const next = address(now.screen, now.id, { ...now.params, ...params });
  if (next === location.hash) return;
  if (replace) {
    history.replaceState(null, "", next);
    here.set(read());
  } else location.hash = next;
}

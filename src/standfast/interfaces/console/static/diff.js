// What changed between two texts, word by word; line by line where they are long.
import { html } from "./lib.js";

const CELLS_MAX = 400_000;

export function diff(before, after) {
  let [a, b] = [words(before), words(after)];
  if (a.length * b.length > CELLS_MAX) [a, b] = [lines(before), lines(after)];
  if (a.length * b.length > CELLS_MAX) return [["-", before], ["+", after]];
  return joined(walk(a, b, table(a, b)));
}

const words = (text) => text.match(/\s+|[^\s]+/g) || [];
const lines = (text) => text.match(/[^\n]*\n|[^\n]+/g) || [];

function table(a, b) {
  const wide = b.length + 1;
  const cells = new Uint32Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      cells[i * wide + j] = a[i] === b[j]
        ? cells[(i + 1) * wide + j + 1] + 1
        : Math.max(cells[(i + 1) * wide + j], cells[i * wide + j + 1]);
    }
  }
  return cells;
}

function walk(a, b, cells) {
  const wide = b.length + 1;
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(["=", a[i]]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && cells[(i + 1) * wide + j] >= cells[i * wide + j + 1])) {
      found.push(["-", a[i]]);
      i += 1;
    } else {
      found.push(["+", b[j]]);
      j += 1;
    }
  }
  return found;
}

function joined(parts) {
  const found = [];
  for (const [kind, text] of parts) {
    const last = found.at(-1);
    if (last && last[0] === kind) last[1] += text;
    else found.push([kind, text]);
  }
  return found;
}

export function Diff({ before, after }) {
  const most = 20_000;
  const cut = before.length > most || after.length > most;
  const parts = diff(before.slice(0, most), after.slice(0, most));
  return html`<p class="said diff" dir="auto">${parts.map(([kind, text]) =>
    kind === "=" ? text : kind === "-" ? html`<del>${text}</del>` : html`<ins>${text}</ins>`)}
    ${cut && html`<span class="faint"> … the first ${most.toLocaleString("en-US")} characters</span>`}</p>`;
}

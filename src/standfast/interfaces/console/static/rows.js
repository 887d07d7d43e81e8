// Long lists: only the rows that can be seen are in the page, however many there are.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./lib.js";

const SPARE = 8;

// `items` may be shorter than `total`: rows that are not here yet are drawn empty, and `more` is
// asked to bring them. `open` is called with the chosen one.
export function Rows({ items, total, height, render, open, more, label, chosen, onChoose }) {
  const frame = useRef(null);
  const [top, setTop] = useState(0);
  const [tall, setTall] = useState(600);
  const count = Math.max(total ?? items.length, items.length);
  const first = Math.max(Math.floor(top / height) - SPARE, 0);
  const last = Math.min(Math.ceil((top + tall) / height) + SPARE, count);

  useLayoutEffect(() => {
    const measure = () => setTall(frame.current?.clientHeight || 600);
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(frame.current);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => { if (last > items.length - SPARE) more?.(last); }, [last, items.length]);
  useEffect(() => {
    if (chosen === null || chosen === undefined) return;
    const element = frame.current;
    const at = chosen * height;
    if (at < element.scrollTop) element.scrollTop = at;
    if (at + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = at + height - element.clientHeight;
    }
  }, [chosen]);

  const step = (to) => onChoose(Math.max(0, Math.min(to, count - 1)));
  const keys = (event) => {
    const now = chosen ?? -1;
    const page = Math.floor(tall / height);
    const to = { j: now + 1, ArrowDown: now + 1, k: now - 1, ArrowUp: now - 1, PageDown: now + page,
      PageUp: now - page, Home: 0, End: count - 1 }[event.key];
    if (to !== undefined && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      step(to);
    } else if (event.key === "Enter" && items[now]) {
      event.preventDefault();
      open(items[now]);
    }
  };
  const shown = [];
  for (let n = first; n < last; n += 1) shown.push(n);
  return html`<div class="rows" ref=${frame} tabindex="0" role="listbox" aria-label=${label} data-list
      aria-activedescendant=${chosen !== null && chosen >= first && chosen < last ? `row-${chosen}` : undefined}
      onScroll=${(e) => setTop(e.currentTarget.scrollTop)} onKeyDown=${keys}>
    <div class="rows-all" role="presentation" style=${{ height: `${count * height}px` }}>${shown.map((n) => html`
      <div key=${n} id=${`row-${n}`} class="row ${n === chosen ? "chosen" : ""}" role="option"
        aria-selected=${n === chosen} aria-setsize=${count} aria-posinset=${n + 1}
        style=${{ transform: `translateY(${n * height}px)`, height: `${height}px` }}
        onClick=${() => { step(n); if (items[n]) open(items[n]); }}>
        ${items[n] ? render(items[n]) : html`<div class="bone"></div>`}</div>`)}</div>
  </div>`;
}

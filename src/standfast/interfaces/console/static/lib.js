// The few names that every part of the page uses.
import { h, render, Fragment } from "./vendor/preact.js";
import {
  useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState,
} from "./vendor/hooks.js";
import htm from "./vendor/htm.js";
import { shown } from "./invisible.js";

// Whatever is drawn has no invisible character in it. What fields hold to be edited (`value`) is as
// it is stored.
const seen = (child) => typeof child === "string" ? shown(child) : Array.isArray(child) ? child.map(seen) : child;
const DRAWN = ["title", "aria-label", "alt", "placeholder"];
function drawn(type, props, ...children) {
  const told = DRAWN.filter((name) => typeof props?.[name] === "string");
  const own = told.length ? { ...props, ...Object.fromEntries(told.map((name) => [name, shown(props[name])])) } : props;
  return h(type, own, ...(type === "textarea" ? children : children.map(seen)));
}
export const html = htm.bind(drawn);
export {
  Fragment, render, useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState,
};

// A value that parts of the page watch: `useValue(box)` draws again when it changes.
export function box(value) {
  const watchers = new Set();
  return {
    get: () => value,
    set(next) {
      value = typeof next === "function" ? next(value) : next;
      for (const watch of [...watchers]) watch(value);
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

export function useValue(one) {
  const [, again] = useReducer((n) => n + 1, 0);
  useEffect(() => one.watch(again), [one]);
  return one.get();
}

export const plural = (n, word, words = `${word}s`) =>
  `${number(n)} ${n === 1 ? word : words}`;
export const number = (n) => Number(n).toLocaleString("en-US");
export const clip = (text, most = 400) =>
  text.length > most ? `${text.slice(0, most)}…` : text;

// The connection, its state in words, and the span of time on show.

import { Panes } from "./panes.js";
import { Store } from "./store.js";

const SILENT_MS = 2000;

const view = { seconds: 60, held: null, dirty: false };
let store = null;
let panes = null;
let receivedMs = performance.now();
let ended = null;
let cutOff = false;
let missed = 0;
let last = 0; // number of the last batch

const at = (id) => document.getElementById(id);

function show() {
  if (!store || store.firstS === null) return;
  const [from, to] = view.held ?? span();
  panes.draw(store, from, to);
}

// The last seconds; at the start the first ones, with room for those to come.
function span() {
  if (view.seconds === Infinity) return [store.firstS, Math.max(store.nowS, store.firstS + 1)];
  const from = Math.max(store.nowS - view.seconds, store.firstS);
  return [from, from + view.seconds];
}

function redraw() {
  if (view.dirty) return;
  view.dirty = true;
  requestAnimationFrame(() => {
    view.dirty = false;
    show();
  });
}

function hold(held) {
  view.held = held;
  at("hold").ariaPressed = held !== null;
  redraw();
}

function showState() {
  const quietMs = performance.now() - receivedMs;
  let [name, text] = ["live", "live"];
  if (ended) [name, text] = ended.failed ? ["failed", "failed"] : ["ended", "ended"];
  else if (cutOff) [name, text] = ["reconnecting", "reconnecting"];
  else if (!store) [name, text] = ["connecting", "waiting"];
  else if (quietMs > SILENT_MS) [name, text] = ["silent", `silent for ${(quietMs / 1000).toFixed(0)} s`];
  at("state").className = name;
  at("state").textContent = text;
  const notes = [];
  if (store?.untraced) notes.push(`No kernel events (${store.untraced}): the dirty limit and throttling are missing.`);
  if (store?.lost) notes.push(`The kernel dropped ${store.lost} events.`);
  if (missed) notes.push(`This page was disconnected and missed ${missed} batches.`);
  if (ended) notes.push(`No more samples: ${ended.reason}.`);
  at("notes").textContent = notes.join(" ");
}

function receive(item) {
  receivedMs = performance.now();
  cutOff = false;
  if (item.source && !store) {
    store = new Store(item.source);
    store.untraced = item.source.untraced;
    at("source").textContent = item.source.name;
  }
  if (item.batch) {
    store.add(item.batch);
    if (item.batch.now && item.batch.now !== at("now").textContent) at("now").textContent = item.batch.now;
  }
  if (item.missed) missed += item.missed;
  if (item.end) ended = item.end;
  redraw();
}

function connect() {
  const events = new EventSource(`samples?after=${last}`); // reconnects by itself, and sends the last number
  events.onmessage = (event) => {
    last = Number(event.lastEventId);
    receive(JSON.parse(event.data));
    if (ended) events.close();
  };
  events.onerror = () => {
    cutOff = true;
    if (events.readyState === EventSource.CLOSED && !ended) setTimeout(connect, SILENT_MS);
  };
}

for (const button of document.querySelectorAll("button[data-seconds]")) {
  button.onclick = () => {
    for (const each of document.querySelectorAll("button[data-seconds]")) each.ariaPressed = each === button;
    view.seconds = Number(button.dataset.seconds);
    hold(null);
  };
}
at("hold").onclick = () => hold(view.held ? null : span());
window.onresize = () => panes.resize();

const look = await (await fetch("look.json")).json();
const dark = matchMedia("(prefers-color-scheme: dark)");
const painted = (value) => {
  if (typeof value === "string") return look.dark[value] ?? value;
  return Array.isArray(value) ? value.map(painted) : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, painted(each)]));
};

// The colours of the page: legends keep theirs, so the panes are made anew where the page turns dark or light.
function build() {
  at("panes").replaceChildren();
  panes = new Panes(at("panes"), dark.matches ? painted(look) : look, (from, to) => hold([from, to]));
  window.monitor = { get store() { return store; }, panes, view }; // for the console and tests
  redraw();
}
build();
dark.onchange = build;
connect();
setInterval(showState, 250);
setInterval(() => store?.forget(), 60_000);

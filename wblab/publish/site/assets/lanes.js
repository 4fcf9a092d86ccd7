// The lanes of runs as a picture: `Lanes.to_json` of wblab/analysis/runs/lanes.py, in SVG. All text of a run stays text.
const SVG = "http://www.w3.org/2000/svg", MOST_LANES = 60, MOST_FREEZES = 2000, WIDTH = 900, LEFT = 110, LANE = 34;

// Three significant digits: 15.5 s, 600 ms.
function duration(ns) {
  const [size, unit] = ns >= 1e9 || ns === 0 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const value = ns / size;
  return `${value.toFixed(value >= 99.95 || value === 0 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

function drawn(kind, attributes, text = "") {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// Of spans of time: the longest, in ns; 0 for none.
function longestOf(lanes) {
  return Math.max(0, ...lanes.flatMap((lane) => lane.frozen_ns.slice(0, MOST_FREEZES).map(([from, to]) => to - from)));
}

function niceStep(seconds) {
  const rough = seconds / 8, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((each) => power * each >= rough);
}

// Runs below each other on one axis of time. A lane: thin while it works, hatched for an offender, tall while it is frozen.
function lanesPicture(runs, label) {
  const shown = runs.map((run) => run.lanes.filter((lane) => lane.role !== "control" || lane.frozen_ns.length).slice(0, MOST_LANES));
  const last = Math.max(1, ...runs.flatMap((run) => run.lanes.map((lane) => lane.end_ns)));
  const right = WIDTH - 20, x = (ns) => LEFT + (ns / last) * (right - LEFT);
  const bottom = shown.reduce((sum, lanes) => sum + 50 + lanes.length * LANE, 0);
  const image = drawn("svg", { viewBox: `0 0 ${WIDTH} ${bottom + 44}`, role: "img", "aria-label": label, class: "lanes" });
  const hatch = drawn("pattern", { id: "offends", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  hatch.append(drawn("rect", { width: 4, height: 7, class: "works" }));
  image.append(hatch);
  for (let at = 0, step = niceStep(last / 1e9); at * 1e9 <= last; at += step) {
    image.append(drawn("line", { x1: x(at * 1e9), x2: x(at * 1e9), y1: 36, y2: bottom, class: "grid" }));
    image.append(drawn("text", { x: x(at * 1e9), y: bottom + 18, "text-anchor": "middle" }, String(Number(at.toPrecision(6)))));
  }
  image.append(drawn("text", { x: right, y: bottom + 38, "text-anchor": "end" }, "time since the loads started, in s"));
  let top = 0;
  for (const [number, run] of runs.entries()) {
    drawRun(image, run, shown[number], x, top);
    top += 50 + shown[number].length * LANE;
  }
  return image;
}

function drawRun(image, run, lanes, x, top) {
  const longest = longestOf(lanes.filter((lane) => lane.role === "innocent")), first = top + 46;
  const said = longest ? `longest freeze ${duration(longest)}` : `no freeze over ${duration(run.bound_ns)}`;
  image.append(drawn("text", { x: LEFT, y: top + 26, class: "title" }, run.title));
  image.append(drawn("text", { x: WIDTH - 20, y: top + 26, "text-anchor": "end", class: longest ? "longest" : "title" }, said));
  const begins = lanes.filter((lane) => lane.role === "offender" && lane.end_ns > lane.start_ns).map((lane) => lane.start_ns);
  for (const [number, lane] of lanes.entries()) {
    const middle = first + number * LANE + LANE / 2 - 4, thick = lane.role === "offender" ? 14 : 6;
    image.append(drawn("text", { x: LEFT - 10, y: middle + 5, "text-anchor": "end" }, lane.name.slice(0, 14)));
    const look = lane.role === "offender" ? { fill: "url(#offends)", class: "offends" } : { class: "works" };
    if (lane.end_ns > lane.start_ns) image.append(drawn("rect", { x: x(lane.start_ns), y: middle - thick / 2, width: Math.max(1, x(lane.end_ns) - x(lane.start_ns)), height: thick, ...look }));
    for (const [from, to] of lane.frozen_ns.slice(0, MOST_FREEZES)) {
      const wide = Math.max(2, x(to) - x(from));
      const bar = drawn("rect", { x: x(from), y: middle - 13, width: wide, height: 26, class: "frozen" });
      bar.append(drawn("title", {}, `${lane.name}: frozen for ${duration(to - from)}, from ${(from / 1e9).toFixed(1)} s`));
      image.append(bar);
      if (wide > 60) image.append(drawn("text", { x: x(from) + wide / 2, y: middle + 5, "text-anchor": "middle", class: "inside" }, duration(to - from)));
    }
  }
  if (begins.length) {
    const at = x(Math.min(...begins));
    image.append(drawn("line", { x1: at, x2: at, y1: first - 8, y2: first + lanes.length * LANE, class: "begins" }));
  }
}

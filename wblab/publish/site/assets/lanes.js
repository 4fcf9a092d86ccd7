// The lanes of a run: of each load a line while it works, hatched if it writes fast, and a tall bar while it is frozen, on one
// axis of time. They are elements, not a drawing, so that a phone shows their words as large as all others. All text stays text.
// A lane is as in wblab/analysis/runs/lanes.py: name, role, start_ns, end_ns, frozen_ns; a page may add title, and what it does.
const MOST_LANES = 60, MOST_FREEZES = 2000, WITH_TEXT = 0.1;

// Three significant digits: 15.5 s, 600 ms.
function duration(ns) {
  const [size, unit] = ns >= 1e9 || ns === 0 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const value = ns / size;
  return `${value.toFixed(value >= 99.95 || value === 0 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const longestOf = (lane) => Math.max(0, ...lane.frozen_ns.slice(0, MOST_FREEZES).map(([from, to]) => to - from));

// Of lanes up to a time, the nodes that show them.
function lanesPicture(lanes, last) {
  const at = (look, from, to, text = "") => {
    const one = element("i", text, { class: look });
    one.style.left = `${(100 * from) / last}%`;
    if (to !== undefined) one.style.width = `${(100 * (Math.min(to, last) - from)) / last}%`;
    return one;
  };
  const wrote = lanes.filter((lane) => lane.role === "offender" && lane.end_ns > lane.start_ns);
  const first = wrote.reduce((least, lane) => (least && least.start_ns <= lane.start_ns ? least : lane), undefined);
  const rows = lanes.slice(0, MOST_LANES).flatMap((lane) => {
    const longest = longestOf(lane), offends = lane.role === "offender", works = lane.end_ns > lane.start_ns;
    const did = `wrote for ${duration(Math.min(lane.end_ns, last) - lane.start_ns)}${lane.end_ns > last ? " and more" : ""}`;
    const said = offends ? (works ? did : "never began") : longest ? `frozen for up to ${duration(longest)}` : "never frozen";
    const head = element("div", "", { class: "name" }), label = element("span"), title = lane.title ?? lane.name;
    label.append(element("b", title), lane.does ? ` (${lane.name}): ${lane.does}` : "");
    head.append(label, element("span", said));
    const strip = element("div", "", { class: "lane", role: "img", "aria-label": `${title}: ${said}` });
    if (works) strip.append(at(offends ? "offends" : "works", lane.start_ns, lane.end_ns));
    for (const [from, to] of lane.frozen_ns.slice(0, MOST_FREEZES).filter(([from]) => from < last)) {
      const bar = at("frozen", from, to, to - from > last * WITH_TEXT ? duration(to - from) : "");
      bar.title = `${title}: frozen for ${duration(to - from)}, from ${(from / 1e9).toFixed(1)} s`;
      strip.append(bar);
    }
    if (first) strip.append(at("begins", first.start_ns));
    return [head, strip];
  });
  const axis = element("div", "", { class: "axis", "aria-hidden": "true" });
  const rough = last / 5e9, power = 10 ** Math.floor(Math.log10(rough)), step = power * [1, 2, 5, 10].find((each) => power * each >= rough);
  for (let time = 0; time * 1e9 <= last; time += step) axis.append(at(time * 1e9 > 0.95 * last ? "end" : "", time * 1e9, undefined, `${Number(time.toPrecision(6))} s`));
  const begun = element("div", "", { class: "axis begun" });
  if (first) begun.append(at("", first.start_ns, undefined, `┆ ${first.title ?? first.name} begins`));
  return [...(first ? [begun] : []), ...rows, axis];
}

// The page that reads a bundle: what it says, what was checked, and its pauses as a picture. All text of the file stays text.
const SVG = "http://www.w3.org/2000/svg", MOST_LANES = 60, MOST_PAUSES = 2000, MOST_ROWS = 500;
const [found, status_, chooser, area] = ["found", "status", "file", "drop"].map((name) => document.getElementById(name));

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Three significant digits: 15.5 s, 600 ms.
function duration(ns) {
  const [size, unit] = ns >= 1e9 || ns === 0 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const value = ns / size;
  return `${value.toFixed(value >= 99.95 || value === 0 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

function table(heads, rows, numbers) {
  const made = element("table"), frame = element("div", "", { class: "scroll", tabindex: "0", role: "region", "aria-label": heads.join(", ") });
  for (const [tag, cells] of [["th", heads], ...rows.map((row) => ["td", row])]) {
    const line = element("tr");
    for (const [at, cell] of cells.entries()) {
      const box = element(tag, cell instanceof Node ? "" : String(cell), numbers.includes(at) ? { class: "n" } : {});
      if (cell instanceof Node) box.append(cell);
      line.append(box);
    }
    made.append(line);
  }
  frame.append(made);
  return frame;
}

function facts(pairs) {
  const list = element("dl", "", { class: "facts" });
  for (const [name, value] of pairs) {
    const box = element("dd");
    box.append(element("code", value));
    list.append(element("dt", name), box);
  }
  return list;
}

function drawn(kind, attributes, text = "") {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// A lane for each load: a line while it works, thick for an offender; a bar for each pause of an innocent one.
function picture(loads, label) {
  const lanes = loads.slice(0, MOST_LANES), left = 110, width = 900, high = 26, bottom = lanes.length * high + 8;
  const last = Math.max(1, ...lanes.map((load) => load.end)), x = (ns) => left + (ns / last) * (width - left - 20);
  const image = drawn("svg", { viewBox: `0 0 ${width} ${bottom + 44}`, role: "img", "aria-label": label, class: "pauses" });
  const step = niceStep(last / 1e9);
  for (let at = 0; at * 1e9 <= last; at += step) {
    image.append(drawn("line", { x1: x(at * 1e9), x2: x(at * 1e9), y1: 0, y2: bottom, class: "grid" }));
    image.append(drawn("text", { x: x(at * 1e9), y: bottom + 18, "text-anchor": "middle" }, String(Number(at.toPrecision(6)))));
  }
  image.append(drawn("text", { x: width - 20, y: bottom + 38, "text-anchor": "end" }, "time since the loads started, in s"));
  for (const [number, load] of lanes.entries()) {
    const y = number * high + 4;
    image.append(drawn("text", { x: left - 10, y: y + 15, "text-anchor": "end" }, load.of.load.slice(0, 14)));
    const works = load.of.role === "offender" ? "works" : "lane";
    image.append(drawn("line", { x1: x(load.begin), x2: x(load.end), y1: y + 10, y2: y + 10, class: works }));
    for (const [start, pause] of load.pauses.slice(0, MOST_PAUSES)) {
      const bar = drawn("rect", { x: x(start), y, width: Math.max(1.5, x(start + pause) - x(start)), height: 20, class: "pause" });
      bar.append(drawn("title", {}, `${load.of.load}: ${duration(pause)}, from ${(start / 1e9).toFixed(1)} s`));
      image.append(bar);
    }
  }
  return image;
}

function niceStep(seconds) {
  const rough = seconds / 8, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((each) => power * each >= rough);
}

// What a run is and what it measured, as nodes.
async function runNodes(bundle, run) {
  const loads = await readLoads(bundle, run), bound = duration(bundle.about.bound_ns);
  const nodes = [element("p")];
  nodes[0].append(element("b", run.headline));
  if (run.outcome !== "succeeded") nodes.push(element("p", "This run did not succeed.", { class: "no" }));
  if (loads.length) {
    const frame = element("figure", "", { class: "picture", tabindex: "0" });
    const more = loads.length > MOST_LANES ? ` The first ${MOST_LANES} of ${loads.length} loads.` : "";
    frame.append(picture(loads, `Pauses of the loads. ${run.headline}`));
    frame.append(element("figcaption", `A bar is a pause of over ${bound}; a line is a load at work, thick if it writes as fast as it can.${more}`));
    nodes.push(frame);
  }
  const rows = run.pauses.map((of) => [
    of.load, of.kind, of.role, of.cycles, of.pauses_over_bound, duration(of.longest_pause_ns), duration(of.paused_ns),
  ]);
  const heads = ["load", "kind", "role", "cycles", `pauses over ${bound}`, "longest pause", "all pauses"];
  nodes.push(table(heads, rows.slice(0, MOST_ROWS), [3, 4, 5, 6]));
  const { release, series, build_id: build } = run.kernel;
  nodes.push(facts([
    ["kernel", `Linux ${release ?? "unknown"}${series ? `, series ${series}` : ""}`], ["kernel build", String(build ?? "unknown")],
    ["seed", String(run.spec?.seed ?? "unknown")], ["result digest", run.digest || "none: it measured nothing"],
  ]));
  const spec = element("details"), shown = element("pre", "", { tabindex: "0" });
  shown.append(element("code", JSON.stringify(run.spec, null, 1)));
  spec.append(element("summary", "The whole spec"), shown);
  return [...nodes, spec];
}

// The runs of a study, each with a button that shows it below.
function studyNodes(bundle) {
  const { rows: kept } = bundle.about.study;
  if (kept) return [element("p", `A study that keeps a row of each of its ${kept} runs, in place of the runs. For its figures: wblab open FILE.`)];
  const below = element("div", "", { "aria-live": "polite" });
  const rows = bundle.about.runs.slice(0, MOST_ROWS).map((run) => {
    const button = element("button", run.name, { type: "button" });
    button.addEventListener("click", async () => {
      const nodes = await nodesOf(() => runNodes(bundle, run));
      below.replaceChildren(element("h2", run.name), ...nodes);
    });
    const longest = run.pauses.filter((of) => of.role === "innocent").map((of) => of.longest_pause_ns);
    return [button, longest.length ? duration(Math.max(...longest)) : "–", run.outcome, run.digest.slice(0, 12) || "–"];
  });
  const count = bundle.about.runs.length;
  const about = `A study of ${count} runs${count > MOST_ROWS ? `; these are the first ${MOST_ROWS}` : ""}. Choose one to see it.`;
  return [element("p", about), table(["run", "longest pause", "outcome", "digest"], rows, [1]), below];
}

function checks(bundle) {
  const { about, entries, large } = bundle;
  const list = element("ul", "", { class: "list" });
  list.append(element("li", `Whole: each byte of its ${entries.size} files is the one that was packed.`
    + (large ? ` Of ${large}, which are too large for a page, only the length and a checksum (CRC-32) were compared.` : "")));
  if (!about.study?.rows) list.append(element("li", "Consistent: the pauses in a picture follow from the times in the file. Digests and causes were not computed again; wblab open FILE does that."));
  list.append(element("li", "Not shown: that the run took place. wblab open FILE --repeat makes it again and compares."));
  const digest = bundle.sha256 || "not computed here: the file is too large for a page. Use sha256sum.";
  return [element("h2", "What was checked"), list, facts([["SHA-256 of the file", digest], ...about.kind === "study" ? [["digest of all runs", about.digest]] : []])];
}

// The nodes that a function makes, or the reason why there are none.
async function nodesOf(make) {
  try {
    return await make();
  } catch (error) {
    const reason = error instanceof Unsound ? `This is not a sound bundle: ${error.message}. Get it again, or ask its sender to pack it anew.`
      : `This browser cannot read it (${error.message}). Use wblab open FILE.`;
    return [element("p", reason, { class: "no", role: "alert" })];
  }
}

async function bundleNodes(file, report) {
  const bundle = await readBundle(file, report);
  const nodes = bundle.about.kind === "study" ? studyNodes(bundle) : await runNodes(bundle, bundle.about.runs[0]);
  return [element("h2", bundle.about.name), ...nodes, ...checks(bundle)];
}

let newest = 0;  // a second file may come while the first is read

async function opened(file) {
  const mine = ++newest;
  const say = (text) => {
    if (mine === newest) status_.textContent = text;
  };
  found.dataset.shown = "";
  say(`Reading ${file.name} …`);
  const nodes = await nodesOf(() => bundleNodes(file, (share) => say(`Reading ${file.name}: ${Math.round(100 * share)} %`)));
  if (mine !== newest) return;
  found.replaceChildren(...nodes);
  say("");
  found.dataset.shown = "yes";
}

chooser.addEventListener("change", () => chooser.files.length && opened(chooser.files[0]));
for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
  addEventListener(name, (event) => {
    event.preventDefault();  // or the browser leaves this page and downloads the file
    area.classList.toggle("over", name === "dragenter" || name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) opened(event.dataTransfer.files[0]);
  });
}

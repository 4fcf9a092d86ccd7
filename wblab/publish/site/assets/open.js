// The page that reads a bundle: what it says, what was checked, and its pauses as a picture. All text of the file stays text.
const MOST_ROWS = 500;
const [found, status_, chooser, area] = ["found", "status", "file", "drop"].map((name) => document.getElementById(name));

// What a reader calls a load, beside its name: as in wblab/lab/callings.py.
const called = JSON.parse(found.dataset.called);
const calledLoad = (load, kind) => (Object.hasOwn(called, kind) && !load.name.startsWith(called[kind]) ? `${called[kind]} ${load.name}` : load.name);

// A sentence with what loads are called, each where it is named first.
function introduced(text, run) {
  const loads = run.pauses.filter((of) => !/^[a-z]+$/i.test(of.load)); // a name that is a word may stand for something else
  const named = new Map(loads.map((of) => [of.load, calledLoad({ name: of.load }, of.kind)]));
  const [first] = text.split(" ");
  const whole = text.replace(/(?<![\w./-])[\w-]+(?![\w/-])/g, (word) => {
    const shown = named.get(word) ?? word;
    named.delete(word);
    return shown;
  });
  return whole.startsWith(first) ? whole : whole[0].toUpperCase() + whole.slice(1);
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

// What a run is and what it measured, as nodes.
async function runNodes(bundle, run) {
  const kinds = new Map(run.pauses.map((of) => [of.load, of.kind]));
  const loads = (await readLoads(bundle, run)).map((load) => ({ ...load, title: calledLoad(load, kinds.get(load.name)) }));
  const bound = duration(bundle.about.bound_ns);
  const nodes = [element("p")];
  nodes[0].append(element("b", introduced(run.headline, run)));
  if (run.outcome !== "succeeded") nodes.push(element("p", "This run did not succeed.", { class: "no" }));
  if (loads.length) {
    const frame = element("figure", "", { class: "lanes" });
    const more = loads.length > MOST_LANES ? ` The first ${MOST_LANES} of ${loads.length} loads.` : "";
    const shown = loads.filter((load) => load.role !== "control" || load.frozen_ns.length);
    const longest = Math.max(0, ...loads.filter((load) => load.role === "innocent").map(longestOf));
    frame.append(element("p", longest ? `longest freeze ${duration(longest)}` : `no freeze over ${bound}`, { class: "longest" }));
    frame.append(...lanesPicture(shown, Math.max(1, ...loads.map((load) => load.end_ns))));
    frame.append(element("figcaption", `A tall bar is a pause of over ${bound}: the load is frozen. A line is a load at work, hatched if it writes as fast as it can.${more}`));
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
  list.append(element("li", "Not shown: that the run took place. wblab repeat FILE makes it again and compares."));
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

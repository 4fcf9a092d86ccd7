// The panes: uPlots with a common time axis, and the names and colours of the lab's pictures (look.json).

const HEIGHT = { state: 260, throttled: 130, waits: 150, pressure: 110, writers: 150, disks: 130, busy: 110 };
const HEADROOM = 1.08;
const MOST_TASKS = 6;
const MOST_DISKS = 4;

const stepped = uPlot.paths.stepped({ align: 1 });

export class Panes {
  constructor(parent, look, mark) {
    this.look = look;
    this.colours = new Map(Object.entries(look.loads)); // of loads, and of tasks on show: the same in all panes
    this.diskColours = new Map(); // the same in both panes; too few colours to differ from tasks' too
    const area = (label, fill) => ({ label, fill, stroke: fill, width: 0, points: { show: false }, paths: stepped });
    const line = (label, stroke) => ({ label, stroke, width: 1.6, spanGaps: true, points: { show: false }, paths: stepped });
    const pane = (key, title, what, unit, least, series = []) =>
      new Pane(parent, { key, title, what, unit, least, series }, mark);
    this.all = [
      pane("state", "dirty state", "dirty page cache and the thresholds", "MiB", 1, [
        area("+ writeback", look.writeback), // the sum of both, drawn behind dirty
        area("dirty", look.dirty),
        line("background threshold", look.background),
        line("dirty threshold", look.threshold),
        line("dirty limit", look.limit),
      ]),
      pane("throttled", "throttling", "pauses that the kernel imposes on writers, one point each", "ms", 220),
      pane("waits", "pauses", "time that a small write has taken so far", "s", 0.5),
      pane("pressure", "pressure", "share of time in which some tasks, or all non-idle tasks, waited for I/O", "%", 100, [
        area("some", look.writeback),
        area("full", look.pause),
      ]),
      pane("writers", "top writers", "rate into the page cache, by task name (and disk, if known)", "MiB/s", 0.1),
      pane("disks", "disks", "rate at which each disk completed writes", "MiB/s", 0.1),
      pane("busy", "busy", "share of time in which a disk had a request in flight", "%", 100),
    ];
  }

  draw(store, from, to) {
    const tables = {
      state: store.state.table(from, to),
      throttled: store.throttled.table(from, to, MOST_TASKS),
      waits: store.waitsTable(from, to),
      pressure: store.pressure.table(from, to),
      writers: store.writers.table(from, to, MOST_TASKS),
      disks: store.disks.table(from, to, MOST_DISKS),
      busy: store.busy.table(from, to, MOST_DISKS),
    };
    const names = (...keys) => keys.flatMap((key) => tables[key].names);
    this.tasks = store.tasks;
    const coloured = names("throttled", "waits", "writers").map((name) => this.coloured(name));
    this.colour(this.colours, coloured, this.look.loads);
    this.colour(this.diskColours, names("disks", "busy"), {});
    for (const pane of this.all) pane.draw(tables[pane.key], from, to, (name) => this.series(pane.key, name));
  }

  // The name that decides a label's colour: for a load its own, whatever its disk.
  coloured(label) {
    const task = this.tasks.get(label);
    return Object.hasOwn(this.look.loads, task) ? task : label;
  }

  resize() {
    for (const pane of this.all) pane.resize();
  }

  // Names keep their colour while they are on show; loads (`always`) have fixed colours.
  colour(colours, names, always) {
    for (const name of colours.keys()) if (!names.includes(name) && !Object.hasOwn(always, name)) colours.delete(name);
    for (const name of names) {
      if (colours.has(name)) continue;
      const used = [...colours.values()];
      colours.set(name, this.look.series.find((each) => !used.includes(each)) ?? this.look.others);
    }
  }

  series(key, name) {
    const stroke = ["disks", "busy"].includes(key) ? this.diskColours.get(name) : this.colours.get(this.coloured(name));
    if (key === "throttled") {
      return { label: name, stroke, paths: () => null, points: { show: true, size: 4, width: 0, fill: stroke } };
    }
    if (key === "waits") return { label: name, stroke, fill: `${stroke}40`, width: 1.2, spanGaps: true, points: { show: false } };
    return { label: name, stroke, width: 1.6, points: { show: false }, paths: uPlot.paths.stepped({ align: -1 }) };
  }
}

class Pane {
  constructor(parent, { key, title, what, unit, least, series }, mark) {
    this.key = key;
    this.root = parent.appendChild(document.createElement("section"));
    this.root.className = "pane";
    this.root.id = `pane-${key}`;
    const head = this.root.appendChild(document.createElement("div"));
    head.className = "pane-head";

    const words = head.appendChild(document.createElement("h2"));
    words.className = "pane-title";
    words.append(Object.assign(document.createElement("b"), { textContent: title }), what);
    const ink = () => css("--ink");
    const grid = { stroke: () => css("--grid"), width: 1 };
    this.plot = new uPlot({
      width: this.width(),
      height: HEIGHT[key],
      padding: [8, 20, 0, 0],
      series: [{ label: "s" }, ...series.map((each) => ({ value, ...each }))],
      scales: {
        x: { time: false, auto: false },
        y: { range: (plot, low, high) => [0, Math.max(least, (high ?? 0) * HEADROOM)] },
      },
      axes: [
        { stroke: ink, grid, ticks: grid, size: 30, values: (plot, ticks) => ticks.map((each) => `${each} s`) },
        { stroke: ink, grid, ticks: grid, size: 64, label: unit, labelSize: 16, labelGap: -2 },
      ],
      cursor: { sync: { key: "time" }, y: false, drag: { x: true, y: false, setScale: false } },
      legend: { mount: (plot, legend) => head.appendChild(legend) },
      hooks: {
        setSelect: [(plot) => {
          const { left, width } = plot.select;
          if (width > 4) mark(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
          if (width) plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
      },
    }, [[], ...series.map(() => [])], this.root);
    this.plot.root.querySelector(".u-wrap").setAttribute("role", "img");
    this.plot.root.querySelector(".u-wrap").setAttribute("aria-label", `${title}: ${what}, in ${unit}`);
    this.root.hidden = true;
  }

  // `table`: columns, x first, and the names of the others. A pane that never had data is hidden.
  draw(table, from, to, seriesOf) {
    if (table.columns[0].length) this.root.hidden = false;
    if (this.root.hidden) return;
    const { plot } = this;
    plot.batch(() => {
      for (let at = plot.series.length - 1; at > 0; at--) if (!table.names.includes(plot.series[at].label)) plot.delSeries(at);
      for (const name of table.names) {
        if (!plot.series.some((each) => each.label === name)) plot.addSeries({ value, ...seriesOf(name) });
      }
      const column = (series) => table.columns[table.names.indexOf(series.label) + 1];
      plot.setData([table.columns[0], ...plot.series.slice(1).map(column)], false);
      plot.setScale("x", { min: from, max: to });
    });
  }

  width() {
    return this.root.clientWidth;
  }

  resize() {
    this.plot.setSize({ width: this.width(), height: HEIGHT[this.key] });
  }
}

function value(plot, each) {
  if (each === null || each === undefined) return "";
  return String(Number(each < 1 ? each.toFixed(3) : each.toPrecision(3)));
}

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

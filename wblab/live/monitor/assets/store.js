// The samples so far, as columns: times in seconds since the source's zero, sizes in MiB.

const MIB = 1 << 20;
const KEPT_S = 3600; // older samples are dropped
const SHORT_S = 0.005; // a wait below this is drawn as a point

export class Store {
  constructor(source) {
    this.zeroNs = source.zero_ns;
    this.firstS = null;
    this.nowS = 0;
    this.lost = 0;
    this.state = new Rows();
    this.throttled = new Rows();
    this.writers = new Rows();
    this.pressure = new Rows();
    this.disks = new Rows(); // rate of each
    this.busy = new Rows();
    this.waits = new Map(); // name -> {x, y, going}
    this.tasks = new Map(); // label -> task
  }

  seconds(timeNs) {
    return (timeNs - this.zeroNs) / 1e9;
  }

  add(batch) {
    this.nowS = this.seconds(batch.now_ns);
    this.firstS ??= this.nowS;
    this.lost += batch.lost;
    for (const each of batch.states ?? []) this.addState(each);
    for (const each of batch.throttled ?? []) this.throttled.add(this.seconds(each.at_ns), { [this.label(each)]: each.pause_ns / 1e6 });
    for (const each of batch.waits ?? []) this.addWait(each);
    for (const each of batch.pressures ?? []) this.addPressure(each);
    if (batch.writers) this.addWriters(batch.writers);
    if (batch.disks) this.addDisks(batch.disks);
  }

  // The label of a task, with the disk that it writes to if known.
  label({ task, disk }) {
    const label = disk ? `${task} (${disk})` : task;
    this.tasks.set(label, task);
    return label;
  }

  addState(each) {
    this.state.add(this.seconds(each.at_ns), {
      "+ writeback": (each.dirty + each.writeback) / MIB,
      dirty: each.dirty / MIB,
      "background threshold": each.background / MIB,
      "dirty threshold": each.threshold / MIB,
      "dirty limit": each.limit === null ? null : each.limit / MIB,
    });
  }

  // How long a write has taken so far: grows while it lasts, drops at its end.
  addWait(each) {
    if (!this.waits.has(each.name)) this.waits.set(each.name, { x: [], y: [], going: null });
    const wait = this.waits.get(each.name);
    const [start, at] = [this.seconds(each.start_ns), this.seconds(each.at_ns)];
    wait.going = each.over ? null : { start, at };
    if (!each.over) return;
    if (at - start < SHORT_S) {
      wait.x.push(at);
      wait.y.push(at - start);
    } else {
      wait.x.push(start, at, at + 1e-6);
      wait.y.push(0, at - start, 0);
    }
  }

  addPressure(each) {
    if (!each.span_ns) return;
    const share = (partNs) => Math.min(100, (100 * partNs) / each.span_ns); // the kernel's clock differs slightly
    this.pressure.add(this.seconds(each.at_ns), { some: share(each.some_ns), full: share(each.full_ns) });
  }

  addWriters(writers) {
    const rates = Object.create(null); // writers not listed wrote next to nothing
    for (const name of this.writers.named.keys()) rates[name] = 0;
    this.fill(this.writers, writers[0]);
    for (const each of writers) rates[this.label(each)] = each.written / MIB / (each.span_ns / 1e9);
    this.writers.add(this.seconds(writers[0].at_ns), rates);
  }

  // A value covers the span before it: insert zeros for empty spans in between.
  fill(rows, { at_ns, span_ns }) {
    const begin = this.seconds(at_ns - span_ns);
    if (!rows.x.length || rows.x.at(-1) > begin - SHORT_S) return;
    rows.add(begin, Object.fromEntries([...rows.named.keys()].map((name) => [name, 0])));
  }

  addDisks(disks) {
    const at = this.seconds(disks[0].at_ns);
    this.fill(this.disks, disks[0]);
    this.fill(this.busy, disks[0]);
    const rates = Object.create(null); // disks not listed were idle
    const shares = Object.create(null);
    for (const name of this.disks.named.keys()) rates[name] = 0;
    for (const name of this.busy.named.keys()) shares[name] = 0;
    for (const each of disks) {
      rates[each.disk] = each.written / MIB / (each.span_ns / 1e9);
      if (each.busy_ns !== null) shares[each.disk] = Math.min(100, (100 * each.busy_ns) / each.span_ns);
    }
    this.disks.add(at, rates);
    if (Object.keys(shares).length) this.busy.add(at, shares);
  }

  waitsTable(from, to) {
    const names = [...this.waits.keys()];
    const tables = [...this.waits.values()].map(({ x, y, going }) => {
      const [times, waited] = cut([x, y], from, to);
      return going ? [[...times, going.start, going.at], [...waited, 0, going.at - going.start]] : [times, waited];
    });
    return { names, columns: tables.length ? uPlot.join(tables) : [[]] };
  }

  forget() {
    const before = this.nowS - KEPT_S;
    for (const rows of [this.state, this.throttled, this.writers, this.pressure, this.disks, this.busy]) rows.forget(before);
    for (const wait of this.waits.values()) forget([wait.x, wait.y], before);
  }
}

// A table that gains a column with each new name; a row without a name has a gap there.
class Rows {
  constructor() {
    this.x = [];
    this.named = new Map();
  }

  add(x, values) {
    for (const name of Object.keys(values)) {
      if (!this.named.has(name)) this.named.set(name, new Array(this.x.length).fill(null));
    }
    this.x.push(x);
    for (const [name, column] of this.named) column.push(Object.hasOwn(values, name) ? values[name] ?? null : null);
  }

  // The rows from..to plus one on either side, for uPlot; only the `most` columns with the largest sums.
  table(from, to, most = Infinity) {
    const [x, ...columns] = cut([this.x, ...this.named.values()], from, to);
    const named = [...this.named.keys()].map((name, at) => ({ name, column: columns[at] }));
    const shown = most === Infinity ? named : largest(named, most);
    return { names: shown.map((each) => each.name), columns: [x, ...shown.map((each) => each.column)] };
  }

  forget(before) {
    forget([this.x, ...this.named.values()], before);
    for (const [name, column] of this.named) if (column.every((each) => each === null)) this.named.delete(name);
  }
}

function largest(named, most) {
  const sums = new Map(named.map((each) => [each, each.column.reduce((sum, value) => sum + value, 0)]));
  const present = named.filter((each) => sums.get(each) > 0);
  return present.sort((one, other) => sums.get(other) - sums.get(one)).slice(0, most);
}

function forget(columns, before) {
  const gone = firstAfter(columns[0], before);
  if (gone > 1000) for (const column of columns) column.splice(0, gone);
}

function firstAfter(x, value) {
  let [low, high] = [0, x.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function cut(columns, from, to) {
  const first = Math.max(0, firstAfter(columns[0], from) - 1);
  const last = firstAfter(columns[0], to) + 1;
  return columns.map((column) => column.slice(first, last));
}

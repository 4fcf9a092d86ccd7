// The panes of a run's timeline. The marks are in the page as data (wblab/plot/pagemarks.py); uPlot has the axes.
"use strict";

const place = document.getElementById("timeline");
const isDark = matchMedia("(prefers-color-scheme: dark)");
const PANE_PX = 120, TIME_AXIS_PX = 26, VALUE_AXIS_PX = 64, LABEL_PX = 14, FONT = "11px sans-serif", NEAR_PX = 12, EDGED_PX = 5, ROOM_PX = 90;
const PAUSE = ["#D55E00", "#D55E00"]; // of a pause whose causes are not known, as in wblab/plot/style.py
const PAUSED = "paused";

const element = (tag, properties = {}, ...inner) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...inner);
  return made;
};
const ink = (colours) => colours[isDark.matches ? 1 : 0];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The last place of a sorted list whose value is at most this one, or -1.
function upTo(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Seconds from steps of microseconds.
function seconds(steps) {
  let sum = 0;
  return Float64Array.from(steps, (step) => (sum += step) / 1e6);
}

// A number with a format of d3's: ".2f", ",.0f", or ".3~s" with an SI prefix.
function written(number, format) {
  if (format.endsWith("s")) {
    const power = number ? Math.min(4, Math.max(-3, Math.floor(Math.log10(Math.abs(number)) / 3))) : 0;
    return `${Number((number / 1000 ** power).toPrecision(3))} ${["n", "µ", "m", "", "k", "M", "G", "T"][power + 3]}`;
  }
  const digits = Number(/\.(\d+)/.exec(format)?.[1] ?? 3);
  return number.toLocaleString("en", {
    minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: format.startsWith(","),
  });
}

const filled = (words, values) =>
  words.replace(/\{(\w+):?([^}]*)\}/g, (all, name, format) => (format ? written(values[name], format) : values[name]));

// A mark: how it is drawn in a pane, and what it says of a time. `draw` gets places in pixels.
const MARKS = {
  Line(mark) {
    return { ...stepped(mark), draw: (pane) => pane.line(mark, (at) => mark.y[at]) };
  },
  LevelMarks(mark) {
    const until = (at) => (at + 1 < mark.x.length ? mark.y[at] : null);
    const said = (time) => {
      const at = upTo(mark.x, time);
      return at >= 0 && until(at) !== null ? [[mark, filled(mark.words, { name: mark.name, value: mark.y[at], time: mark.x[at] })]] : [];
    };
    return { said, draw: (pane) => pane.line(mark, until) };
  },
  PointMarks(mark) {
    const said = (time, near) => {
      const at = [upTo(mark.x, time), upTo(mark.x, time) + 1].filter((each) => Math.abs(mark.x[each] - time) < near)
        .sort((one, other) => Math.abs(mark.x[one] - time) - Math.abs(mark.x[other] - time))[0];
      return at === undefined ? [] : [[mark, spoken(mark, at)]];
    };
    return { said, draw: (pane) => pane.points(mark) };
  },
  Stack(mark) {
    const tops = mark.layers.map((layer, of) => layer.y.map((own, at) => mark.layers.slice(0, of + 1).reduce((sum, each) => sum + each.y[at], 0)));
    const said = (time, near, isShown) => {
      const at = upTo(mark.x, time);
      const values = (layer, of) => ({ name: layer.name, value: layer.y[at], top: tops[of][at], time: mark.x[at] });
      return at < 0 ? [] : mark.layers.map((layer, of) => [layer, filled(layer.words, values(layer, of))]).filter(([layer]) => isShown(layer));
    };
    const draw = (pane) => mark.layers.forEach((layer, of) => {
      if (pane.isShown(layer)) pane.area(mark.x, (at) => (of ? tops[of - 1][at] : 0), (at) => tops[of][at], layer.colour);
    });
    return { said, draw };
  },
  Blocks(mark) {
    const [many, last] = [new Set(mark.many), mark.x.length - 1];
    const isAlike = (at) => !mark.parts.some((part) => part.y[at]);
    const said = (time) => {
      const at = upTo(mark.x, time);
      if (at < 0 || at >= last) return [];
      const paused = at in mark.pauses ? `paused for ${written(mark.pauses[at], ".3~s")}s; full height is a ` : many.has(at) ? "longest " : "";
      const cycle = `${mark.name}: ${paused}cycle of ${written(mark.y[at], ".3~s")}s, from ${written(mark.x[at], ".3f")} s`;
      return [[mark, [cycle, ...(mark.hover[at] ?? []).map((line) => `\u2002${line}`)].join("\n")]];
    };
    const draw = (pane) => {
      if (pane.isShown(mark)) pane.area(mark.x, () => 0, (at) => (at >= last || at in mark.pauses ? 0 : Math.min(mark.full, mark.y[at])), mark.colour, true);
      for (const at of Object.keys(mark.pauses).map(Number)) {
        if (isAlike(at) && !hidden.has(PAUSED)) pane.box(mark.x[at], mark.x[at + 1], 0, mark.full, ink(PAUSE));
        let bottom = 0;
        for (const part of mark.parts) {
          const top = bottom + (part.y[at] ?? 0) * mark.full / mark.pauses[at];
          if (top > bottom && pane.isShown(part)) pane.box(mark.x[at], mark.x[at + 1], bottom, top, part.hatched ? hatching(pane.context) : ink(part.colour), true);
          bottom = top;
        }
      }
    };
    return { said, draw };
  },
  Bars(mark) {
    const said = (time) => mark.bars.filter((bar) => bar.spans.some(([from, to]) => from <= time && time < to)).map((bar) => [bar, bar.text]);
    const draw = (pane) => {
      const half = mark.share / 2;
      for (const { row, colour, text, spans } of mark.bars) {
        const [from, to] = spans.reduce((one, other) => (one[1] - one[0] >= other[1] - other[0] ? one : other));
        for (const span of spans) pane.box(...span, row + 0.5 + half, row + 0.5 - half, ink(colour));
        const [left, right] = [Math.max(from, pane.view.from), Math.min(to, pane.view.to)];
        if (left < right) pane.text((left + right) / 2, row + 0.5, text, css("--ink"), "inside");
      }
      for (const [time, above, below] of mark.arrows) pane.text(time, (above + below + 1) / 2, "\u2193", css("--ink"), "inside");
    };
    return { said, draw };
  },
  // A pane with counts has no names of its own: each class of them is an entry of its legend.
  Counts(mark) {
    const [across, up, counts] = mark.cells;
    const colourOf = counts.map((count) => mark.classes.findLast((each) => each.least <= count));
    const said = (time, near, isShown, value) => counts.flatMap((count, at) => {
      const [left, bottom] = [mark.x[across[at]], mark.values[up[at]]];
      const isThere = left <= time && time < mark.x[across[at] + 1] && (value === undefined || (bottom <= value && value < mark.values[up[at] + 1]));
      return isThere && isShown(colourOf[at]) ? [[colourOf[at], filled(mark.words, { value: count, top: bottom, time: left })]] : [];
    });
    const draw = (pane) => {
      counts.forEach((count, at) => {
        if (pane.isShown(colourOf[at])) pane.box(mark.x[across[at]], mark.x[across[at] + 1], mark.values[up[at]], mark.values[up[at] + 1], ink(colourOf[at].colour));
      });
      for (const value of mark.lines) pane.across_at(value);
    };
    return { said, draw };
  },
  Label(mark) {
    return { said: () => [], draw: (pane) => pane.text(mark.x, mark.y, mark.text, ink(mark.colour), mark.side) };
  },
  Rules(mark) {
    return { said: () => [], draw: (pane) => pane.isShown(mark) && pane.rules(mark) };
  },
  Spans(mark) {
    return { said: () => [], isBehind: true, draw: (pane) => pane.isShown(mark) && pane.spans(mark) };
  },
};

const spoken = (mark, at) => filled(mark.words, { name: mark.name, value: (mark.said ?? mark.y)[at], time: mark.x[at] });
const stepped = (mark) => ({ said: (time) => (upTo(mark.x, time) < 0 ? [] : [[mark, spoken(mark, upTo(mark.x, time))]]) });
const readied = (mark) => {
  const known = mark.kind === "Label" ? mark : { ...mark, x: seconds(mark.x) };
  return { mark: known, ...MARKS[mark.kind](known) };
};

function hatching(context) {
  const tile = element("canvas", { width: 8, height: 8 });
  const drawn = tile.getContext("2d");
  drawn.fillStyle = css("--paper");
  drawn.fillRect(0, 0, 8, 8);
  drawn.strokeStyle = css("--ink");
  drawn.stroke(new Path2D("M-2 2 2 -2M0 8 8 0M6 10 10 6"));
  return context.createPattern(tile, "repeat");
}

// What a legend's entry has hidden: a name in one pane, or a group in all.
const hidden = new Set();

function entry(key, colours, text, isHatched, changed) {
  const squares = colours.map((each) => element("i", { className: isHatched ? "square hatched" : "square" }));
  const button = element("button", { type: "button" }, ...squares, text);
  const paint = () => squares.forEach((square, at) => square.style.setProperty("--colour", ink(colours[at])));
  button.setAttribute("aria-pressed", "true");
  button.onclick = () => {
    if (!hidden.delete(key)) hidden.add(key);
    button.setAttribute("aria-pressed", String(!hidden.has(key)));
    changed();
  };
  isDark.addEventListener("change", paint);
  paint();
  return button;
}

class Pane {
  constructor(data, number, figure, view) {
    Object.assign(this, data, { view, key: `${number}:` });
    this.marks = data.marks.map(readied);
    this.drawn = [...figure.everywhere.map(readied), ...this.marks];
    this.starts = number ? [] : figure.starts;
    const head = element("h2", { id: `pane-${number}` }, data.name, " ", element("small", {}, data.what));
    this.root = element("section", {}, head);
    this.root.setAttribute("aria-labelledby", head.id);
    const named = new Map(this.marks.flatMap(({ mark }) => mark.layers ?? mark.classes ?? [mark]).map((each) => [each.name, each.colour]));
    const legend = data.legend.map((name) => entry(this.key + name, [named.get(name)], name, false, () => this.plot.redraw(false)));
    if (legend.length) this.root.append(element("div", { className: "legend" }, ...legend));
    this.room = element("div", { className: "plot", tabIndex: 0 });
    this.room.setAttribute("role", "img");
    this.room.setAttribute("aria-label", `${data.name}, ${data.what}. ${data.says}`.trim());
    this.said = element("div", { className: "said", hidden: true });
    this.root.append(this.room, this.said);
    this.room.onkeydown = (event) => this.key_pressed(event);
    this.room.onblur = () => this.say(null);
  }

  // Once it is on the page, and has a width.
  begin() {
    const grid = { stroke: () => css("--grid"), width: 1 };
    const line = { stroke: () => css("--ink"), font: FONT, grid, ticks: { ...grid, size: 4 } };
    const { axis } = this;
    const given = axis.ticks && { splits: () => axis.ticks.map(([at]) => this.scaled(at)), values: () => axis.ticks.map(([, text]) => text), filter: (plot, splits) => splits };
    this.plot = new uPlot({
      ...this.size(),
      padding: [4, 12, 0, 0],
      legend: { show: false },
      series: [{}, { paths: () => null, points: { show: false } }],
      scales: { x: { time: false, auto: false }, y: { auto: false, dir: axis.low > axis.high ? -1 : 1, range: () => [axis.low, axis.high].map((end) => this.scaled(end)).sort((one, other) => one - other) } },
      axes: [
        { ...line, size: TIME_AXIS_PX, values: (plot, ticks) => ticks.map((each) => `${Number(each.toFixed(6))} s`) },
        { ...line, size: VALUE_AXIS_PX + (axis.unit ? 0 : LABEL_PX), label: axis.unit || undefined, labelFont: FONT, labelSize: LABEL_PX, space: this.height * PANE_PX / (axis.count + 1), ...given },
      ],
      cursor: {
        sync: { key: "time" }, y: false, points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => this.view.show(...this.view.whole) },
      },
      hooks: {
        drawAxes: [() => this.draw(true)],
        draw: [() => this.draw(false)],
        setCursor: [(plot) => this.pointed(plot)],
        setSelect: [(plot) => {
          const { left, width } = plot.select;
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          if (width > 4) this.view.show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
        }],
      },
    }, [[...this.view.whole], [null, null]], this.room);
    this.plot.over.onmouseleave = () => this.say(null);
    this.plot.setScale("x", { min: this.view.from, max: this.view.to });
  }

  size() {
    return { width: this.root.clientWidth, height: Math.max(60, Math.round(PANE_PX * this.height)) + TIME_AXIS_PX };
  }

  scaled(value) {
    return this.axis.log ? Math.log10(value) : value;
  }

  isShown(mark) {
    return !hidden.has(mark.group ?? this.key + mark.name);
  }

  draw(isBehind) {
    const { ctx, bbox } = this.plot;
    this.context = ctx;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const each of this.drawn) if (Boolean(each.isBehind) === isBehind) each.draw(this);
    if (!isBehind) for (const [start, text] of this.starts) this.text(start, null, text, css("--ink"), this.across(start) > bbox.left + bbox.width - ROOM_PX * devicePixelRatio ? "left" : "right");
    ctx.restore();
  }

  across(time) {
    return this.plot.valToPos(time, "x", true);
  }

  up(value) {
    const { top, height } = this.plot.bbox;
    return Math.min(top + height, Math.max(top - 1, this.plot.valToPos(this.scaled(value), "y", true)));
  }

  // The first and the last of sorted times on show.
  range(x) {
    return [Math.max(0, upTo(x, this.view.from)), Math.min(x.length - 1, upTo(x, this.view.to) + 1)];
  }

  line(mark, value) {
    if (!this.isShown(mark)) return;
    const [first, last] = this.range(mark.x);
    const path = new Path2D();
    let isDrawn = false;
    for (let at = first; at <= last; at++) {
      const y = value(at);
      if (y === null || y === undefined) {
        isDrawn = false;
        continue;
      }
      const [x, height, end] = [this.across(mark.x[at]), this.up(y), this.across(mark.x[Math.min(at + 1, mark.x.length - 1)])];
      path[isDrawn ? "lineTo" : "moveTo"](x, height);
      path.lineTo(end, height);
      isDrawn = true;
    }
    this.context.strokeStyle = ink(mark.colour);
    this.context.lineWidth = mark.width * 4 / 3 * devicePixelRatio;
    this.context.stroke(path);
  }

  points(mark) {
    if (!this.isShown(mark)) return;
    const [first, last] = this.range(mark.x);
    const side = 2 * mark.size * devicePixelRatio;
    this.context.fillStyle = ink(mark.colour);
    for (let at = first; at <= last; at++) this.context.fillRect(this.across(mark.x[at]) - side / 2, this.up(mark.y[at]) - side / 2, side, side);
  }

  // An area that keeps each value until the next time. isEdged: thin parts stay visible.
  area(x, low, high, colours, isEdged = false) {
    const [first, last] = this.range(x);
    const path = new Path2D();
    const end = (at) => this.across(x[Math.min(at + 1, x.length - 1)]);
    path.moveTo(this.across(x[first]), this.up(low(first)));
    for (let at = first; at <= last; at++) {
      path.lineTo(this.across(x[at]), this.up(high(at)));
      path.lineTo(end(at), this.up(high(at)));
    }
    for (let at = last; at >= first; at--) {
      path.lineTo(end(at), this.up(low(at)));
      path.lineTo(this.across(x[at]), this.up(low(at)));
    }
    this.context.fillStyle = this.context.strokeStyle = ink(colours);
    this.context.fill(path);
    this.context.lineWidth = 0.5 * devicePixelRatio;
    if (isEdged) this.context.stroke(path);
  }

  box(from, to, low, high, fill, isEdged = false) {
    if (to < this.view.from || from > this.view.to) return;
    const [left, top] = [this.across(from), this.up(high)];
    const [width, height] = [Math.max(devicePixelRatio, this.across(to) - left), this.up(low) - top];
    this.context.fillStyle = fill;
    this.context.fillRect(left, top, width, height);
    this.context.lineWidth = devicePixelRatio;
    this.context.strokeStyle = css("--rule");
    if (isEdged && width > EDGED_PX * devicePixelRatio) this.context.strokeRect(left, top, width, height);
  }

  across_at(value) {
    const { ctx, bbox: { left, width } } = this.plot;
    ctx.fillStyle = css("--ink");
    ctx.fillRect(left, this.up(value), width, devicePixelRatio);
  }

  rules(mark) {
    const { ctx, bbox: { top, height } } = this.plot;
    const path = new Path2D();
    const [first, last] = this.range(mark.x);
    for (let at = first; at <= last; at++) {
      path.moveTo(this.across(mark.x[at]), top);
      path.lineTo(this.across(mark.x[at]), top + height);
    }
    ctx.globalAlpha = mark.opacity;
    ctx.setLineDash(mark.dashed ? [5 * devicePixelRatio, 4 * devicePixelRatio] : []);
    ctx.strokeStyle = ink(mark.colour);
    ctx.lineWidth = mark.width * devicePixelRatio;
    ctx.stroke(path);
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  spans(mark) {
    const { ctx, bbox: { top, height } } = this.plot;
    ctx.globalAlpha = mark.opacity;
    ctx.fillStyle = ink(mark.colour);
    for (let at = 0; at < mark.x.length; at += 2) {
      const left = this.across(mark.x[at]);
      ctx.fillRect(left, top, Math.max(devicePixelRatio, this.across(mark.x[at + 1]) - left), height);
    }
    ctx.globalAlpha = 1;
  }

  // A text beside a point; without a value, at the top. It keeps its distance from the sides.
  text(time, value, text, colour, side) {
    if (time < this.view.from || time > this.view.to) return;
    const { ctx, bbox } = this.plot;
    const scale = devicePixelRatio;
    ctx.font = `${value === null ? "" : "bold "}${12 * scale}px sans-serif`;
    const room = bbox.width - 4 * scale;
    if (ctx.measureText(text).width > room) {
      while (text && ctx.measureText(`${text}…`).width > room) text = text.slice(0, -1);
      text = `${text.trimEnd()}…`;
    }
    const width = ctx.measureText(text).width;
    const shift = { above: -width / 2, inside: -width / 2, left: -width - 4 * scale, right: 4 * scale }[side];
    const x = Math.min(bbox.left + bbox.width - width, Math.max(bbox.left, this.across(time) + shift));
    const y = value === null ? bbox.top + 12 * scale : this.up(value) + (side === "above" ? -4 : 4) * scale;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    if (side !== "above") {
      ctx.fillStyle = css("--paper");
      ctx.fillRect(x - 2, y - 11 * scale, width + 4, 14 * scale);
    }
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  }

  // The cursor is where the mouse is, or where keys have moved it.
  pointed(plot) {
    if (this.view.pane === this && plot.cursor.left >= 0) this.say(plot.posToVal(plot.cursor.left, "x"), this.axis.log ? 10 ** plot.posToVal(plot.cursor.top, "y") : plot.posToVal(plot.cursor.top, "y"));
  }

  // What there is at a time and, under a mouse, at a value.
  say(time, value) {
    this.view.time = time;
    const near = NEAR_PX * (this.view.to - this.view.from) / (this.plot.over.clientWidth || 1);
    const isShown = (mark) => this.isShown(mark);
    const found = time === null ? [] : this.marks.filter(({ mark }) => mark.layers || mark.classes || mark.bars || isShown(mark)).flatMap((each) => each.said(time, near, isShown, value));
    this.said.hidden = !found.length;
    if (!found.length) return;
    const rows = found.map(([mark, text]) => {
      const square = element("i", { className: "square" });
      square.style.setProperty("--colour", ink(mark.colour));
      return element("p", {}, square, text);
    });
    this.said.replaceChildren(element("p", {}, `at ${written(time, ".3f")} s`), ...rows);
    const isRight = this.across(time) > this.plot.bbox.left + this.plot.bbox.width / 2;
    const at = this.room.offsetLeft + this.across(time) / devicePixelRatio;
    this.said.style.setProperty("--left", isRight ? "auto" : `${at + 14}px`);
    this.said.style.setProperty("--right", isRight ? `${this.root.clientWidth - at + 14}px` : "auto");
    this.said.style.setProperty("--top", `${this.room.offsetTop + 8}px`);
  }

  key_pressed(event) {
    const { view, plot } = this;
    const step = (event.shiftKey ? 0.1 : 0.01) * (view.to - view.from);
    const time = view.time ?? (view.from + view.to) / 2;
    const does = {
      ArrowLeft: () => this.move(time - step),
      ArrowRight: () => this.move(time + step),
      "+": () => view.zoom(0.5, time),
      "-": () => view.zoom(2, time),
      Home: () => view.show(...view.whole),
      Escape: () => plot.setCursor({ left: -10, top: -10 }),
    }[event.key];
    if (!does || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    view.pane = this;
    does();
    if (event.key === "Escape") this.say(null);
    place.querySelector("[role=status]").textContent = this.said.hidden ? "" : this.said.innerText;
  }

  move(time) {
    const shown = Math.min(this.view.to, Math.max(this.view.from, time));
    this.plot.setCursor({ left: this.plot.valToPos(shown, "x"), top: 10 });
    this.say(shown);
  }
}

class View {
  constructor(figure) {
    [this.from, this.to] = this.whole = figure.shown;
    this.time = null;
    this.panes = figure.panes.map((each, number) => new Pane(each, number, figure, this));
    const redraw = () => this.panes.forEach((pane) => pane.plot.redraw(false));
    const longest = this.panes.flatMap(({ marks }) => marks.filter(({ mark }) => mark.kind === "Blocks"))
      .flatMap(({ mark }) => Object.entries(mark.pauses).map(([at, pause]) => ({ pause, from: mark.x[at], to: mark.x[Number(at) + 1] })))
      .reduce((one, other) => (one && one.pause >= other.pause ? one : other), null);
    const button = (text, onclick) => element("button", { type: "button", textContent: text, onclick });
    const pan = (share) => () => this.show(this.from + share * (this.to - this.from), this.to + share * (this.to - this.from));
    const bar = element("div", { className: "bar" },
      button("Zoom in", () => this.zoom(0.5)), button("Zoom out", () => this.zoom(2)),
      button("Earlier", pan(-0.5)), button("Later", pan(0.5)), button("Everything", () => this.show(...this.whole)));
    if (longest) bar.append(button("Longest pause", () => this.show(longest.from - 0.4 * (longest.to - longest.from), longest.to + 0.4 * (longest.to - longest.from))));
    const groups = new Set(this.panes.flatMap(({ drawn }) => drawn.flatMap(({ mark }) => [mark.group, ...(mark.parts ?? []).map((part) => part.group), mark.pauses && PAUSED])));
    const meanings = figure.meanings.filter(({ group }) => groups.has(group)).map(({ group, colours, text, hatched }) => entry(group, colours, text, hatched, redraw));
    const help = "Drag to zoom, double-click to show everything; an entry of a legend hides what it names. With keys: arrows, + and -, Home.";
    const spoken = element("p", { className: "unseen" });
    spoken.setAttribute("role", "status");
    place.replaceChildren(element("div", { className: "top" }, bar, element("div", { className: "legend" }, ...meanings)), ...this.panes.map((pane) => pane.root), element("p", { className: "help", textContent: help }), spoken);
    for (const pane of this.panes) {
      pane.begin();
      pane.room.onmouseenter = pane.room.onfocus = () => { this.pane = pane; };
    }
    const colour = () => redraw();
    isDark.addEventListener("change", colour);
    new ResizeObserver(() => this.panes.forEach((pane) => pane.plot.width !== pane.root.clientWidth && pane.plot.setSize(pane.size()))).observe(place);
  }

  show(from, to) {
    const [first, last] = this.whole;
    const width = Math.min(last - first, Math.max(1e-5, to - from));
    const begin = Math.max(first, Math.min(from, last - width));
    this.set(begin, begin + width);
  }

  set(from, to) {
    [this.from, this.to] = [from, to];
    for (const pane of this.panes) pane.plot.setScale("x", { min: this.from, max: this.to });
  }

  zoom(by, around = this.time ?? (this.from + this.to) / 2) {
    this.show(around - by * (around - this.from), around + by * (this.to - around));
  }

  // A link may name the span to show, in s since the loads started: timeline.html#8.4-10.5. It is shown as named, so that
  // a pause near an end stays in the middle.
  linked() {
    const [, from, to] = /^#([0-9.]+)-([0-9.]+)$/.exec(location.hash)?.map(Number) ?? [];
    if (from < to) this.set(from, to);
  }
}

unpacked("figure").then((figure) => {
  const view = new View(figure);
  view.linked();
  addEventListener("hashchange", () => view.linked());
  requestAnimationFrame(() => {
    place.dataset.drawn = "yes";
    performance.mark("drawn");
  });
  window.timeline = view; // for the console and tests
});

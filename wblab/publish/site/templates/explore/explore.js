const byId = (id) => document.getElementById(id);
const made = (tag, look, text) => { const one = document.createElement(tag); if (look) one.className = look; if (text !== undefined) one.textContent = text; return one; };
const SAME = 1.25; // a change by less than a fifth is none: from 1 s to 0.8 s, or back
const NEVER = 0.1; // in s: shorter freezes are none
const seconds = (s) => (s < NEVER ? "under 0.1 s" : s.toPrecision(s < 0.995 ? 2 : 3) + " s");
let D, shown, wanted;
const guesses = new Map(); // of each knob, whether the last guess on it was right

const at = (levels) => D.positions[levels.join()];
const change = (from, to) => { const [a, b] = [from, to].map((one) => Math.max(one.longest, NEVER)); return b * SAME <= a ? -1 : b >= a * SAME ? 1 : 0; };
const within = (title) => title.replace(/^The /, "the "); // a sentence
const changed = () => D.knobs.map((_, k) => k).filter((k) => shown[k] !== wanted[k]);
const named = (k, levels) => D.knobs[k].levels[levels[k]];

// The lanes of a position: its times are in hundredths of a second.
function lanesAt(position) {
  return D.lanes.map((lane, number) => {
    const [start, end] = position.works[number].map((time) => time * 1e7), flat = position.frozen[number], frozen = [];
    for (let place = 0; place < flat.length; place += 2) frozen.push([flat[place] * 1e7, (flat[place] + flat[place + 1]) * 1e7]);
    return { ...lane, start_ns: start, end_ns: end, frozen_ns: lane.role === "offender" ? [] : frozen };
  });
}
function draw(into, position) {
  byId(into).replaceChildren(...lanesPicture(lanesAt(position), D.duration * 1e9));
  byId(into + "-big").replaceChildren(seconds(position.longest), " ", made("small", "", "longest freeze"));
}

function knobs() {
  byId("knobs").replaceChildren(...D.knobs.map((knob, k) => {
    const set = made("fieldset"), head = made("legend", "", knob.title + " "), levels = made("div", "levels");
    const mark = made("span", "mark"); mark.id = "mark-" + k;
    head.append(mark, made("span", "", knob.about ? `– ${knob.about}` : ""));
    levels.append(...knob.levels.map((level, number) => {
      const label = made("label"), radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "knob-" + k, value: number, checked: number === shown[k] });
      radio.addEventListener("change", () => { wanted[k] = number; ask(); });
      label.append(radio, level);
      return label;
    }));
    set.append(head, levels);
    return set;
  }));
}
function ask() {
  const which = changed();
  byId("ask").hidden = !which.length;
  if (!which.length) return;
  const words = which.map((k) => `${within(D.knobs[k].title)} from “${named(k, shown)}” to “${named(k, wanted)}”`);
  byId("question").textContent = `You change ${words.join(", and ")}. The longest freeze is ${seconds(at(shown).longest)} now. What do you expect?`;
}
function answer(guess) {
  const which = changed(), [from, to] = [at(shown), at(wanted)], came = change(from, to);
  const words = { "-1": "shorter", 0: "about the same", 1: "longer" };
  const times = `${seconds(from.longest)} became ${seconds(to.longest)}`;
  byId("verdict").replaceChildren(guess === "" ? `${times}: ${words[came]}.` : "");
  if (guess !== "") {
    const right = Number(guess) === came;
    byId("verdict").append(made("b", right ? "mark right" : "mark wrong", right ? "✓ Right. " : "✗ Not so. "), `You expected freezes to be ${words[guess]}; ${times}: ${words[came]}.`);
    if (which.length === 1) guesses.set(which[0], right);
  }
  byId("because").textContent = which.length === 1 ? D.knobs[which[0]].because : "";
  byId("tally").textContent = which.length === 1 ? tally(which[0], shown[which[0]], wanted[which[0]]) : "You changed several knobs at once: to learn what one of them does, change one at a time.";
  draw("old", from); draw("new", to);
  byId("old-name").textContent = which.map((k) => named(k, shown)).join("; ");
  byId("new-name").textContent = which.map((k) => named(k, wanted)).join("; ");
  shown = [...wanted];
  byId("ask").hidden = true; byId("result").hidden = byId("why-part").hidden = false; // the reason gives a guess away
  now(); score();
  byId("first").hidden = true; // the panel below has the same
  byId("result-name").focus({ preventScroll: true });
  byId("result").scrollIntoView({ block: "start" });
}
function tally(k, from, to) {
  const count = { "-1": 0, 0: 0, 1: 0 };
  for (const [key, position] of Object.entries(D.positions)) {
    const levels = key.split(",").map(Number);
    if (levels[k] === from) count[change(position, at(levels.with ? levels.with(k, to) : levels.map((level, place) => (place === k ? to : level))))] += 1;
  }
  const all = count[-1] + count[0] + count[1];
  return `Is that always so? This change was made with all ${all} combinations of the other knobs: freezes became shorter in ${count[-1]}, stayed about the same in ${count[0]}, and became longer in ${count[1]}.`;
}
function now() {
  const position = at(shown);
  draw("now", position);
  byId("why").replaceChildren(...(position.why.length ? position.why : ["No freeze of 0.3 s or longer."]).map((text) => made("p", "", text)));
  const own = shown.flatMap((level, k) => D.knobs[k].settings[level]);
  byId("line").textContent = [`wblab run ${D.preset}`, ...D.settings.concat(own).map((one) => `--set ${one}`)].join(" ");
  byId("digest").textContent = position.digest;
}
function score() {
  guesses.forEach((right, k) => { byId("mark-" + k).className = right ? "mark right" : "mark wrong"; byId("mark-" + k).textContent = right ? "✓ " : "✗ "; });
  const right = [...guesses.values()].filter(Boolean).length, left = D.knobs.filter((_, k) => !guesses.has(k)).map((knob) => within(knob.title));
  byId("score").textContent = guesses.size ? `So far you foresaw what ${right} of ${D.knobs.length} knobs do.` + (left.length ? ` Not tried yet: ${left.join(", ")}.` : " Turn them all again in another order: does what you learnt still hold?") : "";
}
unpacked("data").then((data) => {
  D = data; shown = D.knobs.map(() => 0); wanted = [...shown];
  knobs(); now();
  document.querySelectorAll("[data-guess]").forEach((button) => button.addEventListener("click", () => answer(button.dataset.guess)));
}).catch(() => { byId("loading").textContent = "This browser could not unpack the page's data. It needs DecompressionStream: Chrome 80, Firefox 113, Safari 16.4 or later."; });

const byId = (id) => document.getElementById(id);
const made = (tag, look, text) => { const one = document.createElement(tag); if (look) one.className = look; if (text !== undefined) one.textContent = text; return one; };
const ROUNDS = ["Practice", "Second round"], WORDS = { "-1": "shorter", 0: "about the same", 1: "longer" };
const seconds = (s) => (s < D.never ? "under 0.1 s" : duration(s * 1e9));
// asked: where the card's change starts and where it leads. place: of the guesses that are asked for, as [round, number], or null.
let D, shown, wanted, asked, place;
const guesses = new Map(); // of each knob that was turned freely, whether the last guess on it was right
const scores = []; // of each round, one for each guess that was made: whether it was right

const at = (levels) => D.positions[levels.join()];
const change = (from, to) => { const [a, b] = [from, to].map((one) => Math.max(one.longest, D.never)); return b * D.same <= a ? -1 : b >= a * D.same ? 1 : 0; };
const within = (title) => title.replace(/^The /, "the "); // a sentence
const moved = (levels, k, level) => levels.map((one, which) => (which === k ? level : one));
const changed = () => D.knobs.map((_, k) => k).filter((k) => asked.from[k] !== asked.to[k]);
const named = (k, levels) => D.knobs[k].levels[levels[k]];

// The longest freeze is known exactly: a lane that has it says the same of it as the headline.
const exact = (length, longest) => (Math.abs(length - longest) <= 1e7 ? longest : length);
// The lanes of a position: its times are in hundredths of a second.
function lanesAt(position) {
  return D.lanes.map((lane, number) => {
    const [start, end] = position.works[number].map((time) => time * 1e7), flat = position.frozen[number], frozen = [];
    for (let place = 0; place < flat.length; place += 2) frozen.push([flat[place] * 1e7, flat[place] * 1e7 + exact(flat[place + 1] * 1e7, position.longest * 1e9)]);
    return { ...lane, start_ns: start, end_ns: end, frozen_ns: lane.role === "offender" ? [] : frozen };
  });
}
function draw(into, levels) {
  const position = at(levels);
  byId(into).replaceChildren(...lanesPicture(lanesAt(position), D.duration * 1e9));
  byId(into + "-big").replaceChildren(seconds(position.longest), " ", made("small", "", "longest freeze"));
}
const sentences = (levels) => (at(levels).why.length ? at(levels).why : ["No freeze of 0.3 s or longer."]);

function knobs() {
  byId("knobs").replaceChildren(...D.knobs.map((knob, k) => {
    const set = made("fieldset"), head = made("legend", "", knob.title + " "), levels = made("div", "levels");
    const mark = made("span", "mark"); mark.id = "mark-" + k;
    head.append(mark, made("span", "", knob.about ? `– ${knob.about}` : ""));
    levels.append(...knob.levels.map((level, number) => {
      const label = made("label"), radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "knob-" + k, value: number, checked: number === shown[k] });
      radio.addEventListener("change", () => { wanted[k] = number; asked = { from: shown, to: wanted }; if (changed().length) ask("What do you expect?"); else byId("card").hidden = true; });
      label.append(radio, level);
      return label;
    }));
    set.append(head, levels);
    return set;
  }));
}

// The knobs as they stand, in the order in which data meets them, and the one that is turned.
function settings() {
  const which = changed();
  byId("settings").replaceChildren(...D.flow.map((k) => {
    const one = made("li", which.includes(k) ? "turned" : ""), knob = D.knobs[k];
    one.append(made("b", "", knob.title), made("span", "", named(k, asked.from)));
    if (which.includes(k)) one.append(made("span", "to", `→ ${named(k, asked.to)}`), knob.about ? made("small", "", knob.about) : "");
    return one;
  }));
}
function ask(title) {
  const words = changed().map((k) => `${within(D.knobs[k].title)} is turned from “${named(k, asked.from)}” to “${named(k, asked.to)}”`);
  byId("card-name").textContent = title;
  byId("question").textContent = `The longest freeze is ${seconds(at(asked.from).longest)}. Now ${words.join(", and ")}. What do you expect?`;
  byId("old-name").textContent = ": " + changed().map((k) => named(k, asked.from)).join("; ");
  settings(); draw("old", asked.from);
  byId("card").hidden = byId("ask").hidden = false;
  byId("result").hidden = byId("next").hidden = true;
}
function pose() {
  const [round, number] = place, one = D.rounds[round][number];
  asked = { from: one.at, to: moved(one.at, one.knob, one.to) };
  ask(`${ROUNDS[round]}: guess ${number + 1} of ${D.rounds[round].length}`);
}
function answer(guess) {
  const which = changed(), [from, to] = [at(asked.from), at(asked.to)], came = change(from, to);
  const times = `${seconds(from.longest)} became ${seconds(to.longest)}`, right = guess !== "" && Number(guess) === came;
  byId("verdict").replaceChildren(guess === "" ? `${times}: ${WORDS[came]}.` : "");
  if (guess !== "") byId("verdict").append(made("b", right ? "mark right" : "mark wrong", right ? "✓ Right. " : "✗ Not so. "), `You expected freezes to be ${WORDS[guess]}; ${times}: ${WORDS[came]}.`);
  byId("because").textContent = which.length === 1 ? D.knobs[which[0]].because : "";
  byId("tally").textContent = which.length === 1 ? tally(which[0]) : "You changed several knobs at once: to learn what one of them does, change one at a time.";
  draw("new", asked.to);
  byId("new-name").textContent = ": " + which.map((k) => named(k, asked.to)).join("; ");
  byId("why").replaceChildren(...[["Before", asked.from], ["After", asked.to]].flatMap(([name, levels]) => [made("h4", "", name), ...sentences(levels).map((text) => made("p", "", text))]));
  byId("ask").hidden = true; byId("result").hidden = false;
  own(asked.to);
  if (place) counted(guess === "" ? null : right); else { if (guess !== "" && which.length === 1) guesses.set(which[0], right); shown = [...wanted]; score(); }
  byId("verdict").focus({ preventScroll: true });
  byId("verdict").scrollIntoView({ block: "center" });
}
// A guess that was asked for is one of a round; after the last round the knobs are the reader's.
function counted(right) {
  const [round, number] = place, last = number + 1 === D.rounds[round].length;
  scores[round] ??= [];
  if (right !== null) scores[round].push(right);
  const foresaw = (which) => `${which.filter(Boolean).length} of ${which.length}`, of = scores[round].length ? `You foresaw ${foresaw(scores[round])}` : "You made no guess", further = round + 1 < D.rounds.length && D.rounds[round + 1].length;
  byId("score").textContent = !last ? "" : further ? `Practice is over. ${of}. In the second round each knob is turned once more, from another start.` : `${of}${round && scores[0].length ? `, after ${foresaw(scores[0])} in practice` : ""}.`;
  place = !last ? [round, number + 1] : further ? [round + 1, 0] : null;
  byId("next").hidden = !place;
  byId("leave").textContent = place ? "Leave the guesses, turn the knobs freely" : "Turn the knobs freely";
}
function free(from) {
  place = null; shown = [...from]; wanted = [...from];
  byId("card").hidden = byId("leave").hidden = byId("told").hidden = true; byId("free").hidden = false;
  byId("play-name").textContent = "Turn the knobs: what would another setting do?";
  knobs(); byId("play-name").focus(); byId("play-name").scrollIntoView();
}
function tally(k) {
  const count = { "-1": 0, 0: 0, 1: 0 };
  for (const [key, position] of Object.entries(D.positions)) {
    const levels = key.split(",").map(Number);
    if (levels[k] === asked.from[k]) count[change(position, at(moved(levels, k, asked.to[k])))] += 1;
  }
  const all = count[-1] + count[0] + count[1];
  return `Is that always so? This change was made with all ${all} combinations of the other knobs: freezes became shorter in ${count[-1]}, stayed about the same in ${count[0]}, and became longer in ${count[1]}.`;
}
function own(levels) {
  const set = levels.flatMap((level, k) => D.knobs[k].settings[level]);
  byId("line").textContent = [`wblab run ${D.preset}`, ...D.settings.concat(set).map((one) => `--set ${one}`)].join(" ");
  byId("digest").textContent = at(levels).digest;
}
function score() {
  guesses.forEach((right, k) => { byId("mark-" + k).className = right ? "mark right" : "mark wrong"; byId("mark-" + k).textContent = right ? "✓ " : "✗ "; });
  const right = [...guesses.values()].filter(Boolean).length, left = D.knobs.filter((_, k) => !guesses.has(k)).map((knob) => within(knob.title));
  byId("score").textContent = guesses.size ? `So far you foresaw what ${right} of ${D.knobs.length} knobs do.` + (left.length ? ` Not tried yet: ${left.join(", ")}.` : "") : "";
}
unpacked("data").then((data) => {
  D = data;
  const start = D.knobs.map(() => 0);
  draw("start", start); own(start);
  byId("start-why").textContent = sentences(start)[0];
  document.querySelectorAll("[data-guess]").forEach((button) => button.addEventListener("click", () => answer(button.dataset.guess)));
  byId("next").addEventListener("click", () => { pose(); byId("card").focus({ preventScroll: true }); byId("card").scrollIntoView(); });
  byId("leave").addEventListener("click", () => free(place ? start : asked.to));
  if (D.rounds[0].length) { place = [0, 0]; pose(); } else free(start);
}).catch(() => { byId("loading").textContent = "This browser could not unpack the page's data. It needs DecompressionStream: Chrome 80, Firefox 113, Safari 16.4 or later."; });

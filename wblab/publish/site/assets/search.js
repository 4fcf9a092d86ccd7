// Finds the sections of pages that have all words of a question. The address has the question too: search.html#queue%20depth
const MOST = 50, AROUND = 90;  // sections shown; letters of text before and after the first word
const [question, said, list] = ["question", "said", "results"].map((name) => document.getElementById(name));

// What finds words, or the begins of words, in any case.
const pattern = (words) => new RegExp(`(?<!\\w)(?:${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");

// How well a section fits, 0 if a word is missing: words in titles count more than words in the text, and a phrase most.
function fit(words, title, heading, text) {
  let sum = pattern([words.join(" ")]).test(`${heading} ${text}`) ? 10 : 0;
  for (const word of words) {
    const [inTitle, inHeading, inText] = [title, heading, text].map((each) => each.match(pattern([word]))?.length ?? 0);
    const points = (inTitle ? 3 : 0) + (inHeading ? 5 : 0) + Math.min(inText, 4);
    if (!points) return 0;
    sum += points;
  }
  return sum;
}

// A part of a text as nodes, with the words of the question marked.
function excerpt(words, text) {
  const first = Math.max(0, text.search(pattern(words))), from = Math.max(0, first - AROUND);
  const part = text.slice(from, first + AROUND), nodes = [from ? "… " : ""];
  let at = 0;
  for (const found of part.matchAll(pattern(words))) {
    const mark = document.createElement("mark");
    mark.textContent = found[0];
    nodes.push(part.slice(at, found.index), mark);
    at = found.index + found[0].length;
  }
  return [...nodes, part.slice(at), first + AROUND < text.length ? " …" : ""];
}

function item(words, { address, title, anchor, heading, text }) {
  const made = document.createElement("li"), link = document.createElement("a"), below = document.createElement("small");
  link.href = anchor ? `${address}#${anchor}` : address;
  link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
  below.append(...excerpt(words, text));
  made.append(link, document.createElement("br"), below);
  return made;
}

function show(sections) {
  const words = question.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? sections.map((each) => [fit(words, each.title, each.heading, each.text), each]) : [];
  const best = found.filter(([points]) => points).sort(([one], [other]) => other - one);
  list.replaceChildren(...best.slice(0, MOST).map(([, each]) => item(words, each)));
  const more = best.length > MOST ? `; the best ${MOST}` : "";
  said.textContent = words.length ? `${best.length} ${best.length === 1 ? "section" : "sections"}${more}` : "";
}

unpacked("index").then((pages) => {
  const sections = pages.flatMap(([address, title, parts]) =>
    parts.map(([anchor, heading, text]) => ({ address, title, anchor, heading, text })));
  const asked = () => {
    question.value = decodeURIComponent(location.hash.slice(1));
    show(sections);
  };
  question.addEventListener("input", () => {
    history.replaceState(null, "", `#${encodeURIComponent(question.value)}`);
    show(sections);
  });
  addEventListener("hashchange", asked);
  asked();
  question.dataset.ready = "yes";
});

// What a bundle holds, once its files are those that it lists. Its figures follow from its measurements: of those a page
// reads the times of the loads, and compares the pauses of the innocent ones. `wblab open` computes all of it again.
const ABOUT = "bundle.json", MOST_ABOUT_BYTES = 4 * 2 ** 20, MOST_HASHED_BYTES = 2 ** 26, MOST_WHOLE_BYTES = 2 ** 29;
const NPY_HEAD = /^\{'descr': '<i8', 'fortran_order': False, 'shape': \((\d+),\), \} *\n$/;

// The SHA-256 of an ArrayBuffer or typed array, in hexadecimal. Browsers have it where a page is from a file or a secure server.
async function sha256(data) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const isText = (value) => typeof value === "string";
const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

// Each key that the page shows, and what it must be.
const OF_A_LOAD = {
  load: isText, kind: isText, role: isText, cycles: isCount, duration_ns: isCount, longest_pause_ns: isCount,
  paused_ns: isCount, pauses_over_bound: isCount,
};
const OF_A_RUN = {
  name: isText, kernel: isTable, outcome: isText, digest: isText, headline: isText,
  spec: (value) => value === null || isTable(value), pauses: (value) => areAll(value, OF_A_LOAD),
};
const OF_A_FILE = { name: isText, size: isCount, sha256: isText };
const OF_A_BUNDLE = {
  format: (value) => value === 1, kind: (value) => value === "run" || value === "study", name: isText, digest: isText,
  bound_ns: isCount, packed_sha256: isText, files: (value) => areAll(value, OF_A_FILE),
  runs: (value) => areAll(value, OF_A_RUN),
};

function areAll(values, kinds) {
  return Array.isArray(values) && values.every((value) => isTable(value) && wrongKey(value, kinds) === undefined);
}

function wrongKey(table, kinds) {
  return Object.keys(kinds).find((key) => !Object.hasOwn(table, key) || !kinds[key](table[key]));
}

// Read a bundle from a Blob: what it says (about), its entries by name, its SHA-256 (empty if it is too large for a page), and
// how many files are too large for one, so that only their CRC-32 was compared. report(share) is called between files.
async function readBundle(blob, report) {
  const [first, ...rest] = await readEntries(blob);
  if (first.name !== ABOUT || first.size > MOST_ABOUT_BYTES) unsound(`its first member is not ${ABOUT}, or too large`);
  const about = parsed(await wholeContent(blob, first));
  const listed = JSON.stringify(about.files.map(({ name, size }) => [name, size]));
  if (listed !== JSON.stringify(rest.map(({ name, size }) => [name, size]))) unsound(`its ${ABOUT} lists other files than it has`);
  let large = 0;
  for (const [number, entry] of rest.entries()) {
    report(number / rest.length);
    if (entry.size > MOST_HASHED_BYTES) {
      await readContent(blob, entry, () => {});
      large++;
    } else if (await sha256(await wholeContent(blob, entry)) !== about.files[number].sha256) {
      unsound(`its ${entry.name} has another SHA-256 than its ${ABOUT} says`);
    }
  }
  const fits = blob.size <= MOST_WHOLE_BYTES;
  if (fits) {
    const packed = new Blob(await Promise.all(rest.map((entry) => packedData(blob, entry))));
    if (await sha256(await packed.arrayBuffer()) !== about.packed_sha256) unsound(`its ${ABOUT} and its files differ in packed_sha256`);
  }
  const entries = new Map(rest.map((entry) => [entry.name, entry]));
  return { blob, about, entries, large, sha256: fits ? await sha256(await blob.arrayBuffer()) : "" };
}

function parsed(content) {
  let about;
  try {
    about = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    unsound(`its ${ABOUT} is not JSON`);
  }
  if (!isTable(about)) unsound(`its ${ABOUT} is not a JSON object`);
  const rows = about.kind === "study" && about.study?.rows;
  const wrong = wrongKey(about, OF_A_BUNDLE) ?? (about.runs.length || (isCount(rows) && rows) ? undefined : "runs");
  if (wrong !== undefined) unsound(`its ${ABOUT} has no usable ${wrong}: damaged, or of another version of the lab`);
  return about;
}

// The loads of a run with a row each, as bundle.json says them: `of`; from the times, in ns since the first load began: `begin`,
// `end`, and `pauses` over the bound, each [start, duration]. Loads whose times are not in the file are left out.
async function readLoads(bundle, run) {
  const folder = bundle.about.kind === "study" ? `runs/${run.name}/` : "";
  const read = [];
  for (const of of run.pauses) {
    const entry = bundle.entries.get(`${folder}load.${of.load}.npy`), spec = run.spec?.load?.[of.load];
    if (entry && isTable(spec)) read.push([of, spec, times(await wholeContent(bundle.blob, entry), entry.name)]);
  }
  const zero = read.map(([, , bounds]) => bounds[0]).reduce((least, each) => (each < least ? each : least), read[0]?.[2][0]);
  return read.map(([of, spec, bounds]) => loadOf(of, spec, bounds, zero, bundle.about.bound_ns));
}

function loadOf(of, spec, bounds, zero, bound) {
  const idle = isCount(spec.idle) ? spec.idle : 0, wait = of.role === "offender" && isCount(spec.wait) ? spec.wait : 0;
  const begin = Number(bounds[0] - zero) + wait, end = Number(bounds.at(-1) - zero);
  const frozen = [];
  let longest = 0, paused = 0;
  for (let at = 0; of.role === "innocent" && at + 1 < bounds.length; at++) {
    const pause = Math.max(0, Number(bounds[at + 1] - bounds[at]) - idle);
    [longest, paused] = [Math.max(longest, pause), paused + pause];
    if (pause > bound) frozen.push([Number(bounds[at] - zero), Number(bounds[at] - zero) + pause]);
  }
  const found = [bounds.length - 1, longest, paused, frozen.length];
  const said = [of.cycles, of.longest_pause_ns, of.paused_ns, of.pauses_over_bound];
  if (of.role === "innocent" && !same(found, said)) unsound(`the times of ${of.load} are not those of its figures`);
  return { name: of.load, role: of.role, start_ns: begin, end_ns: end, frozen_ns: frozen };
}

// An array of int64 in NumPy's format (numpy.lib.format), with at least two numbers that do not decrease.
function times(content, name) {
  const length = content.length > 10 ? content[8] + 256 * content[9] : 0;
  const shape = NPY_HEAD.exec(String.fromCharCode(...content.slice(10, 10 + length)));
  const data = content.slice(10 + length);
  if (!same(content.slice(0, 8), letters("\x93NUMPY\x01\x00")) || !shape || data.length !== 8 * Number(shape[1]) || data.length < 16) {
    unsound(`its ${name} has no times`);
  }
  const bounds = new BigInt64Array(data.buffer);
  if (bounds.some((bound, at) => at && bound < bounds[at - 1])) unsound(`its ${name} has times that go back`);
  return bounds;
}

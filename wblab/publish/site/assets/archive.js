// The outer form of a bundle: a ZIP archive in which every byte has one permitted value (reference/bundles.html).
// As in wblab/publish/bundle/archive.py, all headers are made anew from names, sizes and checksums, and compared.
const MOST_BYTES = 2 ** 31 - 1, MOST_MEMBERS = 20_000, MOST_NAME_BYTES = 512, MOST_RATIO = 200, FREE_BYTES = 2 ** 20;
const LOCAL_BYTES = 30, CENTRAL_BYTES = 46, END_BYTES = 22;
const STORED = 0, DEFLATED = 8, VERSION = 20, UNIX = 3 << 8, FILE = 0o100644 * 2 ** 16, TIME = 0, DATE = 33;

class Unsound extends Error {}

function unsound(reason) {
  throw new Unsound(reason);
}

// Little-endian bytes of numbers, given as pairs of a size in bytes and a value.
function littleEndian(pairs) {
  const bytes = [];
  for (const [size, value] of pairs) for (let at = 0; at < size; at++) bytes.push(Math.floor(value / 256 ** at) % 256);
  return bytes;
}

const letters = (text) => [...text].map((letter) => letter.charCodeAt(0));

function form({ crc, packed, size }, first) {
  return [[2, first ? STORED : DEFLATED], [2, TIME], [2, DATE], [4, crc], [4, packed], [4, size]];
}

function localHeader(entry, first) {
  const name = letters(entry.name);
  const head = littleEndian([[2, VERSION], [2, 0], ...form(entry, first), [2, name.length], [2, 0]]);
  return Uint8Array.from([...letters("PK\x03\x04"), ...head, ...name]);
}

function centralHeader(entry, first) {
  const name = letters(entry.name);
  const head = [[2, UNIX + VERSION], [2, VERSION], [2, 0], ...form(entry, first), [2, name.length], [2, 0], [2, 0], [2, 0], [2, 0]];
  return [...letters("PK\x01\x02"), ...littleEndian([...head, [4, FILE], [4, entry.at]]), ...name];
}

async function bytesOf(blob, from, to) {
  return new Uint8Array(await blob.slice(from, to).arrayBuffer());
}

const same = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);

// The members of an archive, in order: name, crc, packed and size in bytes, and at, where each begins.
async function readEntries(blob) {
  if (blob.size > MOST_BYTES) unsound("it is larger than 2 GiB");
  const end = await bytesOf(blob, Math.max(0, blob.size - END_BYTES), blob.size);
  if (end.length < END_BYTES || !same(end.slice(0, 4), letters("PK\x05\x06"))) {
    unsound("it does not end as a bundle does: it is cut off, or another kind of file (wblab why FILE says which)");
  }
  const view = new DataView(end.buffer);
  const count = view.getUint16(10, true), length = view.getUint32(12, true), at = view.getUint32(16, true);
  if (count < 1 || count > MOST_MEMBERS) unsound(`it has ${count} members`);
  if (at + length + END_BYTES !== blob.size || length > count * (CENTRAL_BYTES + MOST_NAME_BYTES)) {
    unsound("its directory is not where it should be: data is missing, or there is more");
  }
  const content = await bytesOf(blob, at, at + length);
  const entries = parseDirectory(content, count);
  const last = littleEndian([[2, 0], [2, 0], [2, count], [2, count], [4, length], [4, at], [2, 0]]);
  const filled = entries.reduce((sum, entry) => sum + LOCAL_BYTES + entry.name.length + entry.packed, 0);
  const headers = Uint8Array.from(entries.flatMap((entry, number) => centralHeader(entry, number === 0)));
  if (filled !== at || !same(headers, content) || !same(Uint8Array.from([...letters("PK\x05\x06"), ...last]), end)) {
    unsound("its directory is not that of a bundle: other members, sizes, places, kinds or times");
  }
  if (new Set(entries.map((entry) => entry.name)).size < count) unsound("two of its members have the same name");
  return entries;
}

// Read without checks: the bytes are compared later.
function parseDirectory(content, count) {
  const view = new DataView(content.buffer), entries = [];
  for (let number = 0, at = 0, begin = 0; number < count; number++) {
    if (at + CENTRAL_BYTES > content.length) unsound("its directory is cut off");
    const [crc, packed, size] = [16, 20, 24].map((place) => view.getUint32(at + place, true));
    const named = content.slice(at + CENTRAL_BYTES, at + CENTRAL_BYTES + view.getUint16(at + 28, true));
    at += CENTRAL_BYTES + named.length;
    if (named.some((byte) => byte > 127)) unsound("the name of a member is not ASCII");
    const name = String.fromCharCode(...named);
    if (size > FREE_BYTES && size > packed * MOST_RATIO) unsound("a member would unpack to more than 200 times its size");
    entries.push({ name, crc, packed, size, at: begin });
    begin += LOCAL_BYTES + name.length + packed;
  }
  return entries;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

// The packed data of a member, after its header was checked.
async function packedData(blob, entry) {
  const head = localHeader(entry, entry.at === 0), begin = entry.at + head.length;
  if (!same(await bytesOf(blob, entry.at, begin), head)) unsound(`the header of its ${entry.name} differs from the directory`);
  return blob.slice(begin, begin + entry.packed);
}

// Check a member's length and checksum. Calls take(piece) with its content, piece by piece: never more than it says.
async function readContent(blob, entry, take) {
  const packed = await packedData(blob, entry);
  const stream = entry.at === 0 ? packed.stream() : packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  let size = 0, crc = 0xffffffff;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size > entry.size) unsound(`its ${entry.name} is longer than it says`);
      for (const byte of next.value) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
      take(next.value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof Unsound) throw error;
    unsound(`its ${entry.name} is damaged: it cannot be unpacked`);
  }
  if (size !== entry.size || (crc ^ 0xffffffff) >>> 0 !== entry.crc) unsound(`its ${entry.name} is damaged: length or checksum are wrong`);
}

// A member's content as a whole. The caller has bounded its size.
async function wholeContent(blob, entry) {
  const whole = new Uint8Array(entry.size);
  let at = 0;
  await readContent(blob, entry, (piece) => {
    whole.set(piece, at);
    at += piece.length;
  });
  return whole;
}

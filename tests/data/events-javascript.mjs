// Records what JavaScript makes of event texts: `TZ=UTC node events-javascript.mjs | zstd -19 > events-javascript.jsonl.zst`.
//
// A line is [text, null] where JSON.parse refuses the text, else [text, [type, id, parentId, targetId, appendParentId, appendMode,
// has message], message]; message is null or [id, role, text, timestamp]. The rules are those of ../../src/event/mod.rs.
// The texts are random but always the same.

let state = 0x2545f491;
const below = (n) => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
};
const pick = (list) => list[below(list.length)];

const STRINGS = [
  "a", " b ", "", "  ", "\ufeff", "\u0085", "\u0085x\u0085", "\ufeffx\u3000", "\u2028", "\u180e", "two\nlines", "tab\t", "nul\0", "\u00e9", "\u{1f680}",
  "\ud83d", "\ude80", "\ud83d\ud83d\ude80", "\ude80\ud83d", "x\ud83dy", "\\ud83d", "\\\ud83d", "\"", "\\", "/", "side", "user", "assistant", "text", "message",
];
const TIMES = [
  "2026-07-10T08:00:00.000Z", "2026-07-10", "2026-07", "2026", "2026-07-10T08:00", "2026-07-10T08:00:00.5+02:00", "2026-02-30", "+002026-07-10",
  "-000001-01-01", "-000000-01-01", "2026-07-10T24:00:00Z", "2026-07-10T24:00:01Z", "2026-07-10 08:00:00", "Fri, 10 Jul 2026 08:00:00 GMT", "bad",
];
const NUMBERS = ["0", "-0", "1783670400000", "1783670400000.9", "-1.5", "1e3", "1E+3", "1e400", "-1e400", "1e300", "9223372036854775807", "1e-400"];
const LITERALS = ["null", "true", "false", "{}", "[]", "[1,[2,{\"a\":[]}]]", "{\"type\":\"text\",\"text\":\"inner\"}"];

const space = () => (below(8) ? "" : pick([" ", "\n", "\t", "\r\n"]));
const escaped = (text) => {
  const json = JSON.stringify(text);
  if (below(8)) return json;
  return `"${[...Array(text.length).keys()].map((i) => "\\u" + text.charCodeAt(i).toString(16).padStart(4, "0")).join("")}"`;
};
const string = () => escaped(pick(STRINGS));
const anything = () => pick([string, string, () => pick(NUMBERS), () => pick(LITERALS)])();
const object = (members) => `{${space()}${members.map(([key, value]) => `${escaped(key)}${space()}:${space()}${value}`).join(`${space()},`)}}${space()}`;
const members = (table) => {
  const list = [];
  for (const [key, often, value] of table) {
    if (below(20) < often) list.push([key, value()]);
    if (!below(40)) list.push([key, anything()]); // twice, or of another type
    if (!below(16)) list.push([pick(["extra", "Type", "\ud83d", "usage"]), anything()]);
  }
  return object(list);
};
const block = () =>
  below(8)
    ? members([
        ["type", 19, () => escaped(pick(["text", "text", "input_text", "output_text", "thinking", "toolCall", "image", "refusal", "Text"]))],
        ["text", 19, string],
      ])
    : anything();
const blocks = () => `[${space()}${Array.from({ length: below(4) }, block).join(",")}]`;
const message = () =>
  members([
    ["role", 19, () => escaped(pick([...Array(8).fill("user"), ...Array(8).fill("assistant"), "toolResult", "system", "User"]))],
    ["content", 16, () => pick([string, blocks, blocks])()],
    ["text", 4, string],
  ]);
const event = () =>
  members([
    ["type", 19, () => escaped(pick([...Array(40).fill("message"), "leaf", "session", "reset", "compaction", "opaque"]))],
    ["id", 19, string],
    ["parentId", 16, () => pick([string, () => "null"])()],
    ["targetId", 4, () => pick([string, () => "null"])()],
    ["appendParentId", 4, () => pick([string, () => "null"])()],
    ["appendMode", 4, string],
    ["timestamp", 16, () => pick([() => escaped(pick(TIMES)), () => pick(NUMBERS)])()],
    ["message", 19, message],
  ]);
const damaged = (text) => {
  const at = below(text.length + 1);
  return text.slice(0, at) + pick(["", "\u00a0", ",", "\"", "}", "]", "\\", "\\u12", "\\x", "0", "-", "\ufeff", "+", "e"]) + text.slice(at + below(3));
};

const ISO = /^(\d{4}|\+\d{6}|-(?!000000)\d{6})(-\d\d(-\d\d)?)?(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i;
const timestampOf = (value) => {
  const ms = typeof value === "number" ? value : typeof value === "string" && ISO.test(value) ? Date.parse(value) : NaN;
  return Math.abs(ms) < 2 ** 63 ? String(BigInt(Math.trunc(ms))) : null;
};
const reference = (record, key) => {
  if (!Object.hasOwn(record, key)) return { absent: true };
  const value = record[key];
  return value === null || (typeof value === "string" && value.trim()) ? value : { unusable: true };
};
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = ({ content, text }) => {
  if (typeof content === "string") return content.trim();
  if (typeof text === "string") return text.trim();
  if (!Array.isArray(content)) return "";
  return content
    .filter((part) => isRecord(part) && ["text", "input_text", "output_text"].includes(part.type) && typeof part.text === "string" && part.text.trim())
    .map((part) => part.text)
    .join("\n");
};
const record = (text) => {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return [text, null];
  }
  if (!isRecord(value)) value = {};
  const id = typeof value.id === "string" && value.id.trim() ? value.id : null;
  const entry = [
    typeof value.type === "string" ? value.type : null,
    id,
    ...["parentId", "targetId", "appendParentId"].map((key) => reference(value, key)),
    Object.hasOwn(value, "appendMode") ? (value.appendMode === "side" ? "side" : "unusable") : null,
    Object.hasOwn(value, "message"),
  ];
  let found = null;
  if (value.type === "message" && id && isRecord(value.message) && ["user", "assistant"].includes(value.message.role)) {
    const searchable = textOf(value.message);
    if (searchable) found = [id.trim(), value.message.role, searchable, timestampOf(value.timestamp)];
  }
  return [text, entry, found];
};
const wellFormed = (_, value) => (typeof value === "string" ? value.toWellFormed() : value);

for (let n = 0; n < 2500; n += 1) {
  const text = below(4) ? event() : damaged(below(6) ? event() : anything());
  if (text === text.toWellFormed()) console.log(JSON.stringify(record(text), wellFormed));
}

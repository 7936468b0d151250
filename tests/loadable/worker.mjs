// A host program in Node: takes one JSON command per line, gives one JSON answer per line, as worker.py does. Run by hosts.py.

import { DatabaseSync } from "node:sqlite";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const MODES = { rw: "rwc", ro: "ro" };
const connections = new Map();

function open(path, mode) {
  const location = path === ":memory:" ? path : pathToFileURL(path);
  if (mode === "immutable") location.searchParams.set("immutable", "1");
  else if (path !== ":memory:") location.searchParams.set("mode", MODES[mode]);
  return new DatabaseSync(location, { allowExtension: true });
}

function plain(value) {
  if (value instanceof Uint8Array) return { blob: Buffer.from(value).toString("hex") };
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : { integer: String(value) };
  return value;
}

function original(value) {
  return value?.blob === undefined ? value : Buffer.from(value.blob, "hex");
}

function rows(connection, sql, values) {
  const statement = connection.prepare(sql);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  return statement.all(...values.map(original)).map((row) => row.map(plain));
}

function answer({ do: what, name, path, mode, library, sql, values }) {
  switch (what) {
    case "open":
      connections.set(name, open(path, mode));
      return null;
    case "load":
      return connections.get(name).loadExtension(library) ?? null;
    case "rows":
      return rows(connections.get(name), sql, values);
    case "close":
      connections.get(name).close();
      connections.delete(name);
      return null;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = { value: answer(JSON.parse(line)) };
  } catch (error) {
    reply = { error: error.message };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}

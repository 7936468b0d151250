// The rows of searches.json in node:sqlite. `test_searches.py` runs them in the other host programs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const library = resolve(process.env.SESSION_SEARCH_SO ?? join(root, "dist/session_search.so"));
const table = JSON.parse(readFileSync(join(root, "tests/loadable/searches.json"), "utf8").replaceAll("⟂", ""));

let folder, connection;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "session-search-"));
  const host = join(folder, "openclaw-agent.sqlite");
  const packed = join(root, `tests/fixtures/${table.database}.sqlite.zst`);
  writeFileSync(host, execFileSync("zstd", ["-dqc", packed], { maxBuffer: 1 << 30 }));
  connection = new DatabaseSync(join(folder, "index.sqlite"), { allowExtension: true });
  connection.loadExtension(library);
  connection.prepare("SELECT session_search_open(?)").get(host);
  const { remaining } = connection.prepare("SELECT session_search_reconcile() AS remaining").get();
  assert.equal(remaining, 0);
});

after(() => {
  connection?.close();
  rmSync(folder, { recursive: true });
});

for (const row of table.searches) {
  const options = row.options === undefined ? null : JSON.stringify(row.options);
  const values = [row.query, row.caller === undefined ? table.caller : row.caller, options];

  test(`${row.name}, as JSON`, () => {
    const search = () => connection.prepare("SELECT sessions_search_json(?, ?, ?) AS answer").get(...values);
    if (row.error !== undefined) return assert.throws(search, { message: row.error });
    const answer = JSON.parse(search().answer);
    assert.deepEqual(answer.results.map((hit) => hit.messageId), row.ids);
    assert.equal(answer.truncated ?? false, row.truncated ?? false);
    assert.equal(answer.indexing, undefined);
    if (row.excerpt !== undefined) assert.equal(answer.results[0].snippet, row.excerpt);
  });

  test(`${row.name}, as rows`, () => {
    const search = () => connection.prepare("SELECT message_id, excerpt FROM sessions_search(?, ?, ?)").all(...values);
    if (row.error !== undefined) return assert.throws(search, { message: row.error });
    const rows = search();
    assert.deepEqual(rows.map((hit) => hit.message_id), row.ids);
    if (row.excerpt !== undefined) assert.equal(rows[0].excerpt, row.excerpt);
  });
}

// OpenClaw's side of the tests: its own functions on its own agent database. One JSON command per line, one JSON answer per line.
// Run by openclaw.py.
//
// usage: node accessors.mjs PACKAGE   (the folder of the npm package openclaw; OPENCLAW_STATE_DIR says where its state is)

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const dist = path.join(process.argv[2], 'dist');
const load = (file) => import(pathToFileURL(path.join(dist, file)));

// The chunks of the package have hashes for names. This one gives the accessor's functions under their own names.
const chunks = fs.readdirSync(dist).filter((file) => /^session-accessor-[\w-]+\.mjs$/.test(file));
const named = chunks.filter((file) => /export \{[^}]*\bswitchSessionBranch,/.test(fs.readFileSync(path.join(dist, file), 'utf8')));
if (named.length !== 1) throw new Error(`the session accessor is not in one file of ${dist}: ${named}`);
const accessor = await load(named[0]);
const transcript = await load('plugin-sdk/session-transcript-runtime.js');
const store = await load('plugin-sdk/session-store-runtime.js');

const agentId = 'main';
const storePath = store.resolveStorePath(undefined, { agentId });
const entry = (sessionKey) => store.getSessionEntry({ sessionKey, agentId, storePath });
const scope = (sessionKey) => ({ sessionKey, agentId, sessionId: entry(sessionKey).sessionId });
const place = (sessionKey) => ({ agentId, sessionKey, sessionStoreKey: sessionKey, storePath });
const target = (sessionKey) => ({ canonicalKey: sessionKey, storeKeys: [sessionKey] });
const anchors = new Map();

function message(role, text) {
  return { role, content: [{ type: 'text', text }], timestamp: Date.now() };
}

function done(result) {
  if (result.status !== 'created') throw new Error(`OpenClaw answered ${JSON.stringify(result)}`);
  return result.entry.sessionId;
}

async function say(key, role, text) {
  const result = await transcript.appendSessionTranscriptMessageByIdentity({ ...scope(key), message: message(role, text) });
  if (!result.appended) throw new Error(`OpenClaw answered ${JSON.stringify(result)}`);
  anchors.set(result.messageId, result.anchor);
  return result.messageId;
}

const commands = {
  async create({ key, patch }) {
    const sessionId = crypto.randomUUID();
    await accessor.upsertSessionEntryCore({ sessionKey: key, agentId }, { sessionId, updatedAt: Date.now(), ...patch });
    return sessionId;
  },
  say: ({ key, role, text }) => say(key, role, text),
  async event({ key, event }) {
    await accessor.appendTranscriptEvent(scope(key), { timestamp: new Date().toISOString(), ...event }, {});
  },
  rewind: async ({ key, id }) => done(await accessor.rewindSessionToMessage({ ...place(key), entryId: id })),
  fork: async ({ key, id, to }) => done(await accessor.forkSessionAtMessage({ ...place(key), entryId: id, targetKey: to })),
  switch: async ({ key, tip }) => done(await accessor.switchSessionBranch({ ...place(key), leafEntryId: tip })),
  // In the chat the entry goes on; the gateway's sessions.reset writes a new one, which does not name the window before it.
  async reset({ key, anew }) {
    const { previousSessionId, ...rest } = entry(key);
    const next = { ...rest, ...(anew ? {} : { previousSessionId }), lifecycleRevision: crypto.randomUUID(), updatedAt: Date.now() };
    await accessor.resetSessionEntryLifecycle({
      agentId,
      storePath,
      target: target(key),
      buildNextEntry: () => next,
      resetBoundary: { context: 'clear', reason: 'reset', cwd: '/' },
    });
  },
  // A new window under the same key, as OpenClaw does by the age of a session.
  async rollover({ key }) {
    const { sessionId: previousSessionId, ...rest } = entry(key);
    const sessionId = crypto.randomUUID();
    await accessor.replaceSessionEntry({ sessionKey: key, agentId }, { ...rest, sessionId, previousSessionId, updatedAt: Date.now() });
    return sessionId;
  },
  async delete({ key }) {
    const result = await accessor.deleteSessionEntryLifecycle({ agentId, archiveTranscript: true, storePath, target: target(key) });
    if (!result.deleted) throw new Error(`OpenClaw answered ${JSON.stringify(result)}`);
  },
  async rewrite({ id, text }) {
    const rewritten = await accessor.rewriteTranscriptMessageAtAnchor(anchors.get(id), (old) => ({ ...old, content: [{ type: 'text', text }] }));
    if (!rewritten) throw new Error('nothing was rewritten');
  },
  async trim({ key, lines }) {
    const result = await accessor.trimSessionTranscriptForManualCompact(scope(key), { maxLines: lines });
    if (!result.compacted) throw new Error(`OpenClaw answered ${JSON.stringify(result)}`);
  },
  // Writes a whole transcript at once: a chain of messages behind the header.
  async replace({ key, texts }) {
    const { sessionId } = scope(key);
    const timestamp = new Date().toISOString();
    const ids = texts.map(() => crypto.randomUUID());
    const events = texts.map((text, i) => ({
      type: 'message', id: ids[i], parentId: ids[i - 1] ?? null, timestamp, message: message(i % 2 ? 'assistant' : 'user', text),
    }));
    await accessor.replaceTranscriptEvents(scope(key), [{ type: 'session', version: 4, id: sessionId, timestamp, cwd: '/' }, ...events]);
    return ids;
  },
  session: ({ key }) => entry(key).sessionId,
  async tips({ key }) {
    const { status, branches } = await accessor.listSessionBranches(place(key));
    if (status !== 'ok') throw new Error(`OpenClaw answered ${status}`);
    return branches;
  },
  // What OpenClaw itself shows of a session.
  async visible({ key }) {
    const entries = await transcript.readVisibleSessionTranscriptMessageEntries(scope(key));
    return entries.filter(({ message }) => ['user', 'assistant'].includes(message.role)).map((entry) => entry.id ?? entry.entryId ?? entry.messageId);
  },
  // Appends in a loop for so long; answers how long each took, in milliseconds.
  async appends({ key, text, seconds }) {
    const taken = [];
    const end = performance.now() + seconds * 1000;
    for (let n = 0; performance.now() < end; n += 1) {
      const begin = performance.now();
      await say(key, n % 2 ? 'assistant' : 'user', `${text} ${n}`);
      taken.push(performance.now() - begin);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return taken;
  },
};

// OpenClaw writes its log to stdout too.
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { do: name, ...values } = JSON.parse(line);
  try {
    answer(`${JSON.stringify({ value: (await commands[name](values)) ?? null })}\n`);
  } catch (error) {
    answer(`${JSON.stringify({ error: `${name}: ${error.message}` })}\n`);
  }
}
process.exit(0);

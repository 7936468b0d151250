// OpenClaw's gateway on the loopback device, and a client of it. One JSON request per line, one JSON answer per line. Run by openclaw.py.
//
// usage: node gateway.mjs PACKAGE

import { spawn } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const openclaw = process.argv[2];
const token = 'of-this-test';

const port = await new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const gateway = spawn(
  process.execPath,
  [path.join(openclaw, 'openclaw.mjs'), 'gateway', 'run', '--bind', 'loopback', '--port', String(port), '--auth', 'token', '--token', token],
  { stdio: ['ignore', 2, 2] },
);
const ended = new Promise((resolve) => gateway.on('exit', resolve));

const { GatewayClient } = await import(pathToFileURL(path.join(openclaw, 'dist/plugin-sdk/gateway-runtime.js')));
const deadline = Date.now() + 120_000;
while (!(await fetch(`http://127.0.0.1:${port}/healthz`).then((reply) => reply.ok, () => false))) {
  if (gateway.exitCode !== null || Date.now() > deadline) {
    console.log(JSON.stringify({ error: `no gateway, exit code ${gateway.exitCode}` }));
    gateway.kill();
    process.exit(1);
  }
  await sleep(200);
}
const client = await new Promise((resolve, reject) => {
  const client = new GatewayClient({
    url: `ws://127.0.0.1:${port}`,
    token,
    role: 'operator',
    scopes: ['operator.admin', 'operator.read', 'operator.write'],
    clientName: 'cli',
    mode: 'cli',
    onConnectError: reject,
    onHelloOk: () => resolve(client),
  });
  client.start();
});
console.log(JSON.stringify({ value: 'ready' }));

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { do: method, ...params } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ value: (await client.request(method, params)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: `${method}: ${error.message}` }));
  }
}
client.stop();
gateway.kill('SIGTERM');
process.exit((await ended) ?? 1);

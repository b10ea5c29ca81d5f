/**
 * Runs the local Claude API by hand: `tsx tests/support/claude-server/serve.ts SCRIPT.json` prints its URL and serves
 * until it is stopped. The script is a JSON array of turns (see script.ts).
 */

import { readFile } from 'node:fs/promises';
import type { ScriptedTurn } from './script.ts';
import { startClaudeServer } from './server.ts';

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error('Usage: tsx tests/support/claude-server/serve.ts SCRIPT.json');
  process.exit(2);
}
const turns = JSON.parse(await readFile(path, 'utf8')) as ScriptedTurn[];
const server = await startClaudeServer({ turns });
console.log(server.url);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());

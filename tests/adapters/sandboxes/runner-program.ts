/** A runner of its own, for tests of what a sandbox costs and of what is left when its runner dies. */

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { openSandbox } from '../../../src/adapters/sandboxes/open.ts';
import type { SandboxOptions } from '../../../src/adapters/sandboxes/options.ts';

const options = JSON.parse(process.argv[2] ?? '') as SandboxOptions;
/** `talk`: the script is talked to. `die`: it dies when it has started, and stopped, what sets up the sandbox of the script. `full`: it has four descriptors left. */
const [script = '', how] = process.argv.slice(3);
const talk = { onStart() {}, onOutput() {}, onErrors() {} };
const network = { accept() {}, lookedUp() {}, services: [], reach() {} };
const opened = await openSandbox({ ...options, network, hostEnv: process.env });
if (opened.status !== 'ok') throw new Error(opened.reason);
const { sandbox } = opened;
const run = (text: string) =>
  sandbox.run({
    script: text,
    timeoutMs: 240_000,
    signal: new AbortController().signal,
    ...(text === script && how === 'talk' ? { talk } : {}),
  });

await run('true');
const before = peakMemory();
if (how === 'full') leaveFour();
const ending = run(script);
if (how === 'die') setImmediate(stopAndDie);
const { end, output } = await ending;
const characters = output.head.length + output.omitted + output.tail.length;
const peakMiB = peakMemory();
console.log(JSON.stringify({ exitCode: end.exitCode, characters, peakMiB, growthMiB: peakMiB - before }));
await sandbox.close();

/** The most memory this process ever had, in MiB. */
function peakMemory(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

/** Prints the number of the process that is stopped. */
function stopAndDie(): void {
  const [child = ''] = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ');
  process.kill(Number(child), 'SIGSTOP');
  writeSync(1, child);
  process.kill(process.pid, 'SIGKILL');
}

function leaveFour(): void {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'));
  } catch {
    for (const fd of opened.slice(-4)) closeSync(fd);
  }
}

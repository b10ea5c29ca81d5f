/** What a program that answers for a model can do wrong, and what it gets to see. */

import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wordsOf } from '../../../src/adapters/providers/command/program.ts';
import { createCommandProvider, type ProgramSettings } from '../../../src/adapters/providers/command.ts';
import { temporaryFolder } from '../../support/files/repository.ts';
import { readIfThere } from '../../support/machine/processes.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';
import { until } from '../../support/waiting/until.ts';
import { failureOf, plainConversation, turnOf } from './asking.ts';

/** Asks a program that is a script of the shell. */
function asking(script: string, more: Partial<ProgramSettings> & { idleTimeoutMs?: number } = {}) {
  const folder = temporaryFolder();
  const path = join(folder, 'program');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  const { idleTimeoutMs = 20_000, ...program } = more;
  const provider = createCommandProvider({
    model: 'default',
    effort: null,
    showThinking: false,
    idleTimeoutMs,
    sleep: async () => {},
    program: { line: path, env: process.env, variables: [], writable: () => [], ...program },
  });
  const ask = (signal = new AbortController().signal) =>
    provider.complete({
      conversation: plainConversation(),
      signal,
      answerTokens: () => 8_192,
      onProgress: () => {},
    });
  return { ask, folder, provider };
}

const ANSWER = `echo '{"type": "answer", "content": [{"type": "text", "text": "Done."}]}'`;

test('it reads one line, gets a fixed few variables and those that are named, and starts in no folder of the job', async () => {
  const seen = temporaryFolder();
  const env = {
    PATH: `./bin:/work-tree/node_modules/.bin:${process.env.PATH}`,
    HOME: '/home/me',
    NODE_OPTIONS: '--require ./x',
    OTHER_TOKEN: 'secret-0123456789',
    TOKEN: 'given-0123456789',
  };
  const { ask } = asking(`cat > ${seen}/line; env > ${seen}/env; pwd > ${seen}/pwd\n${ANSWER}`, {
    env,
    variables: ['TOKEN'],
    writable: () => ['/work-tree'],
  });
  const turn = turnOf(await ask());
  expect([turn.text, turn.stop, turn.model]).toEqual(['Done.', 'end_turn', 'default']);
  // Nothing was counted, so it is reckoned from the bytes.
  expect(turn.usage.input).toBeGreaterThan(100);
  const read = (name: string) => readFileSync(join(seen, name), 'utf8');
  expect(JSON.parse(read('line'))).toMatchObject({ type: 'request', version: 1, maxTokens: 8_192 });
  const names = read('env')
    .trim()
    .split('\n')
    .filter((line) => !/^(?:_|PWD|OLDPWD|SHLVL)=/.test(line));
  expect(names.sort()).toEqual(['HOME=/home/me', `PATH=${process.env.PATH}`, 'TOKEN=given-0123456789']);
  expect(read('pwd')).toBe('/\n');
});

test.each([
  ['crashes', 'echo oops >&2; exit 3', 'ended without an answer (exit code 3); it said: oops'],
  ['is killed', 'kill -9 $$', 'ended without an answer (killed by SIGKILL)'],
  ['ends too early', `printf '{"type": "ans'`, 'ended without an answer (exit code 0)'],
  ['writes what is not JSON', 'echo Hello', 'wrote a line that is not JSON: Hello'],
  ['writes another message', `echo '{"type": "answer", "text": "x"}'`, 'not a message of the protocol'],
  ['nests too deeply', `head -c 100000 /dev/zero | tr '\\0' '['; echo`, 'not JSON'],
  ['writes a line without an end', 'head -c 9000000 /dev/zero | tr "\\0" "x"', 'exceeds the limit'],
  [
    'writes without an end',
    `pad=$(head -c 100000 /dev/zero | tr '\\0' ' '); yes "{\\"type\\": \\"alive\\"$pad}"`,
    'exceeds the limit of 67,108,864 bytes',
  ],
  [
    'calls a tool without a name',
    `echo '{"type": "answer", "content": [{"type": "tool_use", "id": "a"}]}'`,
    'without an id',
  ],
])('a program that %s has no answer', async (_name, script, message) => {
  const failure = failureOf(await asking(script).ask());
  expect([failure.kind, failure.message]).toEqual(['stream', expect.stringContaining(message)]);
});

test('a program that is silent is ended with all that it has started', async () => {
  const { message, pid } = await withEnoughTime(
    async (idleTimeoutMs) => {
      const { ask, folder } = asking(`sleep 60 & echo $! > "$0.pid"; sleep 60`, { idleTimeoutMs });
      const { message } = failureOf(await ask());
      return { message, pid: readIfThere(join(folder, 'program.pid')).trim() };
    },
    ({ pid }) => pid !== '',
  );
  expect(message).toMatch(/nothing came for \d+ s \(see --idle-timeout\)/);
  await until('the child is gone', () => isGone(Number(pid)));
});

test('an interrupt ends a program that never stops writing, and no process is left after an answer', async () => {
  const chatty = asking(`while :; do echo '{"type": "alive"}'; sleep 0.01; done`);
  expect((await chatty.ask(AbortSignal.timeout(200))).status).toBe('interrupted');
  const { ask, folder } = asking(`sleep 60 & echo $! > "$0.pid"\n${ANSWER}\nsleep 60`);
  expect(turnOf(await ask()).text).toBe('Done.');
  await until('the child is gone', () => isGone(Number(readFileSync(join(folder, 'program.pid'), 'utf8'))));
});

test('values of named variables are in no message', async () => {
  const env = { ...process.env, TOKEN: 'given-0123456789' };
  const said = `echo "{\\"type\\": \\"failure\\", \\"kind\\": \\"permission\\", \\"message\\": \\"no $TOKEN\\"}"`;
  const failure = failureOf(await asking(said, { env, variables: ['TOKEN'] }).ask());
  expect([failure.kind, failure.message]).toEqual(['permission', expect.stringContaining('no ***.')]);
  const crash = failureOf(await asking('echo $TOKEN >&2; exit 1', { env, variables: ['TOKEN'] }).ask());
  expect(crash.message).toContain('it said: ***');
});

test('a program that the model’s commands can change is not run, and their folders are not searched', () => {
  const folder = temporaryFolder();
  const tree = join(folder, 'tree');
  mkdirSync(join(tree, 'bin'), { recursive: true });
  writeFileSync(join(tree, 'bin', 'gateway'), '#!/bin/sh\n');
  chmodSync(join(tree, 'bin', 'gateway'), 0o755);
  symlinkSync(tree, join(folder, 'link'));
  const obstacleTo = (line: string, path = process.env.PATH) => {
    const { provider } = asking('', { line, env: { PATH: path }, writable: () => [tree] });
    return provider.obstacle?.() ?? null;
  };
  const inside = 'is where the model';
  expect(obstacleTo(join(tree, 'bin', 'gateway'))).toContain(inside);
  expect(obstacleTo(`sh ${folder}/link/bin/gateway`)).toContain(inside);
  expect(obstacleTo(`node --import=${folder}/other/../tree/x.mjs /opt/gateway.mjs`)).toContain(inside);
  expect(obstacleTo('gateway', `${folder}/link/bin`)).toContain('there is no program "gateway"');
  expect(obstacleTo('./bin/gateway')).toContain('there is no program');
  expect(obstacleTo('sh /opt/gateway')).toBe(null);
});

test('a command line has words, and quotes around some of them', () => {
  expect(wordsOf(` node "/opt/my gateway.mjs" --name='a "b"'c  `)).toEqual([
    'node',
    '/opt/my gateway.mjs',
    '--name=a "b"c',
  ]);
  expect([wordsOf('a "b'), wordsOf('  ')]).toEqual([null, null]);
  expect(() => asking('', { variables: ['NOT_SET'] })).toThrow(
    '--provider-env NOT_SET: the variable is not set',
  );
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return true;
  }
}

/** Programs that are talked to as long as they run. */

import { describe, expect, test } from 'vitest';
import type { CommandInput, CommandResult, SandboxCommand } from '../../../src/ports.ts';
import { oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { PATIENCE_MS } from '../../support/waiting/patience.ts';
import { until } from '../../support/waiting/until.ts';
import { makePlace, open } from './fixture.ts';

interface Conversation {
  readonly said: { output: string; errors: string };
  readonly result: Promise<CommandResult>;
  input(): Promise<CommandInput>;
  stop(): void;
}

async function talkIn(
  mode: 'required' | 'off',
  script: string,
  env?: SandboxCommand['env'],
): Promise<Conversation> {
  const { sandbox } = await open(makePlace(), mode);
  const said = { output: '', errors: '' };
  const stop = new AbortController();
  let given: CommandInput | null = null;
  const result = sandbox.run({
    script,
    timeoutMs: PATIENCE_MS,
    signal: stop.signal,
    ...(env === undefined ? {} : { env }),
    talk: {
      onStart(input) {
        given = input;
      },
      onOutput(bytes) {
        said.output += Buffer.from(bytes).toString();
      },
      onErrors(bytes) {
        said.errors += Buffer.from(bytes).toString();
      },
    },
  });
  return {
    said,
    result,
    stop: () => stop.abort(),
    async input() {
      await until('it has said so', () => given !== null);
      if (given === null) throw new Error('It did not start.');
      return given;
    },
  };
}

describe.each(['required', 'off'] as const)('with sandbox %s, a program that is talked to', (mode) => {
  test('hears and answers, its errors apart, and ends when it hears no more', async () => {
    const script = 'echo "ready $WORD" >&2; while read -r line; do echo "<$line>"; done; exit 7';
    const talk = await talkIn(mode, script, { WORD: 'yes' });
    const input = await talk.input();
    await input.write('one\n');
    await until('it has said so', () => talk.said.output === '<one>\n');
    await input.write('two\n');
    await until('it has said so', () => talk.said.output === '<one>\n<two>\n');
    input.end();
    const { end, output } = await talk.result;
    expect([end.exitCode, output.head, talk.said.errors]).toEqual([7, '', 'ready yes\n']);
    await expect(input.write('three\n')).rejects.toThrow();
  });

  test('is killed with everything it started', async () => {
    const seconds = oddSeconds();
    const talk = await talkIn(mode, `setsid sleep ${seconds} & echo here; read -r line`);
    await until('it has said so', () => talk.said.output === 'here\n');
    await until('it has said so', () => processesWith(seconds).length > 0);
    talk.stop();
    expect((await talk.result).end).toMatchObject({ interrupted: true });
    expect(processesWith(seconds)).toEqual([]);
  });
});

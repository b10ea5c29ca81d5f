import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRun } from '../../../src/adapters/storage/find-run.ts';
import { readJournal } from '../../../src/adapters/storage/read-journal.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { started } from '../../support/runs/events.ts';

describe('a run is found', () => {
  test('by its folder, and by its id in the places where runs are kept', async () => {
    const cwd = tempFolder({
      'here/events.jsonl': '',
      'state/patchsmith/r1/result.json': '',
      'runner/x': '',
    });
    const env = { RUNNER_TEMP: join(cwd, 'runner'), XDG_STATE_HOME: join(cwd, 'state'), HOME: cwd };
    const found = async (run: string) => {
      const result = await findRun(run, { cwd, env });
      return result.status === 'ok' ? result.directory.path : result.message;
    };
    expect(await found('here')).toBe(join(cwd, 'here'));
    expect(await found(join(cwd, 'here'))).toBe(join(cwd, 'here'));
    expect(await found('r1')).toBe(join(cwd, 'state/patchsmith/r1'));
    expect(await found('r2')).toBe(
      `There is no run "r2" (looked in ${['r2', 'runner/patchsmith/r2', 'state/patchsmith/r2', '.local/state/patchsmith/r2'].map((place) => join(cwd, place)).join(', ')}). Name its run directory.`,
    );
    expect(await found('x/r1')).toBe(
      `There is no run "x/r1" (looked in ${join(cwd, 'x/r1')}). Name its run directory.`,
    );
  });
});

const first = { ...started, seq: 1, at: 1 };
const second = { type: 'files.hidden', paths: ['m\udc80'], seq: 2, at: 2 };

async function read(...lines: string[]) {
  const folder = tempFolder();
  const path = join(folder, 'events.jsonl');
  writeFileSync(path, lines.join('\n'));
  const result = await readJournal(path);
  return result.status === 'ok' ? result : result.message.replace(path, 'J');
}

describe('a journal is read back', () => {
  test('event by event, without the line that was cut short when the run died', async () => {
    const lines = [JSON.stringify(first), JSON.stringify(second)];
    const one = { status: 'ok', events: [first], bytes: Buffer.byteLength(`${lines[0]}\n`) };
    const both = { status: 'ok', events: [first, second], bytes: Buffer.byteLength(`${lines.join('\n')}\n`) };
    expect(await read(...lines, '')).toEqual({ ...both, torn: false });
    expect(await read(...lines)).toEqual({ ...one, torn: true });
    expect(await read(...lines, '{"type":')).toEqual({ ...both, torn: true });
    expect(await read(...lines, '\0\0\0', '')).toEqual({ ...both, torn: true });
  });

  test.each([
    [['{', JSON.stringify(second)], 'line 2: no JSON; the line is torn or damaged.'],
    [['[]'], 'line 2: not an event.'],
    [['{"type":"x","seq":2,"at":1}'], 'line 2: not an event of this version (type: '],
    [
      ['{"type":"files.hidden","paths":["m"],"more":1,"seq":2,"at":1}'],
      'line 2: not an event of this version (',
    ],
    [['{"type":"files.hidden","paths":["m"],"seq":3,"at":1}'], 'line 2: holds event 3 instead of 2.'],
  ])('and %j in it is told with its line', async (lines, message) => {
    expect(await read(JSON.stringify(first), ...lines, '')).toContain(`The journal J, ${message}`);
  });

  test('and an invalid one is reported', async () => {
    expect(await read('')).toBe('The journal J does not begin with run.started.');
    const missing = await readJournal('/nonexistent/events.jsonl');
    expect(missing.status === 'failed' && missing.message).toBe(
      'There is no journal /nonexistent/events.jsonl: the run ended before it started to work.',
    );
    const folder = tempFolder();
    mkdirSync(join(folder, 'events.jsonl'));
    const isFolder = await readJournal(join(folder, 'events.jsonl'));
    expect(isFolder.status === 'failed' && isFolder.message).toContain('is a folder.');
  });
});

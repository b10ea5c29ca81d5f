import { expect, test } from 'vitest';
import { EgressRecord } from '../../../src/engine/open/egress-record.ts';
import type { Sandbox } from '../../../src/ports.ts';
import { commandEnd } from '../../support/runs/events.ts';

const { signal } = new AbortController();
const refusedHost = (host: string) => ({ host, times: 1, why: `${host} is refused`, allow: null });
const COMMAND = { script: 'x', timeoutMs: 1_000, signal };

/** A command that ends with this exit code, while these hosts are refused. */
function ending(refusals: EgressRecord, exitCode: number, hosts: readonly string[]) {
  const output = { head: '', omitted: 0, tail: '' };
  const run = async () => {
    for (const host of hosts) refusals.used({ host, outcome: 'refused', why: `${host} is refused` });
    return { end: commandEnd(exitCode), output };
  };
  return refusals.naming({ run } as unknown as Sandbox);
}

const REFUSED = { by: 'command', outcome: 'refused' } as const;

test('a refused host is kept with the call or command until it is requested, however that ends', async () => {
  const refusals = new EgressRecord();
  await ending(refusals, 0, ['a.org', 'a.org']).run({ ...COMMAND, call: 'c' });
  await ending(refusals, 1, ['a.org']).run(COMMAND);
  await ending(refusals, 1, ['a.org']).run({ ...COMMAND, command: 'npm ci' });
  expect(refusals.take()).toEqual([
    { ...refusedHost('a.org'), ...REFUSED, times: 2, calls: ['c'] },
    { ...refusedHost('a.org'), ...REFUSED, calls: [] },
    { ...refusedHost('a.org'), ...REFUSED, calls: [], commands: ['npm ci'] },
  ]);
  expect(refusals.take()).toEqual([]);
  expect(refusals.all).toMatchObject([{ host: 'a.org', times: 4 }]);
});

test('any of several parallel commands may have asked', async () => {
  const refusals = new EgressRecord();
  const inner = ending(refusals, 0, ['a.org']);
  const outer = refusals.naming({
    run: async () => inner.run({ ...COMMAND, call: 'd' }),
  } as unknown as Sandbox);
  await outer.run({ ...COMMAND, call: 'c' });
  expect(refusals.take()).toEqual([{ ...refusedHost('a.org'), ...REFUSED, calls: ['c', 'd'] }]);
});

test('the recorder of refusals is woken once for each new host, even for an earlier one', async () => {
  const refusals = new EgressRecord();
  const woken: number[] = [];
  const listen = () => refusals.onNew(() => void woken.push(refusals.take().length));
  listen();
  await ending(refusals, 0, ['a.org', 'a.org', 'b.org']).run(COMMAND);
  expect(woken).toEqual([1, 2]);
  refusals.onNew(() => undefined);
  await ending(
    refusals,
    0,
    Array.from({ length: 200 }, (_, at) => `${at}.org`),
  ).run(COMMAND);
  listen();
  listen();
  expect(woken).toHaveLength(3);
});

test('no flood of hosts makes more entries than are counted separately', async () => {
  const refusals = new EgressRecord();
  const hosts = Array.from({ length: 500 }, (_, nth) => `n${nth}.example`);
  await ending(refusals, 1, hosts).run({ ...COMMAND, call: 'c' });
  const taken = refusals.take();
  expect([refusals.all.length, taken.length]).toEqual([101, 101]);
  expect(taken.reduce((sum, { times }) => sum + times, 0)).toBe(500);
});

test('a host that was asked for before is only recorded once more at the end, with how often', async () => {
  const record = new EgressRecord();
  const ask = record.recording('provider', async () => new Response());
  await ask('https://api.example/v1');
  expect(record.take()).toMatchObject([
    { host: 'api.example', by: 'provider', outcome: 'reached', times: 1 },
  ]);
  await ask('https://api.example/v1');
  await ask(new URL('https://api.example:443/v2'));
  expect(record.take()).toEqual([]);
  expect(record.take(true)).toMatchObject([{ host: 'api.example', times: 2 }]);
  const lost = record.recording('mcp', () => Promise.reject(new TypeError('fetch failed')));
  await expect(lost('http://mcp.example:81/')).rejects.toThrow('fetch failed');
  expect(record.take()).toMatchObject([
    { host: 'mcp.example:81', by: 'mcp', outcome: 'failed', times: 1, why: 'fetch failed' },
  ]);
});

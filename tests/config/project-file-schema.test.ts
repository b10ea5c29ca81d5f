import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveSettings } from '../../src/config/resolve.ts';
import { settingEntries } from '../../src/config/schema.ts';
import { serversIn } from '../../src/config/server-file.ts';
import { IS_FULL } from '../support/setup/sample.ts';

const schema = JSON.parse(readFileSync('docs/patchsmith.schema.json', 'utf8'));
// Alternatives need no type beside them.
const isValid = new Ajv2020({ allowUnionTypes: true }).compile(schema);

/** As a run takes it, with an operator who allows some hosts. */
function isTaken(values: Readonly<Record<string, unknown>>): boolean {
  const flags = { 'allow-domain': ['example.com', '*.example.org'], 'allow-private': ['nexus.corp.example'] };
  const resolved = resolveSettings({ flags, env: {}, file: { values, lines: {} } });
  return resolved.status === 'ok' && serversIn(resolved.settings.mcp, resolved.sources.mcp).status === 'ok';
}

const settable = settingEntries().filter(({ file }) => file !== 'refused');

test('the schema is ready for a catalogue, and has what a project file may set', () => {
  expect(schema).toMatchObject({
    $schema: expect.any(String),
    $id: expect.any(String),
    title: 'patchsmith project file',
  });
  expect(Object.keys(schema.properties)).toEqual(settable.map(({ flag }) => flag));
  for (const property of Object.values(schema.properties)) {
    expect(property).toMatchObject({ description: expect.any(String) });
    // A value of any kind would be checked by nobody.
    expect(Object.keys(property ?? {}).length).toBeGreaterThan(1);
  }
});

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'npm test',
    'src/**',
    ' ',
    '',
    'a\nb',
    'Yes',
    'off',
    '5',
    '5.0',
    '90s',
    ' 3m ',
    '2G',
    '512MiB',
  ),
  fc.constantFrom(
    'read_file, search',
    'read_file\nsearch,',
    'auto',
    'low',
    'none',
    'required',
    'fail',
    'error',
  ),
  fc.constantFrom(
    'example.com',
    'EXAMPLE.com',
    'nexus.corp.example',
    'db=serve --fast',
    'checkout',
    'denied',
  ),
  fc.constantFrom('input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4'),
  // Every name that some setting knows.
  fc.constantFrom(...settable.flatMap(({ value = '' }) => value.split('|'))),
);
const server = fc.record(
  {
    command: text,
    args: fc.array(text, { maxLength: 2 }),
    env: fc.dictionary(fc.constantFrom('A', 'b_1', '1'), text, { maxKeys: 2 }),
    sandbox: fc.boolean(),
    url: fc.constant('https://mcp.example'),
    tools: fc.oneof(fc.array(text, { maxLength: 2 }), fc.constant({ deny: ['x'] })),
    timeout_seconds: fc.integer(),
    type: fc.constantFrom('stdio', 'http'),
  },
  { requiredKeys: ['command'] },
);
const amount = fc.oneof(fc.integer({ min: -1, max: 9 }), fc.constantFrom('0.5', 'x'));
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 2, arbitrary: fc.array(text, { maxLength: 3 }) },
  fc.boolean(),
  fc.constant(null),
  { weight: 2, arbitrary: fc.integer({ min: -2, max: 100_000 }) },
  fc.double(),
  fc.dictionary(fc.constantFrom('db', 'docs', ''), server, { maxKeys: 2 }),
  fc.record({
    input: amount,
    output: amount,
    'cache-read': amount,
    'cache-write': amount,
    'cache-write-1h': amount,
  }),
);

const RUNS = IS_FULL ? { numRuns: 300 } : { numRuns: 20, seed: 11 };

/** Of each kind of value that some setting takes, so that every setting is given one. */
const PRICE = { input: 2, output: 10, 'cache-read': 0, 'cache-write': 1, 'cache-write-1h': 1 };
const KINDS = [
  ...[
    true,
    5,
    9_000,
    '90s',
    '2G',
    'npm test',
    'read_file, search',
    'low',
    'example.com',
    'nexus.corp.example',
  ],
  ...['db=serve --fast', PRICE, { db: { command: 'serve' } }],
];

test('the schema takes whatever patchsmith takes', () => {
  const seen = new Set<string>();
  for (const { flag, value: names = '' } of settable) {
    fc.assert(
      fc.property(value, (given) => {
        if (!isTaken({ [flag]: given })) return;
        seen.add(flag);
        expect(isValid({ [flag]: given }), JSON.stringify({ [flag]: given })).toBe(true);
      }),
      { ...RUNS, examples: [...KINDS, ...names.split('|')].map((one): [typeof one] => [one]) },
    );
  }
  expect(settable.map(({ flag }) => flag).filter((flag) => !seen.has(flag))).toEqual([]);
});

test.each([
  { verfy: 'npm test' },
  { provider: 'openai' },
  { verify: null },
  { verify: ' ' },
  { verify: [] },
  { verify: [''] },
  { verify: 3 },
  { model: ' ' },
  { 'max-iterations': 26 },
  { 'max-iterations': 0 },
  { 'max-iterations': 2.5 },
  { 'max-iterations': 'many' },
  { deadline: 1_801 },
  { deadline: '5 days' },
  { deadline: 0 },
  { 'command-timeout': ['90s'] },
  { sandbox: 'off' },
  { 'read-only': 'maybe' },
  { 'read-only': ['true'] },
  { effort: 'huge' },
  { tools: ['read_file', 'teleport'] },
  { 'no-tools': 'read_file search' },
  { 'max-disk': '10 parsecs' },
  { 'max-cost-usd': -1 },
  { price: ['gpt-5.4:input=1,output=2,cache-read=0,cache-write=0,cache-write-1h=0'] },
  { mcp: { db: { url: 'https://mcp.example' } } },
  { mcp: { db: { command: 'serve', sandbox: false } } },
  { 'allow-domain': 3 },
])('neither the schema nor patchsmith takes %j', (values) => {
  expect([isValid(values), isTaken(values)]).toEqual([false, false]);
});

test.each([
  { verify: 'npm test' },
  { verify: ['npm test', 'npm run lint'], setup: 'npm ci' },
  { 'max-iterations': 25, deadline: '30m', 'read-only': 'Yes' },
  { sandbox: 'required', effort: 'low', tools: 'read_file, search' },
  { mcp: { db: { command: 'serve', env: { A: 'b' } } } },
  { 'allow-domain': ['example.com'] },
  {},
])('both take %j', (values) => {
  expect([isValid(values), isTaken(values)]).toEqual([true, true]);
});

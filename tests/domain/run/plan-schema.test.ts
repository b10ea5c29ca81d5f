import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PlanFrontMatter } from '../../../src/domain/run/plan.ts';
import { randomCases } from '../../support/setup/sample.ts';

const schema = JSON.parse(readFileSync('docs/plan.schema.json', 'utf8'));
const isValid = new Ajv2020().compile(schema);

test('the schema is ready for a catalogue', () => {
  expect(schema).toMatchObject({
    $schema: expect.any(String),
    $id: expect.any(String),
    title: 'patchsmith plan',
  });
  for (const property of Object.values(schema.properties)) expect(property).toHaveProperty('description');
});

test('the schema takes whatever a plan may say', () => {
  const key = fc.constantFrom(...Object.keys(PlanFrontMatter.shape), 'verfy', '');
  const text = fc.oneof(fc.string(), fc.constantFrom('npm test', 'src/**', '*.ts', ' ', '', 'a\nb'));
  const value = fc.oneof(
    text,
    fc.array(text, { maxLength: 3 }),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
  );
  let taken = 0;
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 3 }), (front) => {
      if (!PlanFrontMatter.safeParse(front).success) return;
      taken += 1;
      expect(isValid(front), JSON.stringify(front)).toBe(true);
    }),
    { numRuns: randomCases(3_000) },
  );
  expect(taken).toBeGreaterThan(25);
});

test.each([
  { verfy: 'npm test' },
  { verify: null },
  { verify: ' ' },
  { verify: [''] },
  { verify: 3 },
  { verify_baseline: 'true' },
  { allow: [{ src: 'x' }] },
  { title: '' },
])('neither the schema nor a plan takes %j', (front) => {
  expect([isValid(front), PlanFrontMatter.safeParse(front).success]).toEqual([false, false]);
});

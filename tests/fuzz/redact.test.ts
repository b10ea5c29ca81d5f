import fc from 'fast-check';
import { expect, test } from 'vitest';
import { knownSecretFinder, redactedJson, redactorFor } from '../../src/domain/secrets/redact.ts';
import { fuzzRuns } from '../support/setup/sample.ts';

const CASES = fuzzRuns('cases');

/** No blanks, since those at the ends are no part of a secret, and no `*`, of which the mark is made. */
const secret = fc
  .string({ minLength: 8, maxLength: 60, unit: 'grapheme' })
  .map((text) => text.replace(/[\s*]/gu, 'x'))
  .filter((text) => text.length >= 8);
const around = fc.string({ maxLength: 20 });

const FORMS: Readonly<Record<string, (value: string) => string>> = {
  raw: (value) => value,
  'JSON-escaped': (value) => JSON.stringify(value).slice(1, -1),
  'URL-encoded': (value) => encodeURIComponent(value),
  'URL-encoded in small letters': (value) =>
    encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
  hex: (value) => Buffer.from(value).toString('hex'),
  'capital hex': (value) => Buffer.from(value).toString('hex').toUpperCase(),
  base64: (value) => Buffer.from(value).toString('base64'),
  'base64 for URLs': (value) => Buffer.from(value).toString('base64url'),
};
/** Texts for each secret, since making a redactor takes longer than using it. */
const TEXTS = Object.keys(FORMS).length;
const RUNS = { numRuns: Math.ceil(CASES / TEXTS) };
const texts = fc.array(fc.tuple(around, around), { minLength: TEXTS, maxLength: TEXTS });

/** What of a form would give the secret away: base64 shares its last character with what follows. */
function telling(form: string): string {
  return form.replace(/=+$/, '').slice(0, -1);
}

test('no secret is left in any form that is promised, whatever stands around it', () => {
  fc.assert(
    fc.property(secret, texts, (value, surroundings) => {
      const redact = redactorFor([value]);
      const find = knownSecretFinder([value]);
      for (const [at, formOf] of Object.values(FORMS).entries()) {
        const form = formOf(value);
        const [before, after] = surroundings[at] ?? ['', ''];
        expect(redact(`${before}${form}${after}`)).not.toContain(telling(form));
        expect(find(`${before}${form}${after}`).flatMap((places) => [...places])).not.toEqual([]);
      }
    }),
    RUNS,
  );
});

test('no secret is left in the middle of something in base64', () => {
  fc.assert(
    fc.property(secret, texts, (value, surroundings) => {
      const redact = redactorFor([value]);
      for (const [before, after] of surroundings) {
        const from = Math.ceil((Buffer.byteLength(before) * 4) / 3);
        const encoded = Buffer.from(before + value + after).toString('base64');
        // The characters that stand for bytes of the secret alone.
        const own = Math.floor((Buffer.byteLength(value) * 4) / 3) - 1;
        expect(redact(encoded)).not.toContain(encoded.slice(from, from + own));
      }
    }),
    RUNS,
  );
});

test('JSON stays JSON, with the same shape, and text without secrets stays as it was', () => {
  const other = redactorFor(['\u{10ffff}'.repeat(8)]);
  const documents = fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: TEXTS, maxLength: TEXTS });
  fc.assert(
    fc.property(secret, documents, around, (value, made, text) => {
      const redact = redactorFor([value]);
      for (const document of made) {
        const shown: unknown = JSON.parse(redactedJson({ document, at: [`x${value}y`] }, redact));
        expect(shown).toMatchObject({ at: ['x***y'] });
        expect(JSON.parse(redactedJson(document, other))).toEqual(JSON.parse(JSON.stringify(document)));
      }
      expect(other(text)).toBe(text);
    }),
    RUNS,
  );
});

/** What the product writes, held against the schemas that it publishes. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CheckReport } from '../../src/domain/check-report.ts';
import type { OutcomesReport } from '../../src/domain/github/publishing/costs.ts';
import type { Publication } from '../../src/domain/github/publishing/publication.ts';
import type { RunEvent, RunResult } from '../../src/library.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const require = createRequire(import.meta.url);

interface Validate {
  (value: unknown): boolean;
  readonly errors?: readonly unknown[] | null;
}

const validators = new Map<string, Validate>();

/** The check that a published schema stands for. Compiling a large one takes half a second, so its code is kept. */
export function validatorOf(schema: string): Validate {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const text = readFileSync(join(ROOT, 'docs', `${schema}.schema.json`), 'utf8');
  const kept = join(ROOT, 'node_modules/.cache/schemas');
  const file = join(kept, `${schema}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.cjs`);
  if (!existsSync(file)) {
    mkdirSync(kept, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, compiled(JSON.parse(text)));
    renameSync(`${file}.${process.pid}`, file);
  }
  const validate = require(file) as Validate;
  validators.set(schema, validate);
  return validate;
}

function compiled(schema: object): string {
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const { default: standaloneCode } =
    require('ajv/dist/standalone/index.js') as typeof import('ajv/dist/standalone/index.js');
  const ajv = new Ajv2020({ strict: false, code: { source: true } });
  return standaloneCode(ajv, ajv.compile(schema));
}

function parsed<Value>(schema: string, value: unknown): Value {
  const validate = validatorOf(schema);
  if (validate(value)) return value as Value;
  throw new Error(
    `docs/${schema}.schema.json does not describe this: ${JSON.stringify(validate.errors)}\n${JSON.stringify(value)}`,
  );
}

/** The text of a result.json, or of a document of `run --output json`. */
export function resultIn(text: string): RunResult {
  return parsed('result', JSON.parse(text));
}

/** The result in a run directory. */
export function resultOf(runDir: string): RunResult {
  return resultIn(readFileSync(join(runDir, 'result.json'), 'utf8'));
}

/** A document of `publish --output json`. */
export function publicationIn(text: string): Publication {
  return parsed('publication', JSON.parse(text));
}

/** A document of `check --json`. */
export function checkReportIn(text: string): CheckReport {
  return parsed('check', JSON.parse(text));
}

/** A document of `outcomes --json`. */
export function outcomesIn(text: string): OutcomesReport {
  return parsed('outcomes', JSON.parse(text));
}

/** A line of a journal, or of `--output jsonl`. */
export function eventIn(line: string): RunEvent {
  return parsed('events', JSON.parse(line));
}

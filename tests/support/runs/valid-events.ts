/** Holds the events of every run in the tests against the published schema. */

import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { RunEvent } from '../../../src/domain/run/events.ts';
import { COMPILED_ONCE } from '../setup/compiled-once.ts';

let validate: ValidateFunction | undefined;

/** The events of a journal or of `--output jsonl`. Throws for a line that docs/events.schema.json does not describe. */
export function validEvents(text: string): RunEvent[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const event = JSON.parse(line) as RunEvent;
      validate ??= new Ajv2020({ strict: false, discriminator: false, ...COMPILED_ONCE }).compile(schema());
      const isValid: boolean = validate(event);
      if (isValid) return event;
      throw new Error(`docs/events.schema.json does not describe ${JSON.stringify(event)}`);
    });
}

function schema(): object {
  return JSON.parse(
    readFileSync(new URL('../../../docs/events.schema.json', import.meta.url), 'utf8'),
  ) as object;
}

/** The one document of a command on stdout. */

import type { Writable } from 'node:stream';
import { internalError, type RunOutcome } from '../domain/run/outcome.ts';
import { sentence } from '../domain/text/words.ts';

/** Resolves with null when it was handed over, and with the outcome of a command that could not do that. */
export async function handOver(stdout: Writable, document: string): Promise<RunOutcome | null> {
  const failure = await new Promise<Error | null>((resolve) =>
    stdout.write(document, (error) => resolve(error ?? null)),
  );
  return (
    failure &&
    internalError(
      'ERR_OUTPUT_UNWRITTEN',
      sentence(`The document cannot be written to stdout: ${failure.message}`),
    )
  );
}

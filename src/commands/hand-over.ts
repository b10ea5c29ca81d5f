/** The one document of a command on stdout. */

import { internalError, type RunOutcome } from '../domain/run/outcome.ts';
import { sentence } from '../domain/text/words.ts';
import type { HostContext } from '../host/context.ts';
import { handed } from '../host/terminal.ts';

/** Resolves with null when it was handed over, and with the outcome of a command that could not do that. */
export async function handOver(
  { stdout, interrupt }: Pick<HostContext, 'stdout' | 'interrupt'>,
  document: string,
): Promise<RunOutcome | null> {
  const failure = await handed(stdout, document, interrupt);
  return (
    failure &&
    internalError(
      'ERR_OUTPUT_UNWRITTEN',
      sentence(`The document cannot be written to stdout: ${failure.message}`),
    )
  );
}

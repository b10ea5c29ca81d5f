/** The one document of a command on stdout. */

import type { Environment } from '../domain/environment.ts';
import { internalError, type RunOutcome } from '../domain/run/outcome.ts';
import type { Redact } from '../domain/secrets/redact.ts';
import { jsonDocument } from '../domain/text/terminal.ts';
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

/** Where a command over past runs looks, and how it prints. */
export interface OverRuns {
  readonly env: Environment;
  readonly redact: Redact;
  /** JSON, for machines. */
  readonly json: boolean;
  /** Prints the document on stdout. Resolves with an outcome where it could not be written. */
  readonly print: (document: string) => Promise<RunOutcome | null>;
}

/** Prints it as JSON or as text. A person who leaves early has seen enough; a machine has half a document, and gets an outcome. */
export async function printEither(
  { json, redact, print }: Omit<OverRuns, 'env'>,
  document: object,
  text: () => string,
): Promise<RunOutcome | null> {
  const unread = await print(json ? jsonDocument(document, redact) : text());
  return json ? unread : null;
}

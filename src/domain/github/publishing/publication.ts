/** The result of a publication: `publish.json`, and the document on stdout. */

import * as z from 'zod';
import { ErrorCodeText } from '../../errors/problem.ts';
import { Flag } from '../../review/flag.ts';
import { EXIT_CODE, OutcomeName } from '../../run/exit-code.ts';
import type { RunOutcome } from '../../run/outcome.ts';
import type { Warning } from '../../warnings/warning.ts';

/** The result of a publication, as in `publication.json` and `--output json`. */
export const Publication = z.strictObject({
  version: z.literal(1),
  patchsmith: z.string().describe('Version of patchsmith'),
  runId: z.string().nullable().describe('null when no run could be read'),
  outcome: OutcomeName,
  exitCode: z.int(),
  reason: z.string(),
  errorCode: ErrorCodeText.nullable().describe(
    'Why it did not end well; `patchsmith help CODE` says what it means. null when it did',
  ),
  dryRun: z.boolean().describe('Nothing was changed; this is what would have been changed'),
  repository: z.string().nullable(),
  base: z
    .strictObject({ branch: z.string(), sha: z.string() })
    .nullable()
    .describe('The base branch, and the commit that the patch was rebuilt on'),
  branch: z.string().nullable(),
  commit: z
    .strictObject({
      sha: z.string(),
      tree: z.string(),
      operation: z.enum(['created', 'updated', 'none']).describe('Of the branch; none: it existed already'),
      verified: z
        .boolean()
        .nullable()
        .describe('Whether GitHub shows the signature as valid; null where it was not asked'),
    })
    .nullable(),
  pullRequest: z
    .strictObject({
      number: z.int(),
      url: z.string(),
      operation: z
        .enum(['created', 'updated', 'closed', 'none'])
        .describe('closed: a later run of its plan found nothing to change (--stale close)'),
      branch: z.string(),
      headSha: z.string(),
      draft: z.boolean(),
      draftReasons: z.array(z.string()).describe('Why it should be a draft; empty if there is no reason'),
    })
    .nullable(),
  comment: z.strictObject({ url: z.string(), operation: z.enum(['created', 'updated', 'none']) }).nullable(),
  answer: z
    .strictObject({
      as: z.enum(['review', 'check', 'sarif']),
      url: z.string().nullable().describe('Page of the review or the check run'),
      file: z.string().nullable().describe('The SARIF document'),
      operation: z.enum(['created', 'updated', 'none']),
      findings: z.int(),
      atLines: z.int().describe('How many of them are shown at their lines'),
    })
    .nullable()
    .describe('What --publish-as made of the findings of a run'),
  conflicts: z
    .array(z.strictObject({ path: z.string(), why: z.string() }))
    .describe('Files that the base has changed as well, so that the patch does not apply'),
  merged: z.array(z.string()).describe('Files that were merged with changes of the base, without a conflict'),
  flags: z.array(Flag).describe('Changes that deserve a second look, as found in the patch itself'),
  warnings: z
    .array(z.string())
    .describe(
      'Each begins with its code in brackets, such as [WARN_NO_SANDBOX]; `patchsmith help codes` lists them',
    ),
});
export type Publication = z.infer<typeof Publication>;

/** A publication that is being made. */
export type PublicationSoFar = Omit<Publication, 'warnings'> & { warnings: Warning[] };

/** For a publication that has not made anything yet; it has no outcome yet. */
export function nothingPublished(version: string): PublicationSoFar {
  return {
    version: 1,
    patchsmith: version,
    runId: null,
    outcome: 'internal_error',
    exitCode: EXIT_CODE.internal_error,
    reason: '',
    errorCode: null,
    dryRun: false,
    repository: null,
    base: null,
    branch: null,
    commit: null,
    pullRequest: null,
    comment: null,
    answer: null,
    conflicts: [],
    merged: [],
    flags: [],
    warnings: [],
  };
}

/** Writes the outcome into `publication`. */
export function conclude<P extends Publication | PublicationSoFar>(
  publication: P,
  { name, exitCode, reason, errorCode }: RunOutcome,
): P {
  return Object.assign(publication, { outcome: name, exitCode, reason, errorCode });
}

/** A run that continues a pull request of ours, in place of beginning from its base again. */

import * as z from 'zod';

const CommitId = z.string().regex(/^[0-9a-f]{40}$/, 'expected an object id');

/** Why the work continues: someone asked for it, a check of it failed, or its base changed the same lines. */
export const TRIGGERS = ['request', 'check', 'conflict'] as const;
/** One of `TRIGGERS`. */
export type Trigger = (typeof TRIGGERS)[number];

/** A review thread that a run was given to answer. */
const AskedThread = z.strictObject({
  id: z.string().max(200).describe('Its id in GraphQL'),
  comment: z.int().positive().describe('Its first comment, which replies go to'),
  path: z.string(),
});
export type AskedThread = z.infer<typeof AskedThread>;

/** The pull request that a run continues, as it was when the run began. */
export const FollowUp = z.strictObject({
  pullRequest: z.int().positive(),
  marker: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .describe('Id in the markers of its text'),
  branch: z.string(),
  head: CommitId.describe('Commit that the work continues from'),
  base: z.strictObject({
    branch: z.string(),
    sha: CommitId.describe(
      'Newest commit of the base that the branch contains; rules and plan are read there',
    ),
  }),
  trigger: z.enum(TRIGGERS),
  round: z
    .int()
    .nonnegative()
    .describe('Number of this round without a request by a person, from 1; 0 if a person requested it'),
  threads: z.array(AskedThread).max(50).describe('Review threads that the model was given'),
  merge: CommitId.nullable().describe('Commit of the base that the work merges; null when it merges nothing'),
});
export type FollowUp = z.infer<typeof FollowUp>;

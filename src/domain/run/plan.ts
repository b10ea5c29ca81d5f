/** The plan: its task, its commands and path rules, and where it came from; and the principles. */

import * as z from 'zod';
import { whyNoGlob } from '../changes/glob.ts';
import type { FollowUp } from '../github/follow-up.ts';
import { shortened } from '../text/shorten.ts';

/** Commands that cannot fail prove nothing; a plan that verifies with one is a mistake. */
const NO_OP = /^(?:#.*|:|true|\/bin\/true|exit(?:\s+0)?|(?:echo|printf)\b[^|&;<>`$()]*)?$/s;

/** The last part always succeeds, whatever comes before. With more than one command `set -e` could still end it early. */
const FORGIVEN = /^(?:true|:|exit\s+0|echo\b[^|&;<>`$()\n]*)$/;

/** True for an empty command, a comment, `true`, `:`, `exit 0`, a bare `echo`, and `… || true`. */
export function isNoOpCommand(command: string): boolean {
  const trimmed = command.trim();
  const whole = trimmed.endsWith(';') ? trimmed.slice(0, -1).trimEnd() : trimmed;
  if (NO_OP.test(whole)) return true;
  const at = whole.lastIndexOf('||');
  return (
    at >= 0 && !/[;\n]/.test(whole.slice(0, at)) && FORGIVEN.test(whole.slice(at + '||'.length).trimStart())
  );
}

/** The error for a value of the wrong type: YAML makes a mapping of a text with `: ` in it. */
function wanted(what: string): string {
  return `expected ${what}; put text in quotes if YAML takes it for something else`;
}

/** A script for the sandbox's shell. */
export const SetupCommand = z
  .string(wanted('a command'))
  .trim()
  .min(1, { error: 'a command must not be empty', abort: true });
/** A verify command; one that cannot fail is refused. */
export const VerifyCommand = SetupCommand.refine((command) => !isNoOpCommand(command), {
  error: (issue) =>
    `${JSON.stringify(issue.input)} cannot fail, so it verifies nothing; name a command that runs your tests`,
});

/** A glob for paths that may, or may not, be changed. */
export const PathGlob = z.string(wanted('a glob')).superRefine((glob, { addIssue }) => {
  const why = glob.startsWith('!')
    ? 'cannot be negated; put the path in the other list, allow or protect'
    : whyNoGlob(glob);
  if (why !== null) addIssue(`the glob ${shortened(JSON.stringify(glob), 200)} ${why}`);
});

/** A list, or a text with one entry per line. */
function listOf(entry: z.ZodType<string, string>, what: string) {
  return z.preprocess(
    (given) => (typeof given === 'string' ? given.trim().split(/\n\s*/) : given),
    z.array(entry, wanted(`${what}, or a list of them`)),
  );
}

/** The optional YAML front matter of a plan. Each list may be a single text as well. */
export const PlanFrontMatter = z.strictObject({
  title: z
    .string(wanted('a text'))
    .trim()
    .min(1, 'must not be empty; leave it out to use the first heading of the task')
    .optional()
    .describe('Short name of the change'),
  verify: listOf(VerifyCommand, 'a command')
    .optional()
    .describe('Commands that must succeed when the work is done'),
  verify_baseline: z
    .boolean('expected true or false, without quotes')
    .optional()
    .describe('Run the verify commands before the work, to tell pre-existing failures from regressions'),
  setup: listOf(SetupCommand, 'a command').optional().describe('Commands run once before the model is asked'),
  working_directory: z
    .string(wanted('a folder'))
    .trim()
    .min(1, 'must not be empty; leave it out to work where the run is started')
    .optional()
    .describe('Folder in which the run works, relative to the root of the repository'),
  allow: listOf(PathGlob, 'a glob').optional().describe('Globs: only these paths may change'),
  protect: listOf(PathGlob, 'a glob').optional().describe('Globs: these paths may not change'),
});
export type PlanFrontMatter = z.infer<typeof PlanFrontMatter>;

/** Globs that say which paths may change; `allow` empty is all of them. */
export interface PathRules {
  readonly allow: readonly string[];
  readonly protect: readonly string[];
}

/** Where a plan came from. `repository` is OWNER/NAME, `url` the page for people, `author` a login. */
export const PlanSource = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('file'), path: z.string() })
    .describe('A file; the path is relative to the repository if it is inside, else as it was given'),
  z.strictObject({ kind: z.literal('stdin') }),
  z.strictObject({ kind: z.literal('message') }),
  z.strictObject({
    kind: z.literal('issue'),
    repository: z.string(),
    number: z.int().positive(),
    url: z.string(),
    author: z.string(),
  }),
  z.strictObject({
    kind: z.literal('comment'),
    repository: z.string(),
    number: z.int().positive().describe('The issue or pull request that was commented on'),
    commentId: z.int().positive(),
    url: z.string(),
    author: z.string(),
  }),
]);
export type PlanSource = z.infer<typeof PlanSource>;

/** What someone wrote on GitHub, as people see it there. */
export interface OutsidePart {
  readonly kind: 'issue' | 'comment';
  /** Login. */
  readonly author: string;
  readonly text: string;
  /** The discussion that it is part of; absent if there is nothing else. */
  readonly context?: OutsideContext;
}

/** The discussion of the request: the issue or pull request first, then comments, oldest first. */
export interface OutsideContext {
  readonly parts: readonly ContextPart[];
  /** The number of comments that were left out. */
  readonly leftOut: number;
}

/** The work that a run continues. */
export interface FollowUpTask {
  readonly facts: FollowUp;
  /** The globs of the first run's settings. */
  readonly paths: PathRules;
  /** Title of the pull request. */
  readonly title: string;
  /** The work so far, as a patch of the base. */
  readonly diff: string;
  readonly asks: readonly FollowUpAsk[];
  /** The purpose of the pull request, if the request does not state it. */
  readonly context: readonly ContextPart[];
}

/** One reason for more work: a review thread, a failed check or a conflict. From outside, already sanitised. */
export interface FollowUpAsk {
  readonly tag: 'review' | 'check' | 'conflict';
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly remarks: readonly ContextPart[];
}

/** One text of a discussion, as people see it. */
export interface ContextPart {
  readonly kind: 'issue' | 'pull_request' | 'remark';
  /** Login. */
  readonly author: string;
  /** Null for a comment. */
  readonly title: string | null;
  readonly text: string;
}

/** The task and its rules. */
export interface Plan extends PathRules {
  readonly title: string;
  readonly source: PlanSource;
  /** The task in Markdown, without the front matter; empty when all of it is in `outside`. */
  readonly task: string;
  /** The part that came from an issue or a comment; absent in other plans. */
  readonly outside?: OutsidePart;
  /** What is continued, and on whose request; absent in a plan that starts something new. */
  readonly followUp?: FollowUpTask;
  readonly verify: readonly string[];
  /** Run the verify commands before the work as well. */
  readonly verifyBaseline: boolean;
  readonly setup: readonly string[];
  /** Relative to the root; absent to work where the run is started. */
  readonly workingDirectory?: string;
  /** Hash of the whole plan text as given, in hex. */
  readonly sha256: string;
}

/** What is recorded of a file of principles. `path` is relative to the repository where it lies inside. */
export const PrinciplesRecord = z.strictObject({
  path: z.string(),
  /** Of the whole file, in hex, even when only a part is used. */
  sha256: z.string(),
  bytes: z.int(),
  /** Only the first part of the file fitted under the cap. */
  truncated: z.boolean(),
});

/** One file of principles, as given to the model. */
export type PrinciplesFile = z.infer<typeof PrinciplesRecord> & { readonly text: string };

/** Rules for every task, from the most general to the most specific. */
export type Principles = readonly PrinciplesFile[];

/** The plan's title, otherwise its first heading, otherwise its first line; at most 80 characters. */
export function titleOf(task: string): string {
  const lines = task.split('\n').map((line) => line.trim());
  const line = lines.find((l) => /^#{1,6}\s/.test(l)) ?? lines.find((l) => l !== '') ?? '';
  const title = line.replace(/^#{1,6}\s+/, '');
  return shortened(title, 80);
}

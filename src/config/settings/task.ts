/** The task of a run and what counts as done; where it works; and whose words on GitHub may become a task. */

import * as z from 'zod';
import { MAX_ATTEMPTS } from '../../domain/attempts/attempts.ts';
import { OPTIONAL_TOOLS } from '../../domain/conversation/tool.ts';
import { IF_DENIED } from '../../domain/review/denied.ts';
import { WebHost } from '../../domain/review/reachable.ts';

import {
  IF_NOT_PROVEN,
  IF_NOT_REVIEWED,
  NO_CHANGES,
  PROVE_TESTS,
  VERIFY_PLACES,
} from '../../domain/run/model-settings.ts';
import { PathGlob, SetupCommand, VerifyCommand } from '../../domain/run/plan.ts';
import { wholeNumber } from '../values/amounts.ts';
import { mappingOrTexts, names, namesAmong, texts } from '../values/lists.ts';
import { choice, path, pathEntry, text, yesOrNo } from '../values/text.ts';
import { setting } from './setting.ts';

/** An author's associations with a repository, as GitHub names them, in lower case; `any` includes all of them. */
const AUTHOR_ASSOCIATIONS = ['owner', 'member', 'collaborator', 'contributor', 'any'] as const;
const PREFLIGHTS = ['auto', 'off'] as const;
const ISSUE_COMMENTS = ['all', 'maintainers', 'none'] as const;

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Task. */
export const TASK_SETTINGS = {
  plan: setting(path, null, {
    flag: 'plan', value: 'FILE', group: 'Task', file: 'refused', alsoFor: ['prepare'],
    help: 'Plan in Markdown, with optional YAML front matter; - reads stdin' }),
  message: setting(text, null, {
    flag: 'message', short: 'm', value: 'TEXT', group: 'Task', file: 'refused',
    help: 'The task as text, instead of a plan file' }),
  planFromIssue: setting(text, null, {
    flag: 'plan-from-issue', value: 'N|URL', group: 'Task', file: 'refused',
    help: "GitHub issue whose text is the task; with --plan, the file's rules and instructions apply to it" }),
  planFromComment: setting(text, null, {
    flag: 'plan-from-comment', value: 'ID|URL', group: 'Task', file: 'refused',
    help: 'Comment on a GitHub issue or pull request whose text is the task, after a leading command word such as /patchsmith' }),
  continued: setting(() => text().refine((given) => given === 'auto' || given === 'never' || /^#?[1-9]\d{0,9}$/.test(given), 'expected auto, never, or the number of a pull request'), 'never', {
    flag: 'continue', value: 'PR|auto|never', group: 'Task', file: 'refused', alsoFor: ['prepare'],
    help: 'Pull request of an earlier run to continue, with its head checked out: handles later requests, review threads and failed checks; auto: the one that the event refers to, if patchsmith made it' }),
  followUpRounds: setting(() => wholeNumber(0), 2, {
    flag: 'follow-up-rounds', value: 'N', group: 'Task', file: 'refused', alsoFor: ['prepare'],
    help: 'How often failed checks and conflicts may continue a pull request, without a person asking for it' }),
  followUpsPerDay: setting(() => wholeNumber(0), 20, {
    flag: 'follow-ups-per-day', value: 'N', group: 'Task', file: 'refused', alsoFor: ['prepare'],
    help: 'How many rounds of pull requests may begin in 24 hours in the repository, whoever asked for them' }),
  issueComments: setting(() => choice(ISSUE_COMMENTS), 'maintainers', {
    flag: 'issue-comments', value: ISSUE_COMMENTS.join('|'), group: 'Task', file: 'refused',
    help: 'Whose comments to include as context with --plan-from-issue and --plan-from-comment: those of owners, members, collaborators and allowed bots, or everyone\'s; the title and text of the issue always are' }),
  principles: setting(() => texts(pathEntry()), null, {
    flag: 'principles', value: 'FILE', repeatable: true, group: 'Task', file: 'refused',
    help: 'File with the principles: how changes are made in this repository',
    defaultHelp: 'AGENTS.md from the root down to the working directory, else CLAUDE.md' }),
  setup: setting(() => texts(SetupCommand), [], {
    flag: 'setup', value: 'CMD', repeatable: true, group: 'Task', file: 'set',
    help: "Command to run once before the model is asked, and in each fresh checkout that is verified; before the plan's own",
    defaultHelp: "the plan's" }),
  verify: setting(() => texts(VerifyCommand), [], {
    flag: 'verify', value: 'CMD', repeatable: true, group: 'Task', file: 'set',
    help: 'Command that must succeed when the work is done', defaultHelp: "the plan's" }),
  allow: setting(() => texts(PathGlob), [], {
    flag: 'allow', value: 'GLOB', repeatable: true, group: 'Task', file: 'set', alsoFor: ['resume', 'publish'],
    help: "Only these paths may change; the plan's globs apply too", defaultHelp: 'all paths' }),
  protect: setting(() => texts(PathGlob), [], {
    flag: 'protect', value: 'GLOB', repeatable: true, group: 'Task', file: 'set', alsoFor: ['resume', 'publish'],
    help: "These paths must not change; the plan's globs apply too", defaultHelp: 'none' }),
  acceptSecrets: setting(() => texts(PathGlob), [], {
    flag: 'accept-secrets', value: 'GLOB', repeatable: true, group: 'Task', file: 'refused', alsoFor: ['resume', 'publish'],
    help: 'Files to which the patch may add what looks like a secret, such as test data', defaultHelp: 'none' }),
  verifyBaseline: setting(yesOrNo, false, {
    flag: 'verify-baseline', group: 'Task', file: 'refused',
    help: 'Also run the verify commands before the work; those that fail the same way at the end do not fail the run' }),
  flakyReruns: setting(() => wholeNumber(0), 1, {
    flag: 'flaky-reruns', value: 'N', group: 'Task', file: 'set',
    help: 'How often a verify command that fails is run again on the same files; one that passes then is reported as flaky, and costs no fix round' }),
  verifyAll: setting(yesOrNo, false, {
    flag: 'verify-all', group: 'Task', file: 'set',
    help: 'Run the other verify commands also after one has failed, so that one fix round sees all failures' }),
  verifyIn: setting(() => choice(VERIFY_PLACES), 'worktree', {
    flag: 'verify-in', value: VERIFY_PLACES.join('|'), group: 'Task', file: 'set',
    help: "Where the verify commands run: where the model worked, or in a fresh checkout of base and patch, after the plan's setup commands" }),
  proveTests: setting(() => choice(PROVE_TESTS), 'auto', {
    flag: 'prove-tests', value: PROVE_TESTS.join('|'), group: 'Task', file: 'set', alsoFor: ['resume'],
    help: 'If a verified patch adds or changes tests, run the verify commands on the base with only these: they have to fail there' }),
  ifNotProven: setting(() => choice(IF_NOT_PROVEN), 'report', {
    flag: 'if-not-proven', value: IF_NOT_PROVEN.join('|'), group: 'Task', file: 'set', alsoFor: ['resume'],
    help: 'Whether a run ends normally or with exit 9 if the tests of its patch pass without the rest of it' }),
  testPaths: setting(() => texts(PathGlob), [], {
    flag: 'test-paths', value: 'GLOB', repeatable: true, group: 'Task', file: 'set', alsoFor: ['resume'],
    help: 'Files that are tests, for --prove-tests', defaultHelp: 'by the names that test runners of the language look for' }),
  preflight: setting(() => choice(PREFLIGHTS), 'auto', {
    flag: 'preflight', value: PREFLIGHTS.join('|'), group: 'Task', file: 'refused',
    help: 'Check before the first request that the work tree can be written to and that the verify commands can run; off: no such checks' }),
  includeForeign: setting(yesOrNo, false, {
    flag: 'include-foreign', group: 'Task', file: 'refused', alsoFor: ['resume'],
    help: 'Include in the patch changes that no tool call explains' }),
  ifNoChanges: setting(() => choice(NO_CHANGES), 'ok', {
    flag: 'if-no-changes', value: NO_CHANGES.join('|'), group: 'Task', file: 'set',
    help: 'Whether a run that changes nothing exits with 0 or 3' }),
  ifDenied: setting(() => choice(IF_DENIED), 'report', {
    flag: 'if-denied', value: IF_DENIED.join('|'), group: 'Task', file: 'set',
    help: 'Whether a run that was denied something (a protected path, a missing program, a host) ends normally or with exit 8' }),
  review: setting(yesOrNo, false, {
    flag: 'review', group: 'Task', file: 'set',
    help: 'Have the finished patch reviewed in a separate conversation, and send blocking findings back, once' }),
  ifNotReviewed: setting(() => choice(IF_NOT_REVIEWED), 'report', {
    flag: 'if-not-reviewed', value: IF_NOT_REVIEWED.join('|'), group: 'Task', file: 'set',
    help: 'Whether a run ends normally or with exit 9 if the review failed or its blocking findings could not be sent back' }),
  attempts: setting(() => wholeNumber(1).refine((n) => n <= MAX_ATTEMPTS, `expected at most ${MAX_ATTEMPTS}`), 1, {
    flag: 'attempts', value: 'N', group: 'Task', file: 'refused',
    help: 'Independent attempts, each on a copy of the work tree and with its share of the caps; the best one, judged by facts, is kept, and the others are named' }),
  readOnly: setting(yesOrNo, false, {
    flag: 'read-only', group: 'Task', file: 'set',
    help: 'Give the model no tools that write, and revert changes by commands: for reviews and reports' }),
  tools: setting(() => namesAmong(OPTIONAL_TOOLS), [], {
    flag: 'tools', value: 'TOOL,…', repeatable: true, group: 'Task', file: 'set',
    help: `The only tools that the model gets besides finish: ${OPTIONAL_TOOLS.join(', ')}`, defaultHelp: 'all of them' }),
  noTools: setting(() => namesAmong(OPTIONAL_TOOLS), [], {
    flag: 'no-tools', value: 'TOOL,…', repeatable: true, group: 'Task', file: 'set',
    help: 'Tools that the model does not get', defaultHelp: 'none' }),
  webFetch: setting(() => texts(WebHost, 0), [], {
    flag: 'web-fetch', value: 'HOST', repeatable: true, group: 'Task', file: 'refused', alsoFor: ['resume'],
    help: 'Host whose pages the model may read with web_fetch, as in --allow-domain, or * for every public host; does not let commands reach it',
    defaultHelp: 'none' }),
  mcp: setting(mappingOrTexts, [], {
    flag: 'mcp', value: 'NAME=COMMAND|URL', repeatable: true, group: 'Task', file: 'set', alsoFor: ['resume'],
    help: 'MCP server whose tools the model gets as NAME__TOOL: a command, which runs in the sandbox, or an https address; in the project file a mapping as in --mcp-config', defaultHelp: 'none' }),
  mcpConfig: setting(path, null, {
    flag: 'mcp-config', value: 'FILE', group: 'Task', file: 'refused', alsoFor: ['resume'],
    help: 'JSON or YAML with mcpServers, as for other clients: command, args and env, or url and headers, with variables in env and headers', defaultHelp: 'none' }),
  outputSchema: setting(path, null, {
    flag: 'output-schema', value: 'FILE|findings', group: 'Task', file: 'refused',
    help: 'JSON Schema of the answer that the model has to end with, which is then in the result; findings: the built-in one, which publish --publish-as takes', defaultHelp: 'no answer' }),
};

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Repository. */
export const REPOSITORY_SETTINGS = {
  repo: setting(path, null, {
    flag: 'repo', value: 'DIR', group: 'Repository', file: 'refused', alsoFor: ['resume', 'replay', 'doctor'],
    help: 'Git checkout to work in', defaultHelp: 'the current one' }),
  workingDirectory: setting(path, null, {
    flag: 'working-directory', value: 'DIR', group: 'Repository', file: 'refused',
    help: 'Folder in which the run works, relative to the current one or --repo',
    defaultHelp: "the plan's, else the current folder" }),
  rulesFrom: setting(text, null, {
    flag: 'rules-from', value: 'COMMIT', group: 'Repository', file: 'refused',
    help: 'Commit of this repository to read project file, principles and plan file from, instead of the work tree',
    defaultHelp: 'the work tree; the base when it holds the pull request of a fork' }),
  runDir: setting(path, null, {
    flag: 'run-dir', value: 'DIR', group: 'Repository', file: 'refused', alsoFor: ['replay'],
    help: 'Folder for the journal, the result and the patch; outside the repository',
    defaultHelp: 'below RUNNER_TEMP, else the XDG state folder' }),
  keepBase: setting(yesOrNo, false, {
    flag: 'keep-base', group: 'Repository', file: 'refused', alsoFor: ['resume'],
    help: 'Store the whole base in the run directory, so that replay works without the repository' }),
};

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Trust on GitHub. */
export const TRUST_SETTINGS = {
  trustAuthors: setting(() => names(z.string().trim().toLowerCase().pipe(z.enum(AUTHOR_ASSOCIATIONS, `expected one of ${AUTHOR_ASSOCIATIONS.join(', ')}`))), ['owner'], {
      flag: 'trust-author', value: AUTHOR_ASSOCIATIONS.join('|'), repeatable: 'commas', group: 'Trust on GitHub', file: 'refused',
      help: 'Author association whose issues and comments may be a task; those of accounts with write access always may',
      defaultHelp: 'owner' }),
  allowBots: setting(() => names(z.string().trim().regex(/^[1-9]\d*$/, 'expected the numeric id of a bot, as https://api.github.com/users/NAME%5Bbot%5D shows it')), [], {
      flag: 'allow-bot', value: 'ID', repeatable: 'commas', group: 'Trust on GitHub', file: 'refused', alsoFor: ['prepare'],
      help: 'Numeric id of a bot account that may start runs and write tasks', defaultHelp: 'no bot' }),
  allowUntrustedCheckout: setting(yesOrNo, false, {
    flag: 'allow-untrusted-checkout', group: 'Trust on GitHub', file: 'refused',
    help: 'Work on a checkout of an outsider\'s code even though the event gives the job secrets' }),
};

/**
 * All settings, defined once. Flags, PATCHSMITH_* variables, `.patchsmith.yml` keys, help texts and action inputs derive
 * from this one object; src/config/resolve.ts resolves them.
 */

import * as z from 'zod';
import {
  DEFAULT_PROVIDER,
  defaultProvider,
  PROVIDERS,
  type ProviderEntry,
} from '../adapters/providers/registry.ts';
import { MAX_ATTEMPTS } from '../domain/attempts/attempts.ts';
import { COMPACTIONS, DEFAULT_COMPACT_AT, LEAST_MAX_MESSAGES } from '../domain/compaction/settings.ts';
import { OPTIONAL_TOOLS } from '../domain/conversation/tool.ts';
import { AUTHOR_ASSOCIATIONS } from '../domain/github/author-association.ts';
import { PACKAGE_MANAGERS } from '../domain/packages/package-manager.ts';
import { AllowedDomain, AllowedPrivate, WebHost } from '../domain/review/allowed-domain.ts';
import { IF_DENIED } from '../domain/review/denied.ts';
import { DEFAULT_CHANGE_LIMITS } from '../domain/run/change-limits.ts';
import { DEFAULT_COMMAND_LIMITS } from '../domain/run/command-limits.ts';
import {
  DEFAULT_OUTAGE_WAIT_MS,
  DEFAULT_RATE_LIMIT_WAIT_MS,
  EFFORTS,
  IF_NOT_REVIEWED,
  NO_CHANGES,
  VERIFY_PLACES,
} from '../domain/run/model-settings.ts';
import { PathGlob, SetupCommand, VerifyCommand } from '../domain/run/plan.ts';
import { PRICES_AS_OF } from '../domain/run/pricing.ts';
import { SPENDING_GROUPS } from '../domain/runs/spending-groups.ts';
import { SetupVariable } from '../domain/secrets/setup-variable.ts';
import {
  age,
  apiAddress,
  branchName,
  choice,
  duration,
  entry,
  login,
  longText,
  mappingOrTexts,
  modelAddress,
  names,
  namesAmong,
  people,
  person,
  price,
  repositoryName,
  since,
  size,
  sizeText,
  team,
  text,
  texts,
  usd,
  wholeNumber,
  yesOrNo,
} from './values.ts';

/** How a setting is given and described. */
export interface SettingMeta {
  readonly flag: string;
  /** A single letter, for the few that are typed often. */
  readonly short?: string;
  /** Placeholder of the value in help texts; absent for a switch. */
  readonly value?: string;
  readonly repeatable?: boolean;
  readonly group: SettingGroup;
  readonly help: string;
  /** Shown instead of the default itself, if that depends on something or its absence has a meaning. */
  readonly defaultHelp?: string;
  /** Used instead of PATCHSMITH_<FLAG>. */
  readonly variable?: string;
  /** The same, where each provider has a variable of its own. */
  readonly providerVariable?: 'baseUrlVariable';
  /**
   * What the project file may do with it: set it, only lower it below the default, only remove what others allow, or
   * nothing. It may never loosen a restriction, or choose what is read or written outside, or where the key is sent.
   */
  readonly file: 'set' | 'lower' | 'narrow' | 'refused';
}

/** The headings under which help texts and docs list the settings. */
export const SETTING_GROUPS = [
  'Task',
  'Repository',
  'Trust on GitHub',
  'Model',
  'Limits',
  'Sandbox and limits of commands',
  'Replay',
  'Old runs',
  'Publishing',
  'Output',
] as const;

/** One of `SETTING_GROUPS`. */
export type SettingGroup = (typeof SETTING_GROUPS)[number];

const OUTPUTS = ['patch', 'json', 'jsonl', 'none'] as const;
const PREFLIGHTS = ['auto', 'off'] as const;
const SANDBOXES = ['required', 'auto', 'off'] as const;
const ISSUE_COMMENTS = ['all', 'maintainers', 'none'] as const;
const ROUTES = ['api', 'push'] as const;
const SIGNING = ['auto', 'required'] as const;
const WHETHER = ['auto', 'always', 'never'] as const;
const BRANCH_SUFFIXES = ['none', 'random', 'timestamp', 'short-commit-hash'] as const;
const STALE = ['close', 'comment', 'keep'] as const;
const REOPEN = ['never', 'always'] as const;
const PROTECTED = ['refuse', 'draft', 'allow'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** At least one; does not load their code. */
function providerNames(): [string, ...string[]] {
  return [DEFAULT_PROVIDER, ...Object.keys(PROVIDERS).filter((name) => name !== DEFAULT_PROVIDER)];
}

function providerMeanings(): string {
  const meanings = providerNames().flatMap((name) => PROVIDERS[name]?.meaning ?? []);
  return `${meanings.slice(0, -1).join(', ')}, or ${meanings.at(-1)}`;
}

const about = z.registry<SettingMeta>();

// biome-ignore format: one setting reads best as one row
/**
 * All settings: their values, defaults, flags and help. The docs and action.yml are generated from here. Durations are in
 * milliseconds. Null means "not given": no limit, or what `defaultHelp` says.
 */
export const Settings = z.strictObject({
  plan: text().nullable().default(null).register(about, {
    flag: 'plan', value: 'FILE', group: 'Task', file: 'refused',
    help: 'Plan in Markdown, with optional YAML front matter; - reads stdin' }),
  message: text().nullable().default(null).register(about, {
    flag: 'message', short: 'm', value: 'TEXT', group: 'Task', file: 'refused',
    help: 'The task as text, in place of a plan file' }),
  planFromIssue: text().nullable().default(null).register(about, {
    flag: 'plan-from-issue', value: 'N|URL', group: 'Task', file: 'refused',
    help: "GitHub issue whose text is the task; with --plan, the file's rules and instructions apply to it" }),
  planFromComment: text().nullable().default(null).register(about, {
    flag: 'plan-from-comment', value: 'ID|URL', group: 'Task', file: 'refused',
    help: 'Comment of a GitHub issue or pull request whose text is the task, after a first word such as /patchsmith' }),
  continued: text().refine((given) => given === 'auto' || given === 'never' || /^#?[1-9]\d{0,9}$/.test(given), 'expected auto, never, or the number of a pull request').default('never').register(about, {
    flag: 'continue', value: 'PR|auto|never', group: 'Task', file: 'refused',
    help: 'Pull request of an earlier run to go on with, whose head is checked out: for what was asked for there since, review threads and failed checks; auto: the one that the event is about, if it is one of ours' }),
  followUpRounds: wholeNumber(0).default(2).register(about, {
    flag: 'follow-up-rounds', value: 'N', group: 'Task', file: 'refused',
    help: 'How often a pull request is continued because of failed checks alone, without a person asking for it' }),
  issueComments: choice(ISSUE_COMMENTS).default('maintainers').register(about, {
    flag: 'issue-comments', value: ISSUE_COMMENTS.join('|'), group: 'Task', file: 'refused',
    help: 'Whose comments come along with --plan-from-issue and --plan-from-comment, as context: those of owners, members, collaborators and allowed bots, or of anyone; the title and the text of the issue always do' }),
  principles: texts(entry()).nullable().default(null).register(about, {
    flag: 'principles', value: 'FILE', repeatable: true, group: 'Task', file: 'refused',
    help: 'File with the principles: how changes are made in this repository',
    defaultHelp: 'AGENTS.md from the root down to the working directory, else CLAUDE.md' }),
  setup: texts(SetupCommand).default([]).register(about, {
    flag: 'setup', value: 'CMD', repeatable: true, group: 'Task', file: 'set',
    help: "Command run once before the model is asked, and in each fresh checkout that is verified; before the plan's own",
    defaultHelp: "the plan's" }),
  verify: texts(VerifyCommand).default([]).register(about, {
    flag: 'verify', value: 'CMD', repeatable: true, group: 'Task', file: 'set',
    help: 'Command that must succeed when the work is done', defaultHelp: "the plan's" }),
  allow: texts(PathGlob).default([]).register(about, {
    flag: 'allow', value: 'GLOB', repeatable: true, group: 'Task', file: 'set',
    help: "Only these paths may change; the plan's globs apply too", defaultHelp: 'all paths' }),
  protect: texts(PathGlob).default([]).register(about, {
    flag: 'protect', value: 'GLOB', repeatable: true, group: 'Task', file: 'set',
    help: "These paths must not change; the plan's globs apply too", defaultHelp: 'none' }),
  acceptSecrets: texts(PathGlob).default([]).register(about, {
    flag: 'accept-secrets', value: 'GLOB', repeatable: true, group: 'Task', file: 'refused',
    help: 'Files in which the patch may add what looks like a secret, such as test data', defaultHelp: 'none' }),
  verifyBaseline: yesOrNo().default(false).register(about, {
    flag: 'verify-baseline', group: 'Task', file: 'refused',
    help: 'Also run the verify commands before the work; what fails as before does not fail the run' }),
  verifyIn: choice(VERIFY_PLACES).default('worktree').register(about, {
    flag: 'verify-in', value: VERIFY_PLACES.join('|'), group: 'Task', file: 'set',
    help: "Where the verify commands run: where the model worked, or in a fresh checkout of base and patch, after the plan's setup commands" }),
  preflight: choice(PREFLIGHTS).default('auto').register(about, {
    flag: 'preflight', value: PREFLIGHTS.join('|'), group: 'Task', file: 'refused',
    help: 'What is looked at before the first request: whether the work tree can be written to and the verify commands can be run, with what patchsmith check has found; off: nothing of that' }),
  includeForeign: yesOrNo().default(false).register(about, {
    flag: 'include-foreign', group: 'Task', file: 'refused',
    help: 'Include changes in the patch that no tool call explains' }),
  ifNoChanges: choice(NO_CHANGES).default('ok').register(about, {
    flag: 'if-no-changes', value: NO_CHANGES.join('|'), group: 'Task', file: 'set',
    help: 'Whether a run that changes nothing exits with 0 or 3' }),
  ifDenied: choice(IF_DENIED).default('report').register(about, {
    flag: 'if-denied', value: IF_DENIED.join('|'), group: 'Task', file: 'set',
    help: 'Whether a run to which something was denied (a protected path, a missing program, a host) ends as it would, or with exit 8' }),
  review: yesOrNo().default(false).register(about, {
    flag: 'review', group: 'Task', file: 'set',
    help: 'Have the finished patch reviewed in a conversation of its own, and blocking findings sent back, once' }),
  ifNotReviewed: choice(IF_NOT_REVIEWED).default('report').register(about, {
    flag: 'if-not-reviewed', value: IF_NOT_REVIEWED.join('|'), group: 'Task', file: 'set',
    help: 'Whether a run ends as it would, or with exit 9, when the review came to nothing, or its blocking findings could not be sent back' }),
  attempts: wholeNumber(1).refine((n) => n <= MAX_ATTEMPTS, `expected at most ${MAX_ATTEMPTS}`).default(1).register(about, {
    flag: 'attempts', value: 'N', group: 'Task', file: 'refused',
    help: 'Independent attempts, each on a copy of the work tree and with its share of the caps; the best one by facts is kept, and the others are named' }),

  readOnly: yesOrNo().default(false).register(about, {
    flag: 'read-only', group: 'Task', file: 'set',
    help: 'No tool writes, and what commands change is put back: for reviews and reports' }),
  tools: namesAmong(OPTIONAL_TOOLS).default([]).register(about, {
    flag: 'tools', value: 'TOOL,…', repeatable: true, group: 'Task', file: 'set',
    help: `The only tools of the model besides finish: ${OPTIONAL_TOOLS.join(', ')}`, defaultHelp: 'all of them' }),
  noTools: namesAmong(OPTIONAL_TOOLS).default([]).register(about, {
    flag: 'no-tools', value: 'TOOL,…', repeatable: true, group: 'Task', file: 'set',
    help: 'Tools that the model does not get', defaultHelp: 'none' }),
  webFetch: texts(WebHost, 0).default([]).register(about, {
    flag: 'web-fetch', value: 'HOST', repeatable: true, group: 'Task', file: 'refused',
    help: 'Host whose pages the model may read with web_fetch, as in --allow-domain, or * for every public host; commands reach none of them',
    defaultHelp: 'none' }),
  mcp: mappingOrTexts().default([]).register(about, {
    flag: 'mcp', value: 'NAME=COMMAND|URL', repeatable: true, group: 'Task', file: 'set',
    help: 'MCP server whose tools the model gets as NAME__TOOL: a command, which runs in the sandbox, or an https address; in the project file a mapping as in --mcp-config', defaultHelp: 'none' }),
  mcpConfig: text().nullable().default(null).register(about, {
    flag: 'mcp-config', value: 'FILE', group: 'Task', file: 'refused',
    help: 'JSON or YAML with mcpServers, as other clients have it: command, args and env, or url and headers, with variables in env and headers', defaultHelp: 'none' }),
  outputSchema: text().nullable().default(null).register(about, {
    flag: 'output-schema', value: 'FILE', group: 'Task', file: 'refused',
    help: 'JSON Schema; the model ends with an answer that fits it, which the result holds', defaultHelp: 'no answer' }),

  repo: text().nullable().default(null).register(about, {
    flag: 'repo', value: 'DIR', group: 'Repository', file: 'refused',
    help: 'Git checkout to work in', defaultHelp: 'the current one' }),
  workingDirectory: text().nullable().default(null).register(about, {
    flag: 'working-directory', value: 'DIR', group: 'Repository', file: 'refused',
    help: 'Folder down to which AGENTS.md files are read, relative to the repository',
    defaultHelp: 'the current folder, else the root' }),
  rulesFrom: text().nullable().default(null).register(about, {
    flag: 'rules-from', value: 'COMMIT', group: 'Repository', file: 'refused',
    help: 'Commit of this repository from which project file, principles and plan file are read, in place of the work tree',
    defaultHelp: 'the work tree; the base when it holds the pull request of a fork' }),
  runDir: text().nullable().default(null).register(about, {
    flag: 'run-dir', value: 'DIR', group: 'Repository', file: 'refused',
    help: 'Folder for the journal, the result and the patch; outside the repository',
    defaultHelp: 'below RUNNER_TEMP, else the XDG state folder' }),

  keepBase: yesOrNo().default(false).register(about, {
    flag: 'keep-base', group: 'Repository', file: 'refused',
    help: 'Store the whole base in the run directory, so that replay works without the repository' }),

  trustAuthors: texts(z.string().trim().toLowerCase().pipe(z.enum(AUTHOR_ASSOCIATIONS, `expected one of ${AUTHOR_ASSOCIATIONS.join(', ')}`)))
    .default(['owner', 'member', 'collaborator']).register(about, {
      flag: 'trust-author', value: AUTHOR_ASSOCIATIONS.join('|'), repeatable: true, group: 'Trust on GitHub', file: 'refused',
      help: 'Author associations whose issues and comments may be a task; accounts with write access always may',
      defaultHelp: 'owner, member, collaborator' }),
  allowBots: texts(z.string().trim().regex(/^[1-9]\d*$/, 'expected the numeric id of a bot, as https://api.github.com/users/NAME%5Bbot%5D shows it'))
    .default([]).register(about, {
      flag: 'allow-bot', value: 'ID', repeatable: true, group: 'Trust on GitHub', file: 'refused',
      help: 'Numeric id of a bot account that may start runs and write tasks', defaultHelp: 'no bot' }),
  allowUntrustedCheckout: yesOrNo().default(false).register(about, {
    flag: 'allow-untrusted-checkout', group: 'Trust on GitHub', file: 'refused',
    help: 'Work on a checkout of outsiders\' code although the event gives the job secrets' }),

  model: text().default(defaultProvider.defaultModel ?? '').register(about, {
    flag: 'model', value: 'ID', group: 'Model', file: 'set',
    help: 'Model to use; with its provider, too, as in openai/gpt-5.4, unless --provider is given' }),
  provider: choice(providerNames()).default(DEFAULT_PROVIDER).register(about, {
    flag: 'provider', value: providerNames().join('|'), group: 'Model', file: 'refused',
    help: `Model provider: ${providerMeanings()}` }),
  fallbackModel: text().nullable().default(null).register(about, {
    flag: 'fallback-model', value: '[PROVIDER/]ID', group: 'Model', file: 'refused',
    help: 'Model that goes on, once, where the first one refuses or cannot be reached; of the same provider, unless one is named as in openai/gpt-5.4',
    defaultHelp: 'none: the run ends' }),
  reviewModel: text().nullable().default(null).register(about, {
    flag: 'review-model', value: '[PROVIDER/]ID', group: 'Model', file: 'refused',
    help: 'Model that reviews, as with --review; of the same provider, unless one is named as in openai/gpt-5.4',
    defaultHelp: 'the one that does the work' }),
  recording: text().nullable().default(null).register(about, {
    flag: 'recording', value: 'FILE', group: 'Model', file: 'refused',
    help: 'What --provider replay plays: a journal (events.jsonl), or a hand-written script (YAML, JSONL)' }),
  providerCommand: text().nullable().default(null).register(about, {
    flag: 'provider-command', value: 'CMD', group: 'Model', file: 'refused',
    help: 'What --provider command runs for each request: a program outside of the work tree, with its arguments' }),
  providerEnv: texts(z.string().trim().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, such as GATEWAY_TOKEN')).default([]).register(about, {
    flag: 'provider-env', value: 'NAME', repeatable: true, group: 'Model', file: 'refused',
    help: 'Variable that the program of --provider-command gets, such as one with its token', defaultHelp: 'PATH, HOME and the language' }),
  effort: choice(EFFORTS).nullable().default(null).register(about, {
    flag: 'effort', value: EFFORTS.join('|'), group: 'Model', file: 'set',
    help: 'How much the model thinks', defaultHelp: "the model's own" }),
  baseUrl: modelAddress().nullable().default(null).register(about, {
    flag: 'base-url', value: 'URL', providerVariable: 'baseUrlVariable', group: 'Model', file: 'refused',
    help: "Address of the provider's API", defaultHelp: "the vendor's" }),
  allowInsecureBaseUrl: yesOrNo().default(false).register(about, {
    flag: 'allow-insecure-base-url', group: 'Model', file: 'refused',
    help: 'Permit a base URL of plain http on another host, as of a gateway inside a cluster: key and conversation can be read on the way' }),
  maxOutputTokens: wholeNumber(8192).default(32_000).register(about, {
    flag: 'max-output-tokens', value: 'N', group: 'Model', file: 'lower',
    help: 'Most tokens of one answer, at least 8192' }),
  compaction: choice(COMPACTIONS).default('summarize').register(about, {
    flag: 'compaction', value: COMPACTIONS.join('|'), group: 'Model', file: 'set',
    help: "What shortens a conversation that has grown long: nothing, a summary by the model, or the API's own compaction where the model has one" }),
  compactAt: wholeNumber(1).nullable().default(null).register(about, {
    flag: 'compact-at', value: 'N', group: 'Model', file: 'set',
    help: 'Tokens of the last request and its answer, cached ones included, from which on it is shortened',
    defaultHelp: `${DEFAULT_COMPACT_AT}, or 60% of a smaller window` }),
  maxMessages: wholeNumber(LEAST_MAX_MESSAGES).nullable().default(null).register(about, {
    flag: 'max-messages', value: 'N', group: 'Model', file: 'set',
    help: `Most messages of a request, at least ${LEAST_MAX_MESSAGES}: beyond them the oldest rounds are dropped without a summary`,
    defaultHelp: 'no limit' }),
  idleTimeoutMs: duration().default(120_000).register(about, {
    flag: 'idle-timeout', value: 'TIME', group: 'Model', file: 'set',
    help: 'How long the model may be silent, before its answer or inside it, until the request is retried' }),
  rateLimitWaitMs: duration().default(DEFAULT_RATE_LIMIT_WAIT_MS).register(about, {
    flag: 'rate-limit-wait', value: 'TIME', group: 'Model', file: 'set',
    help: 'How long a rate limit is waited out: after 10 s, 20 s and so on (5 retries by default), or when the API says. If it asks for a longer wait, the run ends at once' }),
  outageWaitMs: duration().default(DEFAULT_OUTAGE_WAIT_MS).register(about, {
    flag: 'outage-wait', value: 'TIME', group: 'Model', file: 'set',
    help: 'How long an outage is waited out (overload, errors of the server, no connection): after 0.5 s, 1 s and so on, at most 30 s at a time' }),
  price: price().nullable().default(null).register(about, {
    flag: 'price', value: 'PRICES', group: 'Model', file: 'set',
    help: 'USD per million tokens: input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4',
    defaultHelp: `the built-in table of ${PRICES_AS_OF}` }),

  maxIterations: wholeNumber(1).default(25).register(about, {
    flag: 'max-iterations', value: 'N', group: 'Limits', file: 'lower', help: 'Turns of the model' }),
  maxTotalTokens: wholeNumber(1).nullable().default(null).register(about, {
    flag: 'max-total-tokens', value: 'N', group: 'Limits', file: 'lower',
    help: 'Tokens of the whole run: input, output and cached together', defaultHelp: 'no limit' }),
  maxCostUsd: usd().nullable().default(null).register(about, {
    flag: 'max-cost-usd', value: 'USD', group: 'Limits', file: 'lower',
    help: 'Cost of the whole run', defaultHelp: 'no limit' }),
  deadlineMs: duration().default(1_800_000).register(about, {
    flag: 'deadline', value: 'TIME', group: 'Limits', file: 'lower',
    help: 'Wall clock for the whole run, such as 90s, 30m, 1h; plain numbers are seconds' }),
  maxChangedFiles: wholeNumber(1).default(DEFAULT_CHANGE_LIMITS.maxChangedFiles).register(about, {
    flag: 'max-changed-files', value: 'N', group: 'Limits', file: 'lower',
    help: 'Most files that a run may change; beyond it, the run ends with a patch of what fits. One folder may have five times as many entries, and at least 100,000' }),
  maxChangedBytes: size().default(DEFAULT_CHANGE_LIMITS.maxChangedBytes).register(about, {
    flag: 'max-changed-size', value: 'SIZE', group: 'Limits', file: 'lower',
    help: 'Most bytes of changed files that a run records, counting every version of a file' }),
  maxChangedFileBytes: size().default(DEFAULT_CHANGE_LIMITS.maxChangedFileBytes).register(about, {
    flag: 'max-changed-file-size', value: 'SIZE', group: 'Limits', file: 'lower',
    help: 'The largest changed file; a larger one, sparse or not, is not read' }),
  fixRounds: wholeNumber(0).default(3).register(about, {
    flag: 'fix-rounds', value: 'N', group: 'Limits', file: 'set',
    help: 'How often the model may try to fix a failed verify command' }),
  maxToolOutput: wholeNumber(1_000).default(40_000).register(about, {
    flag: 'max-tool-output', value: 'N', group: 'Limits', file: 'set',
    help: 'Most characters of a tool result that the model sees, at least 1000' }),
  maxPrinciplesBytes: wholeNumber(0).default(65_536).register(about, {
    flag: 'max-principles-bytes', value: 'N', group: 'Limits', file: 'lower',
    help: 'Bytes of all principles together' }),

  sandbox: choice(SANDBOXES).default('auto').register(about, {
    flag: 'sandbox', value: SANDBOXES.join('|'), group: 'Sandbox and limits of commands', file: 'set',
    help: 'Contain commands: always (otherwise the run does not start), if available, or not at all',
    defaultHelp: 'required when CI or GITHUB_ACTIONS is set, else auto' }),
  mounts: texts(entry()).default([]).register(about, {
    flag: 'mount', value: 'PATH[:rw]', repeatable: true, group: 'Sandbox and limits of commands', file: 'refused',
    help: 'Additional file or folder that commands can see, read-only unless it ends with :rw' , defaultHelp: 'only the toolchains on PATH' }),
  caches: texts(z.enum([...PACKAGE_MANAGERS, 'auto'], `expected one of ${[...PACKAGE_MANAGERS, 'auto'].join(', ')}`)).default([]).register(about, {
    flag: 'cache', value: 'NAME', repeatable: true, group: 'Sandbox and limits of commands', file: 'refused',
    help: `Package manager whose cache of this machine commands may use, with a writable layer of the run: ${PACKAGE_MANAGERS.join(', ')}, or auto for those whose lock files the repository has`,
    defaultHelp: 'none' }),
  allowedDomains: texts(AllowedDomain, 0).default([]).register(about, {
    flag: 'allow-domain', value: 'DOMAIN', repeatable: true, group: 'Sandbox and limits of commands', file: 'narrow',
    help: 'Host that commands may reach over HTTP and HTTPS, such as registry.npmjs.org, *.example.com, example.com:8443',
    defaultHelp: 'no network' }),
  allowedPrivate: texts(AllowedPrivate, 0).default([]).register(about, {
    flag: 'allow-private', value: 'HOST[:PORT]', repeatable: true, group: 'Sandbox and limits of commands', file: 'narrow',
    help: 'Host in a private network that commands may reach, such as nexus.corp.example or registry:4873',
    defaultHelp: 'none' }),
  setupEnv: texts(SetupVariable).default([]).register(about, {
    flag: 'setup-env', value: 'NAME', repeatable: true, group: 'Sandbox and limits of commands', file: 'refused',
    help: "Variable that setup commands get and no other command, such as one with a registry's token",
    defaultHelp: 'none' }),
  commandTimeoutMs: duration().default(60_000).register(about, {
    flag: 'command-timeout', value: 'TIME', group: 'Sandbox and limits of commands', file: 'set',
    help: 'Time limit for a command of the model that does not ask for one' }),
  maxCommandTimeoutMs: duration().default(600_000).register(about, {
    flag: 'max-command-timeout', value: 'TIME', group: 'Sandbox and limits of commands', file: 'set',
    help: 'Longest time limit that a command of the model can ask for' }),
  verifyTimeoutMs: duration().default(600_000).register(about, {
    flag: 'verify-timeout', value: 'TIME', group: 'Sandbox and limits of commands', file: 'set',
    help: 'Time limit for each verify or setup command' }),

  maxProcesses: wholeNumber(1).default(DEFAULT_COMMAND_LIMITS.maxProcesses).register(about, {
    flag: 'max-processes', value: 'N', group: 'Sandbox and limits of commands', file: 'lower',
    help: 'Most processes and threads of one command; beyond it, the command is killed' }),
  maxMemoryBytes: size().nullable().default(DEFAULT_COMMAND_LIMITS.maxMemoryBytes).register(about, {
    flag: 'max-memory', value: 'SIZE', group: 'Sandbox and limits of commands', file: 'refused',
    help: 'Most memory of all running commands together; beyond it, the largest is killed',
    defaultHelp: "three quarters of the machine's or container's" }),
  maxFileBytes: size().default(DEFAULT_COMMAND_LIMITS.maxFileBytes).register(about, {
    flag: 'max-file-size', value: 'SIZE', group: 'Sandbox and limits of commands', file: 'lower',
    help: 'The largest file that a command can write' }),
  maxDiskBytes: size().default(DEFAULT_COMMAND_LIMITS.maxDiskBytes).register(about, {
    flag: 'max-disk', value: 'SIZE', group: 'Sandbox and limits of commands', file: 'lower',
    help: 'How much free disk space the run may use, including what the runner stores; beyond it, commands that write are killed and the run ends' }),

  copyIgnored: texts(entry()).default([]).register(about, {
    flag: 'copy-ignored', value: 'PATH', repeatable: true, group: 'Replay', file: 'refused',
    help: 'Ignored file or folder of this checkout, such as node_modules, that the replay has too: a copy of it as it is now', defaultHelp: 'none' }),

  olderThanMs: age().nullable().default(null).register(about, {
    flag: 'older-than', value: 'AGE', group: 'Old runs', file: 'refused',
    help: 'Remove finished runs that were last written to so long ago, such as 14d, 36h' }),
  maxTotalBytes: size().default(5 * 1024 ** 3).register(about, {
    flag: 'max-total-size', value: 'SIZE', group: 'Old runs', file: 'refused',
    help: 'What all runs in the default folder may take of the disk; beyond it, the oldest finished ones are removed, by clean and, once an hour, after a run' }),
  since: since().nullable().default(null).register(about, {
    flag: 'since', value: 'AGE|DATE', group: 'Old runs', file: 'refused',
    help: 'Only what was spent since then: 7d, 36h, or a day in UTC such as 2026-11-01', defaultHelp: 'all runs; 30d for an organisation' }),
  by: choice(SPENDING_GROUPS).nullable().default(null).register(about, {
    flag: 'by', value: SPENDING_GROUPS.join('|'), group: 'Old runs', file: 'refused',
    help: 'Sums by this alone', defaultHelp: 'by each of them' }),

  repository: repositoryName().nullable().default(null).register(about, {
    flag: 'repository', value: 'OWNER/NAME', group: 'Publishing', file: 'refused', variable: 'GITHUB_REPOSITORY',
    help: 'Repository on GitHub' }),
  base: branchName().nullable().default(null).register(about, {
    flag: 'base', value: 'BRANCH', group: 'Publishing', file: 'refused',
    help: 'Branch to merge the pull request into',
    defaultHelp: "the run's branch, else the repository's default branch" }),
  branch: branchName().nullable().default(null).register(about, {
    flag: 'branch', value: 'BRANCH', group: 'Publishing', file: 'refused',
    help: 'Branch of the pull request', defaultHelp: "patchsmith/ and a name made from the plan, the same each time" }),
  branchSuffix: choice(BRANCH_SUFFIXES).default('none').register(about, {
    flag: 'branch-suffix', value: BRANCH_SUFFIXES.join('|'), group: 'Publishing', file: 'refused',
    help: 'Add to the name of the branch what differs from run to run, so that each run has a pull request of its own; the same run keeps its branch' }),
  headRepository: repositoryName().nullable().default(null).register(about, {
    flag: 'head-repo', value: 'OWNER/NAME', group: 'Publishing', file: 'refused',
    help: 'Fork to create the branch in', defaultHelp: 'the repository itself' }),
  via: choice(ROUTES).default('api').register(about, {
    flag: 'via', value: ROUTES.join('|'), group: 'Publishing', file: 'refused',
    help: "Create the commit through GitHub's API, which signs commits of bots, or with git push" }),
  sign: choice(SIGNING).default('auto').register(about, {
    flag: 'sign', value: SIGNING.join('|'), group: 'Publishing', file: 'refused',
    help: 'Whether to refuse a commit that GitHub does not show as verified' }),
  draft: choice(WHETHER).default('auto').register(about, {
    flag: 'draft', value: WHETHER.join('|'), group: 'Publishing', file: 'refused',
    help: 'Whether the pull request is a draft; auto: when nothing was verified, or not all of it passed' }),
  commitMessage: longText().nullable().default(null).register(about, {
    flag: 'commit-message', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: "The commit's message, in which {title} stands for the title of the change", defaultHelp: 'the title of the change' }),
  author: person().nullable().default(null).register(about, {
    flag: 'author', value: 'NAME <EMAIL>', group: 'Publishing', file: 'refused',
    help: 'Author of the commit; GitHub does not sign such a commit', defaultHelp: 'the account of the token' }),
  committer: person().nullable().default(null).register(about, {
    flag: 'committer', value: 'NAME <EMAIL>', group: 'Publishing', file: 'refused',
    help: 'Committer of the commit; GitHub does not sign such a commit', defaultHelp: 'the author' }),
  signoff: yesOrNo().default(false).register(about, {
    flag: 'signoff', group: 'Publishing', file: 'refused',
    help: "Add Signed-off-by with the committer to the commit's message" }),
  coAuthors: people().default([]).register(about, {
    flag: 'co-author', value: 'NAME <EMAIL>', repeatable: true, group: 'Publishing', file: 'refused',
    help: "Add Co-authored-by to the commit's message", defaultHelp: 'none' }),
  title: text().nullable().default(null).register(about, {
    flag: 'title', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: "Title of the pull request, in which {title} stands for the title of the change", defaultHelp: 'the title of the change' }),
  bodyHeader: longText().nullable().default(null).register(about, {
    flag: 'body-header', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: 'Markdown above the body of the pull request' }),
  bodyFooter: longText().nullable().default(null).register(about, {
    flag: 'body-footer', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: 'Markdown below the body of the pull request' }),
  maintainerCanModify: yesOrNo().default(true).register(about, {
    flag: 'maintainer-can-modify', group: 'Publishing', file: 'refused',
    help: 'Whether maintainers may push to the branch of a pull request from a fork' }),
  titlePrefix: text().nullable().default(null).register(about, {
    flag: 'title-prefix', value: 'TEXT', group: 'Publishing', file: 'refused',
    help: 'Prefix of the pull request\'s title' }),
  labels: names(entry()).default([]).register(about, {
    flag: 'label', value: 'NAME', repeatable: true, group: 'Publishing', file: 'refused',
    help: 'Label of the pull request', defaultHelp: 'none' }),
  reviewers: names(login()).default([]).register(about, {
    flag: 'reviewer', value: 'LOGIN', repeatable: true, group: 'Publishing', file: 'refused',
    help: 'User to request a review from', defaultHelp: 'none' }),
  teamReviewers: names(team()).default([]).register(about, {
    flag: 'team-reviewer', value: '[ORG/]SLUG', repeatable: true, group: 'Publishing', file: 'refused',
    help: 'Team to request a review from, with or without its organisation; needs a token that may read the organisation', defaultHelp: 'none' }),
  assignees: names(login()).default([]).register(about, {
    flag: 'assignee', value: 'LOGIN', repeatable: true, group: 'Publishing', file: 'refused',
    help: 'User to assign the pull request to', defaultHelp: 'none' }),
  milestone: text().nullable().default(null).register(about, {
    flag: 'milestone', value: 'NUMBER|TITLE', group: 'Publishing', file: 'refused',
    help: 'Milestone of the pull request' }),
  maxPatchFiles: wholeNumber(1).default(100).register(about, {
    flag: 'max-patch-files', value: 'N', group: 'Publishing', file: 'refused',
    help: 'Most files that a published patch may change' }),
  maxPatchBytes: size().default(4 * 1024 ** 2).register(about, {
    flag: 'max-patch-size', value: 'SIZE', group: 'Publishing', file: 'refused',
    help: 'The largest patch that is published' }),
  protectedPaths: choice(PROTECTED).default('refuse').register(about, {
    flag: 'protected', value: PROTECTED.join('|'), group: 'Publishing', file: 'refused',
    help: 'How to treat a patch that changes .github, code owners, or instructions for agents: refuse it, publish a draft, or publish it like any other' }),
  acceptProtected: texts(PathGlob).default([]).register(about, {
    flag: 'accept-protected', value: 'GLOB', repeatable: true, group: 'Publishing', file: 'refused',
    help: 'Protected files that may change anyway', defaultHelp: 'none' }),
  publishUnfinished: yesOrNo().default(false).register(about, {
    flag: 'publish-unfinished', group: 'Publishing', file: 'refused',
    help: 'Publish the patch of an unfinished run, as a draft' }),
  comment: choice(WHETHER).default('auto').register(about, {
    flag: 'comment', value: WHETHER.join('|'), group: 'Publishing', file: 'refused',
    help: 'Whether to report the outcome in a comment on the issue; auto: if the plan came from one' }),
  reportUrl: apiAddress().nullable().default(null).register(about, {
    flag: 'report-url', value: 'URL', group: 'Publishing', file: 'refused',
    help: 'Page of the uploaded report.html, which the pull request links' }),
  issue: text().nullable().default(null).register(about, {
    flag: 'issue', value: 'N|URL', group: 'Publishing', file: 'refused',
    help: 'Issue on which the outcome is told, also that of a run which ended before it had a plan', defaultHelp: 'the one that the plan came from' }),
  triggerLabel: text().nullable().default(null).register(about, {
    flag: 'trigger-label', value: 'NAME', group: 'Publishing', file: 'refused',
    help: 'Label of the issue that starts a run: it becomes NAME:running, and in the end NAME:done or NAME:failed', defaultHelp: 'labels of the issue are left alone' }),
  stale: choice(STALE).default('comment').register(about, {
    flag: 'stale', value: STALE.join('|'), group: 'Publishing', file: 'refused',
    help: 'What to do with the open pull request of a plan for which a later run finds nothing to change: close it, say so on it, or leave it alone. One with commits by others is never closed' }),
  deleteBranch: yesOrNo().default(false).register(about, {
    flag: 'delete-branch', group: 'Publishing', file: 'refused',
    help: 'Delete the branch of a pull request that --stale close closes' }),
  reopen: choice(REOPEN).default('never').register(about, {
    flag: 'reopen', value: REOPEN.join('|'), group: 'Publishing', file: 'refused',
    help: 'Whether a pull request that people closed without merging it is opened again by a later run of its plan; never: that run is not published' }),
  resolveThreads: yesOrNo().default(false).register(about, {
    flag: 'resolve-threads', group: 'Publishing', file: 'refused',
    help: 'Resolve the review threads that a follow-up answers, where it changes their file' }),
  dryRun: yesOrNo().default(false).register(about, {
    flag: 'dry-run', group: 'Publishing', file: 'refused',
    help: 'Change nothing, and print what would be done' }),
  githubApiUrl: apiAddress().default('https://api.github.com').register(about, {
    flag: 'github-api-url', value: 'URL', group: 'Publishing', file: 'refused', variable: 'GITHUB_API_URL',
    help: "GitHub's API" }),
  githubServerUrl: apiAddress().default('https://github.com').register(about, {
    flag: 'github-server-url', value: 'URL', group: 'Publishing', file: 'refused', variable: 'GITHUB_SERVER_URL',
    help: 'Address of GitHub\'s web pages and git repositories' }),

  patch: text().refine((path) => path !== '-', 'expected a file; --output patch prints the patch').nullable().default(null).register(about, {
    flag: 'patch', value: 'FILE', group: 'Output', file: 'refused',
    help: 'Also write the patch to this file', defaultHelp: 'only changes.patch in the run directory' }),
  output: choice(OUTPUTS).default('none').register(about, {
    flag: 'output', value: OUTPUTS.join('|'), group: 'Output', file: 'refused',
    help: 'The document on stdout: the patch, the result, or events as they happen' }),
  logLevel: choice(LOG_LEVELS).default('info').register(about, {
    flag: 'log-level', value: LOG_LEVELS.join('|'), group: 'Output', file: 'refused',
    help: 'What patchsmith.log in the run directory holds' }),
  logStderr: choice(LOG_LEVELS).default('silent').register(about, {
    flag: 'log-stderr', value: LOG_LEVELS.join('|'), group: 'Output', file: 'refused',
    help: 'What of the log is also printed on stderr, a line an event' }),
  quiet: yesOrNo().default(false).register(about, {
    flag: 'quiet', group: 'Output', file: 'refused', help: 'Only warnings and the last line on stderr' }),
  verbose: yesOrNo().default(false).register(about, {
    flag: 'verbose', group: 'Output', file: 'refused',
    help: "The model's text on stderr as it arrives" }),
});
export type Settings = z.output<typeof Settings>;
/** The name of a setting in code and in `.patchsmith.yml`. */
export type SettingKey = keyof Settings;

/** A setting with everything known about it. */
export interface SettingEntry extends SettingMeta {
  readonly key: SettingKey;
  readonly variable: string;
  /** The value if no source gives one; null if absence has a meaning of its own. */
  readonly initial: Settings[SettingKey];
}

/** All settings in the order of the help text, with the variables that apply to a provider. */
export function settingEntries(provider: ProviderEntry = defaultProvider): SettingEntry[] {
  return (Object.keys(Settings.shape) as SettingKey[]).map((key) => {
    const meta = about.get(Settings.shape[key]);
    if (!meta) throw new Error(`The setting ${key} says nothing about itself.`);
    const own = meta.providerVariable === undefined ? meta.variable : provider[meta.providerVariable];
    const variable = own ?? `PATCHSMITH_${meta.flag.toUpperCase().replaceAll('-', '_')}`;
    return { ...meta, key, variable, initial: Settings.shape[key].parse(undefined) };
  });
}

/** Lists whose entries can be given with commas between them as well: no such name has one in it. */
export const NAME_LISTS: readonly SettingKey[] = ['labels', 'reviewers', 'teamReviewers', 'assignees'];

/** The settings of these groups, for commands to list which ones they accept. */
export function settingsIn(...groups: readonly SettingGroup[]): SettingKey[] {
  return settingEntries().flatMap(({ key, group }) => (groups.includes(group) ? [key] : []));
}

/** The default as help texts show it. */
export function defaultText({ key, initial, defaultHelp, value }: SettingEntry): string {
  if (defaultHelp !== undefined) return defaultHelp;
  if (initial === null) return 'none';
  if (value === 'SIZE') return sizeText(Number(initial));
  if (!key.endsWith('Ms')) return String(initial);
  const seconds = Number(initial) / 1_000;
  return seconds > 60 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

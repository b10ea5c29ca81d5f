/**
 * Every text that the runner sends to the model: those of `prompts/`, filled in. Pure, so that a run replays byte for
 * byte.
 */

import alreadyRed from '../prompts/already-red.md';
import answer from '../prompts/answer.md';
import belowRoot from '../prompts/below-root.md';
import contextCompacted from '../prompts/context-compacted.md';
import contextCut from '../prompts/context-cut.md';
import contextSummary from '../prompts/context-summary.md';
import continueText from '../prompts/continue.md';
import followUp from '../prompts/follow-up.md';
import followUpAsks from '../prompts/follow-up-asks.md';
import followUpMerge from '../prompts/follow-up-merge.md';
import hidden from '../prompts/hidden.md';
import interrupted from '../prompts/interrupted.md';
import lastTurn from '../prompts/last-turn.md';
import modelReplaced from '../prompts/model-replaced.md';
import outside from '../prompts/outside.md';
import outsideContext from '../prompts/outside-context.md';
import putBack from '../prompts/put-back.md';
import removedGit from '../prompts/removed-git.md';
import repositories from '../prompts/repositories.md';
import sandboxNamespaces from '../prompts/sandbox/namespaces.md';
import sandboxDomains from '../prompts/sandbox/namespaces-domains.md';
import sandboxNone from '../prompts/sandbox/none.md';
import stuck from '../prompts/stuck.md';
import summarize from '../prompts/summarize.md';
import system from '../prompts/system.md';
import task from '../prompts/task.md';
import verifyFailed from '../prompts/verify-failed.md';
import verifyInCheckout from '../prompts/verify-in-checkout.md';
import { pathFrom } from './domain/changes/path.ts';
import { asData } from './domain/conversation/conversation.ts';
import { describeEnd, succeeded } from './domain/conversation/tool.ts';
import { servicePlace } from './domain/review/reachable.ts';
import type { CommandReport, SandboxLevel } from './domain/run/events.ts';
import type { Limits } from './domain/run/limits.ts';
import type { VerifyIn } from './domain/run/model-settings.ts';
import type {
  ContextPart,
  FollowUpAsk,
  FollowUpTask,
  OutsideContext,
  OutsidePart,
  PathRules,
  Plan,
  Principles,
} from './domain/run/plan.ts';
import { formatNumber, listed, pluralize } from './domain/text/words.ts';

/** The system prompt: identical for every run with the same sandbox, so that it is cached across runs. */
export function systemPrompt(settings: {
  readonly sandbox: SandboxLevel;
  /** Empty without a sandbox. */
  readonly allowedDomains: readonly string[];
  /** The same: entries of `--service`. */
  readonly services: readonly string[];
}): string {
  const { sandbox, allowedDomains } = settings;
  const services = settings.services
    .map(servicePlace)
    .map(({ name, port }) => `\`${name}\` at \`localhost:${port}\``);
  const domains = allowedDomains.map((domain) => `\`${domain}\``).join(', ');
  const without = sandbox === 'none' ? sandboxNone : sandboxNamespaces;
  const inside = domains === '' ? without : render(sandboxDomains, { domains });
  // Without a mount namespace, the machine's own is not writable.
  const commands = sandbox === 'landlock' ? inside.replace('`/tmp`', '`$TMPDIR` (not `/tmp`)') : inside;
  const offered = services.length === 0 ? '' : ` Services they can reach: ${services.join(', ')}.`;
  return render(system, { sandbox: `${commands.trim()}${offered}` });
}

/** What the first message of a run is built from. */
export interface TaskPromptParts {
  readonly principles: Principles;
  readonly plan: Plan;
  /** The settings' globs, which apply in addition to the plan's. */
  readonly paths: PathRules;
  readonly limits: Limits;
  /** Command lines that run when the model is done; empty if nothing is verified. */
  readonly verify: readonly string[];
  /** Where they run. */
  readonly verifyIn: VerifyIn;
  /** How the same commands ended before the work; empty if they were not run. */
  readonly verifyBaseline: readonly CommandReport[];
  /** Relative to the repository root; `''` is the root. */
  readonly workingDirectory: string;
  /** What is known about the repository; may be empty. */
  readonly orientation: string;
}

/** The first user message: principles, plan, budget, verify commands. Outside text cannot close the tag that encloses it. */
export function taskPrompt(parts: TaskPromptParts): string {
  const { principles, plan, paths, limits, verify, verifyIn, verifyBaseline, workingDirectory } = parts;
  const { orientation } = parts;
  return render(task, {
    principles: principles.map(principlesBlock).join('\n\n') || '<principles>none given</principles>',
    plan: planBlock(plan),
    working_directory:
      workingDirectory === ''
        ? 'the repository root'
        : render(belowRoot, { folder: attribute(workingDirectory) }).trim(),
    orientation: orientation === '' ? '' : `\n\n${orientation}`,
    budget: budgetOf(limits),
    scope: scopeOf(plan, paths),
    verify: verifyBullets(verify, verifyBaseline),
    verify_in: verifyIn === 'checkout' && verify.length > 0 ? `, ${render(verifyInCheckout, {}).trim()}` : '',
  });
}

/** Says which verify commands failed. `roundsLeft` counts the rounds that remain after this message. */
export function verifyFailedPrompt(
  reports: readonly CommandReport[],
  roundsLeft: number,
  notRun: readonly string[],
): string {
  return render(verifyFailed, {
    not_run: notRun.length === 0 ? '' : `Not run after that: ${notRun.join(' · ')}\n\n`,
    reports: reports.map(reportBlock).join('\n\n'),
    rounds_left: String(roundsLeft),
  });
}

/** Messages of the runner without places to fill in. */
export const MESSAGES = {
  /** After an answer that the output limit cut off. */
  continue: continueText.trim(),
  /** Requests the answer of a run that has to end with one. */
  answer: answer.trim(),
  /** There is room for one more answer, which may only call `finish`. */
  lastTurn: lastTurn.trim(),
  /** Requests a summary of the conversation, which will replace it. */
  summarize: summarize.trim(),
} as const;

/** Replaces this many messages, below the task. The summary cannot close the tag that encloses it. */
export function contextSummaryPrompt(dropped: number, summary: string): string {
  const text = asData('summary', summary.trim());
  return render(contextSummary, { dropped: formatNumber(dropped), summary: text }).trim();
}

/** The same if the API's own summary comes first; the task follows. */
export function contextCompactedPrompt(dropped: number): string {
  return render(contextCompacted, { dropped: formatNumber(dropped) }).trim();
}

/** The same for messages that were dropped unread. */
export function contextCutPrompt(dropped: number): string {
  return render(contextCut, { dropped: formatNumber(dropped) }).trim();
}

/**
 * For a model that takes over from another: which paths were changed, and the runner's last message, such as a failed
 * verification; both may be empty.
 */
export function modelReplacedPrompt(changed: readonly string[], folder: string, last: string): string {
  const paths =
    changed.length === 0 ? 'No file has been changed so far.' : `Changed so far: ${named(changed, folder)}.`;
  return render(modelReplaced, { changed: paths, last: last === '' ? '' : `\n\n${last}` }).trim();
}

/** The answer to a call that was in progress when the run was killed. `changed` are paths; it may be empty. */
export function interruptedPrompt(changed: readonly string[], folder: string): string {
  return render(interrupted, { changed: named(changed, folder) || 'no file' });
}

/** Follows the output of commands that changed paths against the policy; empty when none did. */
export function putBackPrompt(
  paths: {
    putBack: readonly string[];
    stuck: readonly string[];
    hidden: readonly string[];
    repositories: readonly string[];
  },
  folder: string,
): string {
  return [
    ...(paths.putBack.length > 0 ? [render(putBack, { paths: named(paths.putBack, folder) })] : []),
    ...(paths.stuck.length > 0 ? [render(stuck, { paths: named(paths.stuck, folder) })] : []),
    ...(paths.repositories.length > 0 ? [repositoriesPrompt(paths.repositories, folder)] : []),
    ...(paths.hidden.length > 0 ? [render(hidden, { paths: named(paths.hidden, folder) })] : []),
  ].join('');
}

/** Follows the output of commands that made git dirs; empty when none did. */
export function removedGitPrompt(paths: readonly string[], folder: string): string {
  return paths.length > 0 ? render(removedGit, { paths: named(paths, folder) }) : '';
}

/** `folders` are those that git takes for repositories; `''` is the root. */
export function repositoriesPrompt(folders: readonly string[], folder: string): string {
  return render(repositories, { paths: named(folders, folder) });
}

/** Maximum number of paths named in one answer. */
const MAX_NAMED = 20;

/** As seen from the working directory. */
function named(paths: readonly string[], folder: string): string {
  const quoted = paths.map((path) => JSON.stringify(pathFrom(folder, path) || '.'));
  return listed(quoted, MAX_NAMED, 'file');
}

function principlesBlock(file: Principles[number]): string {
  const cut = file.truncated ? ' truncated="true"' : '';
  return `<principles file=${attribute(file.path)}${cut}>\n${asData('principles', file.text.trim())}\n</principles>`;
}

/** Text from GitHub comes after the plan, in a separate tag. */
function planBlock({ title, task, outside: part, followUp: more }: Plan): string {
  const plan = `<plan title=${attribute(title)}>\n${asData('plan', task.trim()) || NO_TASK_OF_ITS_OWN}\n</plan>`;
  return [plan, ...(part ? [requestBlock(part)] : []), ...(more ? [followUpBlock(more)] : [])].join('\n\n');
}

function requestBlock(part: OutsidePart): string {
  const { kind, author, text, context } = part;
  const request = render(outside, { kind, author: attribute(author), text: quotedText(text) }).trim();
  return context === undefined ? request : [request, ...contextBlocks(context)].join('\n\n');
}

function contextBlocks(context: OutsideContext): string[] {
  if (context.parts.length === 0) return [];
  const { parts, leftOut } = context;
  const about = render(outsideContext, {
    parts: parts.map(contextBlock).join('\n\n'),
    left_out: leftOut === 0 ? '' : `\n\n(${pluralize(leftOut, 'comment')} left out)`,
  });
  return [about.trim()];
}

function followUpBlock({ facts, title, diff, asks, context }: FollowUpTask): string {
  const parts = asks.map(askBlock).join('\n\n');
  const request = render(followUp, {
    number: String(facts.pullRequest),
    title: attribute(title),
    diff: asData('diff', diff.trim()),
    merge:
      facts.merge === null
        ? ''
        : `${render(followUpMerge, { branch: attribute(facts.base.branch) }).trim()}\n\n`,
    asks: parts === '' ? '' : `${render(followUpAsks, { parts }).trim()}\n\n`,
  });
  return [...contextBlocks({ parts: context, leftOut: 0 }), request.trim()].join('\n\n');
}

function askBlock({ tag, attributes, text, remarks }: FollowUpAsk): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}=${attribute(value)}`);
  const body = [...(text === '' ? [] : [quotedText(text)]), ...remarks.map(contextBlock)].join('\n');
  return `<${tag}${named.join('')}>\n${body}\n</${tag}>`;
}

function contextBlock({ kind, author, title, text }: ContextPart): string {
  const titled = title === null ? '' : ` title=${attribute(title)}`;
  return `<${kind}${titled} author=${attribute(author)}>\n${quotedText(text) || '(no text)'}\n</${kind}>`;
}

/** Any text could contain the closing tag of another. */
function quotedText(text: string): string {
  return OUTSIDE_TAGS.reduce((quoted, tag) => asData(tag, quoted), text.trim());
}

const OUTSIDE_TAGS = [
  ...['plan', 'issue', 'comment', 'pull_request', 'remark'],
  ...['diff', 'review', 'check', 'conflict'],
];

const NO_TASK_OF_ITS_OWN = 'Carry out the request below.';

function reportBlock(report: CommandReport): string {
  const output = asData('output', report.output.trimEnd()) || '(no output)';
  const end = describeEnd(report.end);
  return `<output command=${attribute(report.command)} end=${attribute(end)}>\n${output}\n</output>`;
}

function budgetOf(limits: Limits): string {
  const fences = [`${limits.maxIterations} turns`, `${Math.round(limits.deadlineMs / 6_000) / 10} minutes`];
  if (limits.maxTotalTokens !== null) fences.push(`${limits.maxTotalTokens} tokens in all`);
  if (limits.maxCostUsd !== null) fences.push(`${limits.maxCostUsd} USD`);
  return fences.join(', ');
}

function scopeOf(...rules: readonly PathRules[]): string {
  const allowed = rules.flatMap(({ allow }) => (allow.length > 0 ? [`only ${codeList(allow)}`] : []));
  const allow = `${allowed.join(', and of these ') || 'any'} may change`;
  const protect = rules.flatMap((rule) => rule.protect);
  return protect.length > 0 ? `${allow}, but not ${codeList(protect)}` : allow;
}

function codeList(globs: readonly string[]): string {
  return globs.map((glob) => `\`${glob}\``).join(', ');
}

function verifyBullets(commands: readonly string[], baseline: readonly CommandReport[]): string {
  if (commands.length === 0) return '- none';
  const bullets = commands.map((command) => {
    const red = baseline.find((report) => report.command === command && !succeeded(report.end));
    return `- \`${command}\`${red ? ` (${render(alreadyRed, { end: describeEnd(red.end) }).trim()})` : ''}`;
  });
  return bullets.join('\n');
}

function attribute(text: string): string {
  return JSON.stringify(text).replace(/</g, '\\u003c').replace(/>/g, '\\u003e');
}

/** Fills the `{{name}}` places of a prompt. Throws if a place has no value or a value has no place: both are our own bugs. Values are inserted unchanged. */
export function render(template: string, values: Readonly<Record<string, string>>): string {
  const used = new Set<string>();
  const text = template.replace(/\{\{([a-z_]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The prompt has a place {{${name}}} but no value for it.`);
    used.add(name);
    return value;
  });
  const unused = Object.keys(values).filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`The prompt has no place for: ${unused.join(', ')}.`);
  return text.trimEnd();
}

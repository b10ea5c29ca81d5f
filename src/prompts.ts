/**
 * Everything that the runner says to the model: the texts of `prompts/`, filled in. Pure, so that a run replays byte for
 * byte.
 */

import alreadyRed from '../prompts/already-red.md';
import answer from '../prompts/answer.md';
import continueText from '../prompts/continue.md';
import hidden from '../prompts/hidden.md';
import interrupted from '../prompts/interrupted.md';
import lastTurn from '../prompts/last-turn.md';
import outside from '../prompts/outside.md';
import putBack from '../prompts/put-back.md';
import removedGit from '../prompts/removed-git.md';
import repositories from '../prompts/repositories.md';
import sandboxNamespaces from '../prompts/sandbox/namespaces.md';
import sandboxDomains from '../prompts/sandbox/namespaces-domains.md';
import sandboxNone from '../prompts/sandbox/none.md';
import stuck from '../prompts/stuck.md';
import system from '../prompts/system.md';
import task from '../prompts/task.md';
import verifyFailed from '../prompts/verify-failed.md';
import verifyInCheckout from '../prompts/verify-in-checkout.md';
import { describeEnd, succeeded } from './domain/conversation/tool.ts';
import type { CommandReport, SandboxLevel } from './domain/run/events.ts';
import type { Limits } from './domain/run/limits.ts';
import type { VerifyIn } from './domain/run/model-settings.ts';
import type { PathRules, Plan, Principles } from './domain/run/plan.ts';
import { listed } from './domain/text/listed.ts';
import { render } from './domain/text/template.ts';

const SANDBOX: Readonly<Record<SandboxLevel, string>> = {
  'namespaces+seccomp': sandboxNamespaces,
  namespaces: sandboxNamespaces,
  none: sandboxNone,
};

/** The system prompt: identical for every run with the same sandbox, so that it is cached across runs. */
export function systemPrompt(settings: {
  readonly sandbox: SandboxLevel;
  /** Empty without a sandbox. */
  readonly allowedDomains: readonly string[];
}): string {
  const { sandbox, allowedDomains } = settings;
  const domains = allowedDomains.map((domain) => `\`${domain}\``).join(', ');
  const told = domains === '' ? SANDBOX[sandbox] : render(sandboxDomains, { domains });
  return render(system, { sandbox: told.trim() });
}

/** What the first message of a run is built from. */
export interface TaskPromptParts {
  readonly principles: Principles;
  readonly plan: Plan;
  /** The settings' globs, which apply in addition to the plan's. */
  readonly paths: PathRules;
  readonly limits: Limits;
  /** Command lines that run when the model is done; empty if there is nothing to verify with. */
  readonly verify: readonly string[];
  /** Where they run. */
  readonly verifyIn: VerifyIn;
  /** How the same commands ended before the work; empty if they were not run. */
  readonly verifyBaseline: readonly CommandReport[];
  /** Relative to the repository root; `''` is the root. */
  readonly workingDirectory: string;
}

/** The first user message: principles, plan, budget, verify commands. Outside text cannot close the tag that encloses it. */
export function taskPrompt(parts: TaskPromptParts): string {
  const { principles, plan, paths, limits, verify, verifyIn, verifyBaseline, workingDirectory } = parts;
  return render(task, {
    principles: principles.map(principlesBlock).join('\n\n') || '<principles>none given</principles>',
    plan: planBlock(plan),
    working_directory: workingDirectory === '' ? 'the repository root' : workingDirectory,
    budget: budgetOf(limits),
    scope: scopeOf(plan, paths),
    verify: verifyBullets(verify, verifyBaseline),
    verify_in: verifyIn === 'checkout' && verify.length > 0 ? `, ${render(verifyInCheckout, {}).trim()}` : '',
  });
}

/** Says which verify commands failed. `roundsLeft` counts the rounds that remain after this message. */
export function verifyFailedPrompt(reports: readonly CommandReport[], roundsLeft: number): string {
  return render(verifyFailed, {
    reports: reports.map(reportBlock).join('\n\n'),
    rounds_left: String(roundsLeft),
  });
}

/** Asks the model to go on after an answer that was cut off by the output limit. */
export function continuePrompt(): string {
  return render(continueText, {});
}

/** Asks for the answer of a run that has to end with one. */
export function answerPrompt(): string {
  return render(answer, {}).trim();
}

/** Tells the model that there is room for one more answer, in which only `finish` is carried out. */
export function lastTurnPrompt(): string {
  return render(lastTurn, {}).trim();
}

/** The answer to a call that was in progress when the run was killed. `changed` are paths; it may be empty. */
export function interruptedPrompt(changed: readonly string[]): string {
  return render(interrupted, { changed: named(changed) || 'no file' });
}

/** Follows the output of commands that changed paths against the policy; empty when none did. */
export function putBackPrompt(paths: {
  putBack: readonly string[];
  stuck: readonly string[];
  hidden: readonly string[];
  repositories: readonly string[];
}): string {
  return [
    ...(paths.putBack.length > 0 ? [render(putBack, { paths: named(paths.putBack) })] : []),
    ...(paths.stuck.length > 0 ? [render(stuck, { paths: named(paths.stuck) })] : []),
    ...(paths.repositories.length > 0 ? [repositoriesPrompt(paths.repositories)] : []),
    ...(paths.hidden.length > 0 ? [render(hidden, { paths: named(paths.hidden) })] : []),
  ].join('');
}

/** Follows the output of commands that made git dirs; empty when none did. */
export function removedGitPrompt(paths: readonly string[]): string {
  return paths.length > 0 ? render(removedGit, { paths: named(paths) }) : '';
}

/** `folders` are those that git takes for repositories; `''` is the root. */
export function repositoriesPrompt(folders: readonly string[]): string {
  return render(repositories, { paths: named(folders.map((folder) => folder || '.')) });
}

/** Maximum number of paths named in one answer. */
const MAX_NAMED = 20;

function named(paths: readonly string[]): string {
  const quoted = paths.map((path) => JSON.stringify(path));
  return listed(quoted, MAX_NAMED, 'file');
}

function principlesBlock(file: Principles[number]): string {
  const cut = file.truncated ? ' truncated="true"' : '';
  return `<principles file=${attribute(file.path)}${cut}>\n${asData('principles', file.text.trim())}\n</principles>`;
}

/** Text from GitHub comes after the plan, in a tag of its own. */
function planBlock({ title, task, outside: part }: Plan): string {
  const plan = `<plan title=${attribute(title)}>\n${asData('plan', task.trim()) || NO_TASK_OF_ITS_OWN}\n</plan>`;
  if (part === undefined) return plan;
  const { kind, author, text } = part;
  // Each text could contain the other's closing tag.
  const quoted = asData(kind, asData('plan', text.trim()));
  return `${plan}\n\n${render(outside, { kind, author: attribute(author), text: quoted }).trim()}`;
}

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

/** Breaks every closing tag of the same name, however it is spelled, so that data cannot pretend to end. */
function asData(tag: string, text: string): string {
  return text.replace(new RegExp(`<(?=[\\s\\p{Cf}]*/[\\s\\p{Cf}]*${tag})`, 'giu'), '<\\');
}

function attribute(text: string): string {
  return JSON.stringify(text).replace(/</g, '\\u003c').replace(/>/g, '\\u003e');
}

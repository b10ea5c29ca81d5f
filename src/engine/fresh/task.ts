/** The task of a new run: its plan, if the account that triggered the run may start one, and the principles. */

import { resolve } from 'node:path';
import { readPlan } from '../../adapters/plan/plan-file.ts';
import { readPrinciples } from '../../adapters/plan/principles.ts';
import { folderIn } from '../../adapters/workspace/find-checkout.ts';
import type { Settings } from '../../config/schema.ts';
import { pathsOf } from '../../domain/changes/path-policy.ts';
import { laneOf, OPTIONAL_TOOLS } from '../../domain/conversation/tool.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { refused, type Stopped, stopped } from '../../domain/run/outcome.ts';
import type { Plan } from '../../domain/run/plan.ts';
import { shortened } from '../../domain/text/shorten.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { raceAbort } from '../../host/deadline.ts';
import type { AnswerSchema, Tool } from '../../ports.ts';
import { openTools } from '../open/tools.ts';
import { interruptedOutcome } from '../ready.ts';
import type { Session } from '../session.ts';
import type { TrustedPlan } from '../trust/plan.ts';

/** What to do, and by which rules. */
export interface Task {
  readonly status: 'ok';
  readonly plan: Plan;
  readonly principles: readonly Principle[];
  readonly paths: RunStarted['paths'];
  /** Commands that must succeed in the end. */
  readonly verify: readonly string[];
  /** The ones that also run before the work; null when none should. */
  readonly baseline: readonly string[] | null;
  readonly tools: readonly Tool[];
  /** Which tools these are; recorded with the run. */
  readonly toolNames: readonly string[] | null;
  /** The comments that the run has to answer; null if there are none. */
  readonly answer: AnswerSchema | null;
  /** Relative to the root; empty for the root. */
  readonly workingDirectory: string;
}

type Principle = Extract<Awaited<ReturnType<typeof readPrinciples>>, { status: 'ok' }>['principles'][number];

/** Checks whether the run may begin, and prints what people must know before it does. */
export async function readTask(session: Session, checkout: Checkout): Promise<Task | Stopped> {
  const { settings, cwd, trust, attempt } = session.input;
  // An attempt has a copy of it, in which a plan at an absolute path would lie outside.
  const root = attempt?.root ?? checkout.root;
  session.stage = 'plan';
  const planned = await raceAbort(session.interrupt, planOf(session, root));
  if (planned === null || session.interrupt.aborted) return stopped(interruptedOutcome(session));
  if (planned.status === 'stopped') return planned;
  const { input, runId } = session;
  const base = checkout.head.branchRef?.replace(/^refs\/heads\//, '') ?? null;
  const work = { runId, plan: planned.plan, base, caps: settings };
  const asked = input.beforeSpending?.(work) ?? Promise.resolve(null);
  const barred = await raceAbort(session.interrupt, asked);
  if (session.interrupt.aborted) return stopped(interruptedOutcome(session));
  if (barred !== null) return stopped(barred);
  const plan = { ...planned.plan, setup: [...new Set([...settings.setup, ...planned.plan.setup])] };
  const verify = [...new Set([...plan.verify, ...settings.verify])];
  const unwaited = await whyUnwaited(plan.setup, verify);
  if (unwaited !== null) return refused('ERR_COMMAND_CANNOT_FAIL', unwaited);
  const { outputSchema } = settings;
  const schema =
    outputSchema === null
      ? null
      : // The library that checks answers is loaded only where one is asked for.
        await (await import('../../adapters/plan/answer-schema.ts')).readAnswerSchema(outputSchema, cwd);
  if (schema?.status === 'failed') return refused('ERR_ANSWER_SCHEMA', schema.message);
  const found = await folderIn(
    root,
    settings.workingDirectory === null
      ? resolve(root, plan.workingDirectory ?? checkout.prefix)
      : resolve(cwd, settings.repo ?? '', settings.workingDirectory),
  );
  if (found.status === 'failed') return refused('ERR_WORKING_DIRECTORY', found.message);
  const { folder } = found;
  session.stage = 'principles';
  const principles = await readPrinciples({
    files: settings.principles,
    root,
    workingDirectory: folder,
    cwd,
    revision: trust?.revision ?? null,
    maxBytes: settings.maxPrinciplesBytes,
  });
  if (principles.status === 'failed') return refused('ERR_PRINCIPLES_UNREADABLE', principles.message);
  for (const warning of principles.warnings) session.warnOf(warning);
  const toolNames = toolNamesOf(settings);
  const answer = schema?.answer ?? null;
  return {
    status: 'ok',
    plan,
    principles: principles.principles,
    // If commands change it anyway, that is reverted.
    paths: pathsOf(settings, plan.followUp?.paths),
    verify,
    baseline: plan.verifyBaseline || settings.verifyBaseline ? verify : null,
    tools: openTools(session, { ...settings, own: input.ownTools ?? [], folder, tools: toolNames, answer }),
    toolNames,
    answer,
    workingDirectory: folder,
  };
}

/** Null when the run has all tools. */
function toolNamesOf({ tools, noTools, readOnly }: Settings): string[] | null {
  if (tools.length === 0 && noTools.length === 0 && !readOnly) return null;
  const chosen = tools.length === 0 ? OPTIONAL_TOOLS : tools;
  return chosen.filter((name) => !noTools.includes(name) && !(readOnly && laneOf(name) === 'write'));
}

/** Longer commands may be too much for the parser. */
const SHORT = 1_000;

/** Why one of the commands would say nothing about its work, or cannot be parsed; null when all of them can fail. */
async function whyUnwaited(setup: readonly string[], verify: readonly string[]): Promise<string | null> {
  const commands = [...setup.map((text) => ['setup', text]), ...verify.map((text) => ['verify', text])];
  // Only then is there anything to parse.
  if (!commands.some(([, text = '']) => text.includes('&') || text.length > SHORT)) return null;
  const { whyOverlooked } = await import('../../adapters/plan/command-syntax.ts');
  for (const [kind, text = ''] of commands) {
    const why = whyOverlooked(text);
    if (why !== null) return `The ${kind} command ${JSON.stringify(shortened(text, SHORT))} ${why}`;
  }
  return null;
}

/**
 * The plan, if the account that triggered the run may start one. The modules for that check are loaded only when there is reason
 * to check.
 */
async function planOf(session: Session, root: string): Promise<TrustedPlan> {
  const { settings, stdin, cwd, trust } = session.input;
  const { plan, message } = settings;
  const signal = session.interrupt;
  if (trust !== undefined) {
    const { readTrustedPlan } = await import('../trust/plan.ts');
    return readTrustedPlan(session, trust, root);
  }
  const read = await readPlan({ plan, message, stdin, cwd, root, signal });
  return read.status === 'ok' ? read : refused('ERR_PLAN_UNREADABLE', read.message);
}

/** The plan of a run that has to check its surroundings first: on GitHub Actions, or for an issue or comment. */

import { readPlan } from '../../adapters/plan/plan-file.ts';
import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { Plan } from '../../domain/run/plan.ts';
import type { Warning } from '../../domain/warnings/warning.ts';
import type { Session } from '../session.ts';
import { credentialsProblem, passGate } from './gate.ts';
import { readIssuePlan } from './issue-plan.ts';
import type { Trust } from './trust.ts';

/** `notes` are for people and are printed before the work. */
export type TrustedPlan =
  | { status: 'ok'; plan: Plan; notes: Warning[] }
  | { status: 'failed'; outcome: RunOutcome };

/** Applies the gate before anything of the plan is read. `root` is the root of the work tree. */
export async function readTrustedPlan(session: Session, trust: Trust, root: string): Promise<TrustedPlan> {
  const { settings, stdin, cwd } = session.input;
  const gate = await passGate(session);
  if (gate.status === 'shut') return { status: 'failed', outcome: gate.outcome };
  const { plan, message, planFromIssue, planFromComment } = settings;
  const { revision } = trust;
  const signal = session.interrupt;
  const warning = credentialsProblem(trust);
  const notes = warning === null ? [] : [warning];
  const isOutside = planFromIssue !== null || planFromComment !== null;
  const isNamed = plan !== null || message !== null || isOutside;
  const { continued } = trust;
  const writers = gate.writers;
  /** The current request, with the plan that continues. */
  const goingOn = async (given: Plan | null, more: readonly Warning[]): Promise<TrustedPlan> => {
    if (continued === null)
      return given === null
        ? { status: 'failed', outcome: usageError('ERR_NO_TASK', 'There is no plan.') }
        : { status: 'ok', plan: given, notes: [...notes, ...more] };
    const { continuedPlan } = await import('../continued/plan.ts');
    const task = { settings, trust, writers, signal, continued, session, root, given };
    const made = await continuedPlan(task);
    return made.status === 'ok' ? { ...made, notes: [...notes, ...more] } : made;
  };
  if (continued !== null && !isNamed) return goingOn(null, []);
  const read =
    isOutside && plan === null ? null : await readPlan({ plan, message, stdin, cwd, root, revision, signal });
  if (read?.status === 'failed')
    return { status: 'failed', outcome: usageError('ERR_PLAN_UNREADABLE', read.message) };
  if (read !== null && !isOutside) return goingOn(read.plan, []);
  const made = await readIssuePlan({ settings, trust, writers, signal }, read === null ? null : read.plan);
  return made.status === 'ok' ? goingOn(made.plan, made.notes) : made;
}

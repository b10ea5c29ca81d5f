/**
 * From the end of the loop to the outcome: makes, reviews and publishes the patch, completes the result and decides the
 * outcome. Every step is tried, whether or not the earlier ones succeeded.
 */

import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';
import type { Ready } from '../ready.ts';
import type { Session } from '../session.ts';
import { commandToContinue } from './crash.ts';
import { finalOutcome, type LoopEnd } from './final-outcome.ts';
import { allDenied, knownPart } from './known-part.ts';
import { takeSteps } from './steps.ts';

/** `patch` is null when none was made or when it must not be published. */
export interface Ended {
  readonly outcome: RunOutcome;
  readonly patch: ProvenPatch | null;
}

/** Never rejects for a failing step: the failure is in the outcome. */
export async function finish(session: Session, ready: Ready, loop: LoopEnd): Promise<Ended> {
  const { state, driven } = loop;
  if (driven.status !== 'done') await sweep(session, ready);
  const denied = allDenied(session, state);
  session.record({ mcp: [...ready.servers()], ...knownPart(session, state, denied) });
  const net = state.changes.net();
  const steps = await takeSteps(session, ready, { state, net });
  const outcome = await finalOutcome(session, ready, { loop, net, steps, denied });
  if (loop.stop !== null) session.nextCommand = commandToContinue(session, loop.stop);
  return { outcome, patch: steps.kept.patch };
}

/** However the run ended, git dirs that commands created must not stay there for the user's git to run. */
async function sweep(session: Session, { workspace }: Ready): Promise<void> {
  await workspace.sweep().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    session.warn(
      'WARN_LEFT_BEHIND',
      `Git dirs that commands created may be left in ${workspace.root}: ${why}`,
    );
  });
}

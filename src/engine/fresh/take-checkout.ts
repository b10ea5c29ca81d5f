/** Where a new run works: its checkout is found, its run directory made, and its work tree taken. */

import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { absolutePath } from '../../domain/changes/path.ts';
import { usageError } from '../../domain/run/outcome.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { type Stopped, stopped } from '../ready.ts';
import type { Session } from '../session.ts';

/** A checkout that no other run works in until this one has ended. */
export interface TakenCheckout {
  readonly status: 'ok';
  readonly checkout: Checkout;
  readonly directory: RunDirectory;
}

/** The run directory comes first, so that whatever is wrong with the checkout is kept there. */
export async function takeCheckout(session: Session): Promise<TakenCheckout | Stopped> {
  const { settings, cwd, env, attempt } = session.input;
  const found =
    attempt === undefined
      ? await findCheckout(absolutePath(cwd, settings.repo ?? '.'), env)
      : { status: 'ok' as const, checkout: attempt.checkout };
  const problem = await session.makeDirectory(found.status === 'ok' ? found.checkout.root : null);
  const { directory } = session;
  if (problem !== null || directory === null) return stopped(usageError('ERR_RUN_DIRECTORY', problem ?? ''));
  if (found.status === 'failed') return stopped(usageError('ERR_NO_CHECKOUT', found.message));
  const { checkout } = found;
  const busy = await session.takeWorkTree(checkout);
  return busy === null
    ? { status: 'ok', checkout, directory }
    : stopped(usageError('ERR_WORK_TREE_BUSY', busy));
}

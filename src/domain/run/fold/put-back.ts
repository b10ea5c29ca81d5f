/** The state after forbidden changes were reverted. */

import { toCodeChanges } from '../../changes/change.ts';
import { deniedChanges, withDenials } from '../../review/denied.ts';
import type { ChangesPutBack } from '../events.ts';
import type { RunState } from '../state.ts';

/** They are in the history as excluded, and each path is either reverted or stuck. */
export function afterPutBack(
  state: RunState,
  { changes, stuck, source, iteration }: ChangesPutBack,
): RunState {
  const excluded = changes.map((change) => ({ ...change, excluded: 'put_back' as const }));
  for (const change of toCodeChanges(excluded, source, iteration)) state.changes.record(change);
  const putBack = new Map(state.putBack);
  const stillStuck = new Map(state.stuck);
  for (const { path } of changes) {
    putBack.set(path, source.by);
    stillStuck.delete(path);
  }
  for (const { path, why } of stuck) stillStuck.set(path, why);
  const calls = source.by === 'tool' ? source.calls : [];
  const commands = source.by === 'verify' ? state.verify : [];
  const maker = { tool: 'a command', verify: 'verify commands', setup: 'setup commands', outside: 'others' };
  const paths = changes.map(({ path }) => path);
  const denied = withDenials(state.denied, deniedChanges(paths, { calls, commands }, maker[source.by]));
  return { ...state, putBack, stuck: stillStuck, denied };
}

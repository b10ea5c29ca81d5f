/** After hosts were asked for. */

import { deniedHosts, withDenials } from '../../review/denied.ts';
import { type AskedHost, withUses } from '../../review/egress.ts';
import type { RunState } from '../state.ts';

/** They are counted, and one that was refused to commands is a denial of the calls that asked for it. */
export function withAskedHosts<State extends Pick<RunState, 'denied' | 'hosts'>>(
  state: State,
  hosts: readonly AskedHost[],
): State {
  return {
    ...state,
    denied: withDenials(state.denied, deniedHosts(hosts, state.denied.named)),
    hosts: withUses(state.hosts, hosts),
  };
}

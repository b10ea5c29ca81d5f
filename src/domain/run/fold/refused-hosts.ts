/** After hosts were refused to commands. */

import { deniedHosts, withDenials } from '../../review/denied.ts';
import { type HostRefusal, withRefused } from '../../review/refused-hosts.ts';
import type { RunState } from '../state.ts';

/** They are counted, and each is a denial of the calls that asked for it. */
export function withRefusedHosts<State extends Pick<RunState, 'denied' | 'refusedHosts'>>(
  state: State,
  hosts: readonly HostRefusal[],
): State {
  return {
    ...state,
    denied: withDenials(state.denied, deniedHosts(hosts, state.denied.named)),
    refusedHosts: withRefused(state.refusedHosts, hosts),
  };
}

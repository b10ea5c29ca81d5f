import { expect, test } from 'vitest';
import { explain, type MachineFacts } from '../../../../src/adapters/sandboxes/bubblewrap/unavailable.ts';

const plain: MachineFacts = {
  apparmorRestrictsUserns: null,
  unprivilegedUsernsClone: null,
  maxUserNamespaces: '95000\n',
  inContainer: false,
};
const REFUSED = 'bwrap: setting up uid map: Permission denied';

test.each([
  ['AppArmor', { apparmorRestrictsUserns: '1\n' }, REFUSED, '/etc/apparmor.d/bwrap'],
  [
    'AppArmor',
    { apparmorRestrictsUserns: '1\n' },
    'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
    '/etc/apparmor.d/bwrap',
  ],
  [
    'a container',
    { inContainer: true, apparmorRestrictsUserns: '1\n' },
    'bwrap: No permissions to create new namespace',
    '--security-opt seccomp=unconfined',
  ],
  [
    'a container',
    { inContainer: true },
    "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
    '--security-opt apparmor=unconfined (in a workflow',
  ],
  ['the kernel setting', { unprivilegedUsernsClone: '0\n' }, REFUSED, 'kernel.unprivileged_userns_clone=1'],
  [
    'the kernel limit',
    { maxUserNamespaces: '0\n' },
    'bwrap: Creating new namespace failed: No space left on device',
    'user.max_user_namespaces=15000',
  ],
])('%s is named as the cause, with its mend', (_, facts, message, mend) => {
  const reason = explain(message, { ...plain, ...facts });
  expect(reason).toContain(`(${message})`);
  expect(reason).toContain(mend);
});

test('an unknown cause is reported in bubblewrap’s own words', () => {
  expect(explain("bwrap: Can't find source path /gone\n", plain)).toBe(
    "bubblewrap cannot start a sandbox here (bwrap: Can't find source path /gone).",
  );
});

/** Why bubblewrap does not work on a machine, and how to fix it. */

import { readText } from '../host-files.ts';

/** What is known about the machine. */
export interface MachineFacts {
  /** Kernel settings as text; null if the kernel has no such setting. */
  readonly apparmorRestrictsUserns: string | null;
  readonly unprivilegedUsernsClone: string | null;
  readonly maxUserNamespaces: string | null;
  readonly inContainer: boolean;
}

/** The error for a machine without bubblewrap. */
export const NOT_INSTALLED =
  'bubblewrap is not installed. Install it: apt-get install -y bubblewrap (Debian, Ubuntu), ' +
  'dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine).';

/** Where AppArmor reads the profile that permits bubblewrap to make user namespaces. */
export const APPARMOR_PROFILE_PATH = '/etc/apparmor.d/bwrap';

const PROFILE_LINES = [
  'abi <abi/4.0>,',
  'include <tunables/global>',
  'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }',
];

/** That profile, for exactly this program. */
export const APPARMOR_PROFILE = `${PROFILE_LINES.join('\n')}\n`;

/** True if AppArmor forbids user namespaces and a profile would help. A container has no AppArmor of its own. */
export function forbidsNamespaces({
  apparmorRestrictsUserns,
  inContainer,
}: Pick<MachineFacts, 'apparmorRestrictsUserns' | 'inContainer'>): boolean {
  return apparmorRestrictsUserns?.trim() === '1' && !inContainer;
}

/** One paragraph with the cause and the fix. `message` is from bubblewrap or the probe. */
export function explain(message: string, machine: MachineFacts): string {
  const line = message.trim().split('\n').slice(-1)[0] ?? '';
  // The launcher makes them read-only, in namespaces, before it starts bubblewrap.
  const nodes = line.startsWith('launcher: mount namespace')
    ? ' Commands could change the device nodes in /dev, which belong to this user: another user does not need that namespace.'
    : '';
  const said = `bubblewrap cannot start a sandbox here (${line}).${nodes}`;
  if (message.includes('execvp')) {
    return `${said} Programs in the run directory cannot be executed: use --run-dir to choose one on a file system that is not mounted noexec.`;
  }
  const needsNamespaces =
    /uid.map|RTM_NEWADDR|RTM_NEWLINK|namespace|unshare|Operation not permitted|Permission denied|No space left/i;
  if (!needsNamespaces.test(message)) return said;
  // Ubuntu 23.10 and later: https://ubuntu.com/blog/ubuntu-23-10-restricted-unprivileged-user-namespaces
  if (forbidsNamespaces(machine)) {
    return (
      `${said} AppArmor forbids user namespaces (Ubuntu 23.10 and later, GitHub-hosted runners). Allow them for ` +
      `bubblewrap alone: printf '%s\\n' ${PROFILE_LINES.map((line) => `'${line}'`).join(' ')} | ` +
      `sudo tee ${APPARMOR_PROFILE_PATH} && sudo apparmor_parser -r ${APPARMOR_PROFILE_PATH}. ` +
      'Or for everything: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.'
    );
  }
  if (machine.inContainer) {
    return (
      `${said} This container may not create namespaces. Start it with ` +
      '--security-opt seccomp=unconfined --security-opt apparmor=unconfined ' +
      '(in a workflow: jobs.<job>.container.options), ' +
      'or run the job on the machine itself.'
    );
  }
  if (machine.unprivilegedUsernsClone?.trim() === '0') {
    return `${said} The kernel forbids user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1.`;
  }
  if (machine.maxUserNamespaces?.trim() === '0') {
    return `${said} The kernel allows no user namespaces: sudo sysctl -w user.max_user_namespaces=15000.`;
  }
  return said;
}

/** Reads what the machine says about namespaces, to explain why they cannot be made. */
export function readMachineFacts(): MachineFacts {
  const [apparmorRestrictsUserns, unprivilegedUsernsClone, maxUserNamespaces, docker, podman, cgroups] = [
    '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    '/proc/sys/kernel/unprivileged_userns_clone',
    '/proc/sys/user/max_user_namespaces',
    '/.dockerenv',
    '/run/.containerenv',
    '/proc/1/cgroup',
  ].map(readText);
  return {
    apparmorRestrictsUserns: apparmorRestrictsUserns ?? null,
    unprivilegedUsernsClone: unprivilegedUsernsClone ?? null,
    maxUserNamespaces: maxUserNamespaces ?? null,
    inContainer:
      typeof docker === 'string' ||
      typeof podman === 'string' ||
      /docker|kubepods|containerd|lxc/.test(cgroups ?? ''),
  };
}

/** Commands that try to control process 1 of their sandbox, or the machine after the run. */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { arch } from 'node:process';
import { RUNS_LEADERLESS, writeLeaderlessProgram } from '../../support/machine/leaderless-program.ts';
import { processesSeeing } from '../../support/machine/processes.ts';
import type { Attack, Goal, Stage } from '../attack.ts';
import { commandsIn, toDo, toHear } from '../goals.ts';

const PTRACE = arch === 'arm64' ? 117 : 101;
const [PIDFD_OPEN, PIDFD_GETFD] = [434, 438];
const PTRACE_SEIZE = 0x4206;

/** Without a sandbox process 1 is the machine's own. */
const UNTRIED: Attack['expected'] = { none: 'untried' };
const takeover = commandsIn('Processes and resources', 'takeover', UNTRIED, 'untraced');

/** Writes 1 into every eventfd of process 1, by which bubblewrap's own would report the exit code 0. Shell text. */
export const FORGE = `perl -e 'my $pidfd = syscall(${PIDFD_OPEN}, 1, 0); for my $number (0 .. 50) {
  my $fd = syscall(${PIDFD_GETFD}, $pidfd, $number, 0);
  if ($fd >= 0) { open(my $out, ">&=", $fd); syswrite($out, pack("Q", 1)); }
}'`;

const SETXATTR = arch === 'arm64' ? 5 : 188;
/** What `setcap cap_setuid+ep` writes. */
const SET_UID_CAPABILITY = 'pack("V5", 0x02000001, 1 << 7, 0, 0, 0)';

const setId = (id: string, what: string, make: string) =>
  commandsIn('Processes and resources', 'takeover', { unfiltered: 'open', none: 'open' }, 'filter')(
    id,
    what,
    () => `mkdir -p kept && cp /bin/sh kept/${id} && cd kept && ${make}`,
    toDo(({ victim }) => {
      const path = join(victim.root, 'kept', id);
      return existsSync(path) && (statSync(path).mode & 0o6000) !== 0 ? `${path} is set-id` : null;
    }),
  );

/** The program whose first thread ends, or if that cannot be assembled, an ordinary process that does the same. */
const LEADERLESS = 'kept/leaderless';

/** To write into the work tree after the run has ended. */
const toWriteOn: Goal = toDo(({ victim }) => {
  const beat = join(victim.root, 'kept/beat');
  const { size } = statSync(beat);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  if (statSync(beat).size > size) return 'it writes on';
  return size > 0 && processesSeeing(victim.root).length === 0 ? null : `${size} bytes, and it is there`;
});

export const TAKEOVER: Stage = {
  name: 'commands that try to take over',
  byOwner: true,
  files: { '.gitignore': 'kept/\n' },
  prepare(victim) {
    const program = join(victim.root, LEADERLESS);
    victim.put(program, '#!/bin/sh\nwhile :; do echo beat; sleep 0.01; done\n', 0o755);
    if (RUNS_LEADERLESS) writeLeaderlessProgram(program, 4096, { writes: true });
  },
  attacks: [
    commandsIn('Processes and resources', 'takeover', UNTRIED, 'processes')(
      'leaderless',
      'A process whose first thread has ended, and which /proc shows as a zombie, keeps writing into the work tree',
      () =>
        `(setsid ./${LEADERLESS} > kept/beat 2> /dev/null &); until [ -s kept/beat ]; do sleep 0.02; done`,
      toWriteOn,
    ),
    takeover(
      'trace',
      'A command traces process 1 of its sandbox, so that it outlives the run',
      () => `perl -e 'print "seized\\n" if syscall(${PTRACE}, ${PTRACE_SEIZE}, 1, 0, 0) == 0'`,
      toHear('seized'),
    ),
    takeover(
      'memory',
      'A command writes into the memory of process 1, or of its own shell',
      () => `perl -e 'for (1, getppid) { print "open\\n" if open(my $memory, "+<", "/proc/$_/mem") }'; true`,
      toHear('open'),
    ),
    takeover(
      'exit-code',
      'A command takes the descriptor that reports its exit code, and reports a different one',
      () => `${FORGE}; exit 7`,
      toHear('[exit code 0]'),
    ),
    commandsIn('Processes and resources', 'takeover', UNTRIED, 'user')(
      'file-capability',
      'A program in an ignored folder gets a capability',
      () => `mkdir -p kept && cp /bin/sh kept/able && perl -e '
        my ($path, $name, $value) = ("kept/able", "security.capability", ${SET_UID_CAPABILITY});
        print "given\n" if syscall(${SETXATTR}, $path, $name, $value, length $value, 0) == 0'; true`,
      toHear('given'),
    ),
    setId('set-uid', 'A set-uid shell is left in an ignored folder, with chmod', 'chmod 4755 set-uid'),
    setId(
      'set-gid',
      'A set-gid shell is left in an ignored folder, with install',
      'install -m 2755 set-gid x && mv x set-gid',
    ),
    setId(
      'set-uid-new',
      'A set-uid shell is left in an ignored folder, through the mode of a new file',
      `perl -e 'use Fcntl; umask 0; sysopen(my $out, "x", O_CREAT | O_WRONLY, 04755) or die' && mv x set-uid-new`,
    ),
  ],
};

/** Process 1 and the shell of a command are out of reach of what they run, and the exit code is the shell's. */

import { arch } from 'node:process';
import { expect, test } from 'vitest';
import { makePlace, open } from '../fixture.ts';

const CALLS =
  arch === 'arm64'
    ? { ptrace: 117, kcmp: 272, pidfd_open: 434, pidfd_getfd: 438 }
    : { ptrace: 101, kcmp: 312, pidfd_open: 434, pidfd_getfd: 438 };

const PTRACE_SEIZE = 0x4206;

/** Prints `reached WHAT` for every way to process `pid` (Perl) that is open. */
const REACHING = `
  sub reach {
    my ($pid, $name) = @_;
    print "reached $name by ptrace\\n" if syscall(${CALLS.ptrace}, ${PTRACE_SEIZE}, int($pid), 0, 0) == 0;
    print "reached $name by kcmp\\n" if syscall(${CALLS.kcmp}, int($pid), int($$), 1, 0, 0) >= 0;
    my $pidfd = syscall(${CALLS.pidfd_open}, int($pid), 0);
    for my $fd (0 .. 20) {
      print "reached $name by pidfd_getfd\\n" if syscall(${CALLS.pidfd_getfd}, $pidfd, $fd, 0) >= 0;
    }
    for my $file ("mem", "environ", "auxv", "maps", "syscall", "stack") {
      print "reached $name by $file\\n" if open(my $in, "<", "/proc/$pid/$file") and defined(getc $in);
    }
    for my $link ("exe", "cwd", "root", "fd/0", "fd/1", "ns/pid") {
      print "reached $name by $link\\n" if defined readlink "/proc/$pid/$link";
    }
  }`;

test('programs that a command starts can be traced, so that debuggers work', async () => {
  const { text } = await open(makePlace(), 'required');
  // Until it has become its program, a child is a copy of the shell.
  const begun = 'until read -r name < /proc/$!/comm && [ "$name" = sleep ]; do :; done';
  const script = `sleep 60 & ${begun}; perl -e '${REACHING} reach($ARGV[0], "a child")' $!`;
  expect(await text(script)).toContain('reached a child by ptrace\n');
});

test('a shell that is not allowed to be read runs scripts like any other', async () => {
  const { text, run } = await open(makePlace(), 'required');
  const script = `diff <(echo a) <(echo a) && echo same; read -r line < <(echo inner); echo "$line"
    cat <<< doc; echo three 3>&1 >&3 | cat > /dev/stdout; echo "$0"; ($BASH -c "echo again")`;
  expect(await text(script)).toBe('same\ninner\ndoc\nthree\n/usr/bin/bash\nagain\n');
  expect((await run('no-such-program')).output.head).toBe(
    '/usr/bin/bash: line 1: no-such-program: command not found\n',
  );
});

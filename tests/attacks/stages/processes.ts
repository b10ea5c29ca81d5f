/** Processes that try to survive, and commands that try to use up everything. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attack, Goal, Stage } from '../attack.ts';
import { shell, toDo, toHear, toSurvive } from '../goals.ts';
import type { Hold } from '../held-by.ts';
import type { Victim } from '../victim.ts';

const by =
  (...heldBy: Hold[]) =>
  (
    id: string,
    what: string,
    command: (victim: Victim) => string,
    goal: Goal,
    seconds = 60,
    expected: Attack['expected'] = {},
  ): Attack => ({
    id: `processes-${id}`,
    category: 'Processes and resources',
    what,
    does: (victim) => shell(command(victim), seconds),
    goal,
    heldBy,
    expected,
  });
const attack = by('processes');
const byLimit = by('limits');
const byTime = by('deadline');
const byNoTerminal = by('terminal');
const byBounds = by('bounded');

/** A process that the nonce is in the command line of, and that ends by itself after some minutes. */
const sleeper = (mark: string) => `sh -c 'sleep 300; : ${mark}'`;

/** `command` gets the mark that has to be in the command line of what survives. */
function survives(id: string, what: string, command: (mark: string) => string, seconds?: number): Attack {
  return attack(id, what, ({ nonce }) => command(`${nonce}-${id}.`), toSurvive(id), seconds);
}

export const SURVIVORS: Stage = {
  name: 'processes that try to survive',
  byOwner: true,
  attacks: [
    survives('background', 'A background process', (mark) => `${sleeper(mark)} &`),
    survives(
      'nohup',
      'A process that ignores SIGHUP (`nohup`)',
      (mark) => `nohup ${sleeper(mark)} > /dev/null 2>&1 &`,
    ),
    survives('setsid', 'A process in a separate session', (mark) => `setsid ${sleeper(mark)} &`),
    survives(
      'double-fork',
      'A process whose parents have ended',
      (mark) => `(setsid sh -c "(${sleeper(mark)} &) &" &)`,
    ),
    survives(
      'term',
      'A process that ignores SIGTERM, SIGHUP and SIGINT',
      (mark) =>
        `(trap "" TERM HUP INT; setsid sh -c 'trap "" TERM HUP INT; for i in $(seq 300); do sleep 1; done; : ${mark}' &)`,
    ),
    survives(
      'closed',
      'A process without descriptors and variables',
      (mark) =>
        `setsid env -i PATH=/usr/bin:/bin sh -c ': > begun; sleep 300; : ${mark}' < /dev/null > /dev/null 2>&1 & until [ -e begun ]; do sleep 0.05; done`,
    ),
    survives(
      'pipe',
      'A process that keeps the output pipe open',
      (mark) => `${sleeper(mark)} & echo the command is done`,
    ),
    survives(
      'timeout',
      'Processes of a command that runs out of time',
      (mark) => `for i in 1 2 3; do setsid ${sleeper(mark)} & done; ${sleeper(mark)}`,
      1,
    ),
    survives(
      'many',
      'Thirty processes in separate sessions',
      (mark) => `for i in $(seq 30); do setsid ${sleeper(mark)} & done`,
    ),
    survives('killed', 'A process whose shell is killed', (mark) => `setsid ${sleeper(mark)} & kill -9 $$`),
    survives('stopped', 'A process that is stopped', (mark) => `setsid ${sleeper(mark)} & kill -STOP $!`),
    survives(
      'thread',
      'A program with many threads that does not end',
      (mark) =>
        `setsid node -e 'const { Worker } = require("node:worker_threads"); for (let i = 0; i < 8; i += 1) new Worker("setInterval(() => {}, 1000)", { eval: true }); setTimeout(() => process.exit(), 300000)' ${mark} > /dev/null 2>&1 & sleep 0.3`,
    ),
    {
      ...attack(
        'heartbeat',
        'A process that keeps writing into the work tree between two calls',
        () => '',
        toDo(({ victim, results: [, seen] }) => {
          const beat = readFileSync(join(victim.root, 'beat'), 'utf8');
          return seen?.text.startsWith(beat) ? null : `it wrote ${beat} after ${seen?.text}`;
        }),
      ),
      does: () => [
        ...shell(
          "(setsid sh -c 'for i in $(seq 3000); do echo $i > beat; sleep 0.1; done' > /dev/null 2>&1 &); until [ -s beat ]; do sleep 0.05; done",
        ),
        ...shell('cat beat; sleep 1'),
      ],
    },
    attack(
      'signal',
      'A command kills every process it can',
      () => 'kill -9 -1',
      toDo(({ run }) => (run.exitCode === 0 ? null : 'the runner died')),
      10,
      { none: 'untried' },
    ),
    attack(
      'runner',
      "A command stops the runner's process",
      () => 'kill -STOP $PPID && echo was stopped',
      toDo(({ run }) => (run.exitCode === 0 ? null : 'the runner died')),
      10,
      { none: 'untried' },
    ),
    attack(
      'trace',
      'A command finds the runner among the processes',
      ({ folder }) =>
        `ls /proc | grep -c '^[0-9]' ; for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done | grep '${folder}.*[-]-max-iterations' && echo runner seen`,
      toHear('runner seen'),
      10,
      { lite: 'open', landlock: 'open', none: 'open' },
    ),
  ],
};

const KIB = 1024;
const MEMFD_CREATE = process.arch === 'arm64' ? 279 : 319;

export const RESOURCES: Stage = {
  name: 'commands that exhaust the machine',
  files: { '.gitignore': 'grown*\n' },
  args: ['--max-processes', '80', '--max-memory', '400m', '--max-file-size', '4m'],
  attacks: [
    byLimit(
      'bomb',
      'A fork bomb, stopped at 400 processes if nobody else does',
      () => 'for i in $(seq 400); do sleep 5 & done; echo all were started; wait',
      toHear('all were started\n[exit code 0]'),
      20,
    ),
    byLimit(
      'bomb-endless',
      'A fork bomb that forks as fast as it can',
      () => "perl -e 'fork while 1'",
      toDo(({ said }) =>
        /more processes than --max-processes allows/.test(said) ? null : said.slice(0, 200),
      ),
      20,
      // As root, nothing but the watch is between it and the machine, which has no time for other tests meanwhile.
      { lite: 'untried', landlock: 'untried', none: 'untried' },
    ),
    byLimit(
      'memory',
      'A command that takes 1 GB of memory',
      () =>
        `perl -e 'my @a; for (1..100) { push @a, "x" x (10 * 1024 * 1024); select undef, undef, undef, 0.02; } sleep 15; print "has it all\\n"'`,
      toHear('has it all'),
      20,
    ),
    byLimit(
      'memfd',
      'A command that keeps 600 MB in files without a name (`memfd_create`)',
      () =>
        `perl -e 'for (1 .. 150) { my $name = "held"; my $fd = syscall(${MEMFD_CREATE}, $name, 0); open(my $out, ">&=", $fd); syswrite($out, "x" x 4000000); push @held, $out; select undef, undef, undef, 0.01; } sleep 15; print "has it all\\n"'`,
      toHear('has it all'),
      20,
    ),
    byLimit(
      'tmpfs',
      'A command that keeps 600 MB in files of `/tmp` and `/dev/shm`',
      () =>
        'for i in $(seq 75); do head -c 4000000 /dev/zero > /tmp/held-$i; head -c 4000000 /dev/zero > /dev/shm/held-$i; done; sleep 15; echo has it all',
      toHear('has it all'),
      20,
      // There they are the machine's, or on a disk.
      { none: 'untried', landlock: 'untried' },
    ),
    byLimit(
      'file',
      'A file that grows to 100 MB',
      () => 'head -c 100000000 /dev/zero > grown; echo "bytes: $(stat -c %s grown)"',
      toHear('bytes: 100000000'),
      20,
    ),
    byLimit(
      'sparse',
      'A sparse file of a terabyte',
      () => 'truncate -s 1T grown-sparse && echo was made',
      toHear('was made'),
      20,
    ),
    by('deadline', 'bounded')(
      'flood',
      'Output without end',
      () => 'yes',
      toDo(({ said }) => (/timed out/.test(said) && said.length < 50_000 ? null : said.slice(0, 200))),
      1,
    ),
    by('deadline', 'bounded')(
      'flood-line',
      'Endless output without a line break',
      () => 'cat /dev/zero',
      toDo(({ said }) => (/timed out/.test(said) && said.length < 500_000 ? null : said.slice(0, 200))),
      1,
    ),
    byTime(
      'sleep',
      'A command that sleeps forever',
      () => 'sleep infinity',
      toDo(({ said }) => (/timed out/.test(said) ? null : said)),
      1,
    ),
    byTime(
      'busy',
      'A command that computes forever',
      () => 'while :; do :; done',
      toDo(({ said }) => (/timed out/.test(said) ? null : said)),
      1,
    ),
    byNoTerminal(
      'terminal',
      'A program that prompts on the terminal',
      () => 'read -r answer < /dev/tty && echo was asked',
      toDo(({ said }) => (/exit code|No such device/.test(said) && !/timed out/.test(said) ? null : said)),
      20,
    ),
    byNoTerminal(
      'stdin',
      'A program that reads its standard input',
      () => 'cat; read -r answer; git commit --allow-empty < /dev/stdin; echo went on',
      toDo(({ said }) => (said.includes('went on') ? null : said)),
      20,
    ),
    byNoTerminal(
      'password',
      'A program that asks for a password',
      () => 'ssh-keygen -y -f /nonexistent; sudo -S true; su -c true; true',
      toDo(({ said }) => (/timed out/.test(said) ? said : null)),
      20,
    ),
    byTime(
      'ever',
      'A time limit of a year',
      () => 'echo begun',
      toDo(({ said }) => (said.includes('is capped at') ? null : said)),
      31_536_000,
    ),
    attack(
      'argument',
      'A command of a megabyte',
      () => `: ${'x'.repeat(KIB * KIB)}; echo went on`,
      toDo(({ said }) => (said.includes('went on') ? null : said.slice(0, 300))),
      20,
    ),
    attack(
      'names',
      'Ten thousand files with long names',
      () =>
        'mkdir grown-names; cd grown-names; seq 10000 | sed "s/.*/&-$(head -c 200 /dev/zero | tr "\\0" n)/" | xargs touch; cd ..; rm -r grown-names; echo went on',
      toDo(({ said }) => (said.includes('went on') ? null : said.slice(0, 300))),
      30,
    ),
    {
      ...byBounds(
        'deep',
        'Nested folders, deeper than any path',
        () => '',
        toDo(({ results }) => (results.every(({ status }) => status === 'ok') ? null : 'a call failed')),
      ),
      does: () => [
        ...shell(`perl -e 'for (1..20) { $n = "d" x 250; mkdir $n; chdir $n }'`, 60),
        ...shell('rm -r d*', 60),
      ],
    },
  ],
};

/** Apart, since it counts what anybody writes to the disk meanwhile. */
export const DISK: Stage = {
  name: 'a command that fills the disk',
  files: { '.gitignore': 'grown*\n' },
  args: ['--max-disk', '64m', '--max-file-size', '4m'],
  attacks: [
    byLimit(
      'disk',
      'Many files that fill the disk, to 400 MB if nobody else stops it',
      () =>
        'for i in $(seq 100); do head -c 4000000 /dev/zero > grown-$i; done; sleep 20; echo all are written',
      toHear('all are written'),
      30,
    ),
  ],
};

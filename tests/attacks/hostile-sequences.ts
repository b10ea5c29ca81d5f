/** Hostile commands and tool calls at random: chmod, rename, exchange, links, signals, ptrace, repositories, closed folders. */

import fc from 'fast-check';
import { call } from '../support/runs/scripted-run.ts';

const PLACES = [
  ...[
    'a.txt',
    'src',
    'src/x.js',
    'tests',
    'tests/t.js',
    'tests/deep/u.js',
    'vendor',
    'vendor/sub',
    'vendor/sub/s.txt',
  ],
  ...['vendor/sub/.git', 'kept', 'kept/k', 'new', 'new/deep', 'new/deep/n.txt', '.git', '.gitignore', '.'],
];
const place = fc.constantFrom(...PLACES);
const mode = fc.constantFrom(
  '000',
  '111',
  '444',
  '555',
  '644',
  '755',
  '2755',
  '4755',
  'u-w',
  'a-x',
  'g+s,u+s',
);

const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316;
const PTRACE = process.arch === 'arm64' ? 117 : 101;

/** Shell text; `V` stands for the victim's folder, `N` for its nonce. */
const command = fc.oneof(
  fc.tuple(mode, place).map(([how, at]) => `chmod ${how} ${at}`),
  fc.tuple(mode, place).map(([how, at]) => `chmod -R ${how} ${at}`),
  fc.tuple(place, place).map(([from, to]) => `mv ${from} ${to}`),
  fc.tuple(place, place).map(([from, to]) => `mv -T ${from} ${to}; mkdir -p ${from}`),
  fc
    .tuple(place, place)
    .map(
      ([one, other]) =>
        `perl -e 'my ($p, $q) = @ARGV; syscall(${RENAMEAT2}, -100, $p, -100, $q, 2)' ${one} ${other}`,
    ),
  fc
    .tuple(place, place)
    .map(
      ([one, other]) =>
        `ln -s V/outside swapped; (setsid perl -e 'my ($p, $q) = @ARGV; syscall(${RENAMEAT2}, -100, $p, -100, $q, 2) while 1' ${one} swapped N &); cat ${other}/* | head -c 100`,
    ),
  place.map((at) => `ln -sfn V/outside ${at}`),
  place.map((at) => `rm -rf ${at}; ln -s V/outside ${at}`),
  place.map((at) => `ln -f V/outside/canary ${at}; ln -f ${at} linked`),
  place.map((at) => `rm -rf ${at}`),
  place.map((at) => `echo tampered >> ${at}`),
  place.map((at) => `rm -rf ${at}; mkfifo ${at}`),
  place.map((at) => `truncate -s 2M ${at}`),
  place.map((at) => `mkdir -p ${at} && cp /bin/sh ${at}/shell && chmod 4755 ${at}/shell`),
  place.map((at) => `git init -q ${at}; git -C ${at} config core.fsmonitor V/traps/fsmonitor`),
  place.map(
    (at) =>
      `mkdir -p ${at}; git init -q --bare planted; git -C planted config core.fsmonitor V/traps/fsmonitor; echo "gitdir: $PWD/planted" > ${at}/.git`,
  ),
  place.map(
    (at) =>
      `git init -q --bare ${at}; git -C ${at} config core.bare false; git -C ${at} config core.worktree .; git -C ${at} config core.fsmonitor V/traps/fsmonitor; echo x > ${at}/refs/keep; echo x > ${at}/objects/keep`,
  ),
  place.map(
    (at) =>
      `printf '* filter=trap\\n' > ${at}/.gitattributes; git config --global filter.trap.clean V/traps/fsmonitor`,
  ),
  place.map((at) => `printf '%s\\n' '**/a/**/b' '*' '!keep' > ${at}/.gitignore`),
  place.map((at) => `git mv ${at} moved; git stash; git clean -fdx; git checkout -f HEAD~0`),
  fc.constantFrom(
    'cat V/outside/canary V/home/.netrc /etc/shadow /proc/1/environ',
    'echo tampered > V/outside/canary; echo tampered > V/home/.netrc; touch V/outside/new',
    "(setsid sh -c 'while :; do echo alive >> a.txt; sleep 0.01; done' N &)",
    "(trap '' TERM; setsid sleep 300 N & ) ; kill -STOP $$",
    'kill -9 -1',
    'kill -STOP 1; kill -9 1; kill -INT 1 $PPID',
    `perl -e 'syscall(${PTRACE}, 0x4206, $_, 0, 0) for 1, getppid; syscall(438, syscall(434, 1, 0), 3, 0)'`,
    'umask 777; mkdir -p new/deep; echo x > new/deep/closed',
    'find . -path ./.git -prune -o -print0 | xargs -0 chmod 000',
    'head -c 3000000 /dev/zero | tr "\\0" "\\n" > lines.txt',
    'for i in $(seq 200); do echo $i > many-$i; done',
    'mkdir -p $(printf "d/%.0s" $(seq 60))',
  ),
);
const tool = fc.oneof(
  place.map((path) => call('read_file', { path })),
  place.map((path) => call('write_file', { path, content: 'written\n' })),
  place.map((path) => call('edit_file', { path, find: 'a', replace: 'b' })),
  place.map((path) => call('list_files', { path })),
  place.map((path) => call('search', { path, pattern: 'cnry|root:|[a-z]' })),
);
/** One to five hostile commands and tool calls. */
export const hostileSequence = fc.array(
  fc.oneof(
    {
      arbitrary: command.map((text) => call('run_command', { command: text, timeout_seconds: 2 })),
      weight: 2,
    },
    { arbitrary: tool, weight: 1 },
  ),
  { minLength: 1, maxLength: 5 },
);

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, type Repository, separated } from '../../support/files/repository.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { WITHOUT_NAMESPACES } from '../../support/machine/without-filters.ts';
import { call, type ScriptedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { until } from '../../support/waiting/until.ts';

/** A run in a container that refuses namespaces. */
const runThere = ({ args = [], ...run }: ScriptedRun) =>
  scriptedRun({ ...run, built: true, wrap: WITHOUT_NAMESPACES, args: ['--sandbox', 'required', ...args] });

const bash = (command: string) => ({ calls: [call('run_command', { command })] });

test('where namespaces are refused, Landlock contains commands, and the result says so', async () => {
  const repository = await separated({ 'a.txt': 'a\n' });
  const dotGit = readFileSync(join(repository.root, '.git'), 'utf8');
  const server = `require('http').createServer((q, r) => r.end('served')).listen(0, async function () { console.log(await (await fetch('http://localhost:' + this.address().port)).text()); process.exit() })`;
  const run = await runThere({
    repository,
    turns: [
      bash(
        'echo b > a.txt; mkdir sub && mv a.txt sub/a.txt && mv sub/a.txt . && rmdir sub && git status --short',
      ),
      bash(`node -e "${server}"`),
      bash(
        'cat /etc/shadow; ls /root/ /home/; kill -9 $PPID; echo x > /tmp/planted; cat "$GIT_DIR/../../events.jsonl"',
      ),
      bash('echo "gitdir: /nowhere" > .git; (setsid sleep 1000 &); echo ended'),
      bash(
        'rm .git; mkdir .git; echo x > .git/x; D=$(realpath "$GIT_DIR/../.."); chmod 000 "$D/scratch"/* "$D"/* "$D" "$(dirname "$D")"; echo ended',
      ),
      bash('rm .git; mkdir .git; echo x > .git/x; touch .git-replaced-$PPID; echo ended; chmod 000 .'),
      { text: 'Done.' },
    ],
    args: ['--verify', 'grep -q b a.txt'],
  });
  expect([run.result.sandbox, run.result.outcome], run.stderr).toEqual(['landlock', 'done']);
  expect(run.result.warnings).toEqual([expect.stringMatching(/^\[WARN_SANDBOX_LANDLOCK\] /)]);
  const said = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
  expect(said[0]).toContain(' M a.txt');
  expect(said[1]).toContain('served');
  expect(said[2]?.match(/ermission denied|not permitted/g)).toHaveLength(6);
  expect(said.slice(3).every((text) => text.includes('ended'))).toBe(true);
  expect(run.patch).toContain('+b');
  expect(readFileSync(join(repository.root, '.git'), 'utf8')).toBe(dotGit);
  expect(existsSync('/tmp/planted')).toBe(false);
  const modes = ['..', '', 'shadow.git', 'events.jsonl'].map((name) => statSync(join(run.runDir, name)).mode);
  expect(modes.map((mode) => mode & 0o700)).toEqual([0o700, 0o700, 0o700, 0o600]);
});

test('Maven is told of its mounted repository and of the proxy, in the one variable that there is', async () => {
  const HOME = tempFolder({ '.m2/repository/x': 'jar' });
  const run = await runThere({
    repository: await separated({ 'a.txt': 'a\n' }),
    env: { HOME },
    turns: [bash('echo "$MAVEN_OPTS"'), { text: 'Done.' }],
    args: ['--mount', join(HOME, '.m2/repository'), '--allow-domain', 'good.example'],
  });
  const said = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
  expect(said[0], run.stderr).toMatch(/-Dmaven\.repo\.local=\/\S+\/\.m2\/repository -Dhttp\.proxyHost=/);
});

test('what a command writes into `.git` of a fresh checkout gives the next one no rights', async () => {
  const run = await runThere({
    repository: await separated({ 'a.txt': 'a\n' }),
    turns: [bash('echo b > a.txt'), { text: 'Done.' }],
    args: [
      ...['--verify-in', 'checkout'],
      ...['--verify', String.raw`rm -rf .git; printf 'gitdir: x\0w0:0:/\0' > .git`],
      ...['--verify', '! cat /etc/shadow'],
    ],
  });
  expect([run.result.sandbox, run.result.outcome], run.stderr).toEqual(['landlock', 'done']);
});

/** Changes whether connecting to a full queue waits, while the broker looks. */
const STALL = `use Socket; use Fcntl;
my $at = sockaddr_un('full');
sub one { socket my $made, AF_UNIX, SOCK_STREAM, 0; fcntl $made, F_SETFL, O_NONBLOCK; $made }
my $full = one(); bind $full, $at; listen $full, 0;
my @first = map { my $made = one(); connect $made, $at; $made } 1 .. 3;
for (1 .. 60) {
  next if fork;
  my $made = one();
  if (!fork) { while (1) { fcntl $made, F_SETFL, $_ for 0, O_NONBLOCK } }
  connect $made, $at for 1 .. 1e5;
  exit;
}
sleep 4;
open my $ready, '>', 'ready';
sleep 1e6;
`;

/** The ports of the machine on which a process listens. */
function portsOf(pid: number): string[] {
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/ +/));
  return rows.flatMap(([, at = '', , state, , , , , , inode]) =>
    state === '0A' && open.includes(`socket:[${inode}]`) ? [at] : [],
  );
}

testAtNight(
  'no process and no edited `.git` outlives a launcher and a runner that are killed, whatever the command does',
  async () => {
    const repository = await separated({ 'a.txt': 'a\n', 'stall.pl': STALL });
    const [ready, dotGit] = ['ready', '.git'].map((name) => join(repository.root, name)) as [string, string];
    const [before, seconds] = [readFileSync(dotGit, 'utf8'), oddSeconds()];
    await runThere({
      repository,
      turns: [bash(`echo x > .git; (setsid sleep ${seconds} &); perl stall.pl`)],
      during: async ({ pid }) => {
        await until('the command has done its worst', () => existsSync(ready));
        expect(portsOf(pid)).toEqual([]);
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
        const launcher = processesWith(seconds).filter((one) => children.includes(one));
        for (const one of [...launcher, pid]) process.kill(one, 'SIGKILL');
        await until('everything of it is gone', () => processesWith(seconds).length === 0);
        await until('`.git` is back', () => readFileSync(dotGit, 'utf8') === before);
      },
    });
  },
);

/** Fills the queue of its own listener, and then stops listening. */
const PENDING = `use Socket; use Fcntl;
socket my $own, AF_INET, SOCK_STREAM, 0; bind $own, sockaddr_in(0, INADDR_LOOPBACK); listen $own, 0;
my ($port) = sockaddr_in(getsockname $own);
my @made = map { socket my $made, AF_INET, SOCK_STREAM, 0; fcntl $made, F_SETFL, O_NONBLOCK;
  connect $made, sockaddr_in($port, INADDR_LOOPBACK); $made } 1 .. 6;
close $own; open my $file, '>', 'port'; print $file "$port."; close $file;
sleep 3;
`;

testAtNight(
  'a connection that waits for a listener of the command reaches no other that takes its place',
  async () => {
    const repository = await separated({ 'a.txt': 'a\n', 'pending.pl': PENDING });
    const port = join(repository.root, 'port');
    let reached = 0;
    const outside = createServer(() => reached++);
    const { result } = await runThere({
      repository,
      turns: [bash('perl pending.pl'), { text: 'Done.' }],
      during: async () => {
        await until(
          'the command has left',
          () => existsSync(port) && readFileSync(port, 'utf8').endsWith('.'),
        );
        await once(outside.listen(Number.parseInt(readFileSync(port, 'utf8'), 10), '127.0.0.1'), 'listening');
      },
    });
    outside.close();
    expect([result.sandbox, reached]).toEqual(['landlock', 0]);
  },
);

test('nothing of the command listens beside a service of the machine, where `localhost` may lead', async () => {
  const service = createServer().listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  const listens = `for (const [host, port] of [['::1', ${port}], ['127.0.0.2', ${port}], ['::', ${port}], ['::1', 0]])
    require('net').createServer().on('error', (error) => console.log(host, error.code)).listen(port, host, function () { console.log(host, 'listens'); this.close() })`;
  const run = await runThere({
    repository: await separated({ 'a.txt': 'a\n', 'listen.js': listens }),
    turns: [bash('node listen.js'), { text: 'Done.' }],
  });
  service.close();
  const said = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
  const lines = said
    .join()
    .split('\n')
    .filter((line) => /^(::|127)/.test(line))
    .sort();
  expect(lines).toEqual(['127.0.0.2 EADDRINUSE', '::1 EADDRINUSE', '::1 listens', ':: EADDRINUSE'].sort());
});

test('the broker is an ancestor of all that the command starts: only such a one may read its memory under Yama', async () => {
  const repository = await separated({ 'a.txt': 'a\n' });
  const seconds = oddSeconds();
  await runThere({
    repository,
    turns: [bash(`(setsid sleep ${seconds} &); sleep ${seconds}`)],
    during: async ({ pid }) => {
      const sleeps = () => processesWith(seconds).filter((one) => commandLine(one).startsWith('sleep'));
      await until('it sleeps twice', () => sleeps().length === 2);
      const brokers = sleeps().map((one) => ancestors(one, pid).filter(hasListener));
      expect(brokers).toEqual([[expect.any(Number)], brokers[0]]);
      process.kill(pid, 'SIGTERM');
    },
  });
});

const commandLine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

function ancestors(pid: number, upTo: number): number[] {
  const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return parent === upTo ? [] : [parent, ...ancestors(parent, upTo)];
}

function hasListener(pid: number): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) =>
    readlinkSync(`/proc/${pid}/fd/${fd}`).includes('seccomp notify'),
  );
}

testAtNight(
  'after the commands of the refusal it works, with a submodule that has its git dir there, too',
  async () => {
    const [repository, other] = [await makeRepository({ 'a.txt': 'a\n' }), await makeRepository({})];
    await repository.git(
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      other.root,
      'part',
    );
    await repository.git('commit', '--quiet', '--message', 'Part');
    const run = () => runThere({ repository, turns: [bash('echo b > a.txt'), { text: 'Done.' }] });
    const [steps = ''] = /git -C .* --recursive/.exec((await run()).result.reason ?? '') ?? [];
    execFileSync('sh', ['-c', steps], { stdio: 'ignore' });
    const { result } = await run();
    expect([result.sandbox, result.changedFiles.length], result.reason ?? '').toEqual(['landlock', 1]);
    expect(await repository.git('status', '--short')).toBe(' M a.txt');
  },
);

test('a git dir in the work tree and --sandbox-level refuse it, with what to do', async () => {
  const inside = await makeRepository({ 'a.txt': 'a\n' });
  const run = (repository: Repository, ...args: string[]) =>
    runThere({ repository, turns: [{ text: 'Done.' }], args });
  const refused = await run(inside);
  expect([refused.exitCode, refused.result.errorCode]).toEqual([10, 'ERR_SANDBOX_UNAVAILABLE']);
  expect(refused.result.reason).toContain(`git -C ${inside.root} init --separate-git-dir`);
  const asked = await run(await separated({ 'a.txt': 'a\n' }), '--sandbox-level', 'namespaces-lite');
  expect([asked.exitCode, asked.result.errorCode]).toEqual([10, 'ERR_SANDBOX_UNAVAILABLE']);
});

test('a `.git` file that a command has moved with its folder is removed, whatever it says by then', async () => {
  const repository = await separated({ 'a.txt': 'a\n' });
  const place = (name: string) => join(repository.root, name);
  const gitDir = join(dirname(repository.root), 'part.git');
  await repository.git('init', '--quiet', '--separate-git-dir', gitDir, 'part');
  const { result } = await runThere({
    repository,
    turns: [
      bash('mkdir deep && mv part deep/part && echo "gitdir: /nowhere" > deep/part/.git'),
      { text: 'Done.' },
    ],
  });
  expect([existsSync(place('deep/part')), existsSync(place('deep/part/.git'))], result.reason ?? '').toEqual([
    true,
    false,
  ]);
  expect(result.warnings).toContainEqual(expect.stringMatching(/WARN_GIT_DIR_REMOVED.*deep\/part\/\.git/));
  expect(existsSync(gitDir)).toBe(true);
});

/** Random trees of links that mounts of every kind lead into, and random swaps between and beside commands: nothing outside is ever reached. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formFound } from '../../attacks/canaries.ts';
import { Victim } from '../../attacks/victim.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { IS_FULL, MATRIX_MS } from '../../support/setup/sample.ts';

/** Folders that commands can write to: in the work tree, and in a writable mount. `objects`: git borrows from no other name. */
const WRITABLE = [
  'root/x/objects',
  'root/y/objects',
  'root/y/z/objects',
  'writable/objects',
  'writable/b/bin',
];
/** Where links lead, from the folder of the victim. */
const TARGETS = [
  '/',
  '/',
  'outside',
  'outside/objects',
  'root',
  'outside/back',
  'root/x',
  'root/y/objects',
  'writable',
];

/** The system call that exchanges two names at once, with flag 2. */
const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316;

const writable = fc.constantFrom(...WRITABLE);
const target = fc.constantFrom(...TARGETS);
/** Names for one of them, as a mount may be given it: through `..`, through a link outside, through a link to that. */
const source = writable.chain((at) =>
  fc.constantFrom(
    at,
    at,
    `outside/../${at}`,
    at.replace(/^root/, 'outside/back'),
    at.replace(/^root/, 'outside/back2'),
    at.replace(/^writable/, 'outside/side'),
  ),
);

const scene = fc.record({
  /** What is no folder when the run begins. */
  links: fc.array(fc.tuple(writable, target), { maxLength: 1 }),
  alternates: fc.array(source, { maxLength: 2 }),
  path: fc.array(source, { maxLength: 1 }),
  variable: fc.option(fc.tuple(fc.constantFrom('JAVA_HOME', 'GOROOT', 'RUSTUP_HOME'), source), { freq: 2 }),
  mount: fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: source },
    // It has a socket, as deep as that.
    { weight: 1, arbitrary: fc.constantFrom('shared', 'shared/a', 'shared/a/b') },
  ),
  /** What a command keeps exchanging with a link while others begin and look. */
  exchanges: fc.array(fc.tuple(writable, fc.boolean(), target), { maxLength: 2 }),
  swaps: fc.array(fc.tuple(writable, fc.boolean(), target), { minLength: 3, maxLength: 5 }),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

/** Each is a run of the built command. By day, the attacks with mounts, covers and exchanges try the same kinds. */
const TREES = IS_FULL ? 300 : 4;

/** The same ones each time, so that no change fails by chance. */
const SCENES = fc.sample(scene, { numRuns: TREES, seed: 5 }).map((one, at) => [at, one] as const);

test.concurrent.each(SCENES)(
  'the mounts of tree %i lead nowhere else',
  async (_at, given) => {
    const victim = await Victim.make({ 'src/x.js': 'x\n' });
    const connections = await plantOutside(victim);
    await plantLinks(victim, given);
    const inFolder = (path: string) => join(victim.folder, path);
    const look = lookEverywhere(victim);
    victim.put(join(victim.root, 'src/look.sh'), look);
    const placeAndTarget = ([place, isParent, to]: Scene['swaps'][number]) => ({
      at: inFolder(isParent ? dirname(place) : place),
      to: to === '/' ? to : inFolder(to),
    });
    const swaps = given.swaps.map(placeAndTarget).flatMap(({ at, to }) => {
      return [[`rm -rf ${at}; mkdir -p ${dirname(at)}; ln -sfn ${to} ${at}; true`], [look]];
    });
    const exchanges = given.exchanges
      .map(placeAndTarget)
      .map(({ at, to }, turn) => [
        exchanging(at, to),
        ...[1, 2, 3].map((wait) => `sleep 0.${wait}${turn}; ${look}`),
      ]);
    const commands = [...exchanges, ...swaps];
    const { alternates, path, variable, mount } = given;
    if (alternates.length > 0)
      victim.put(
        join(victim.root, '.git/objects/info/alternates'),
        alternates.map((one) => `${victim.folder}/${one}\n`).join(''),
      );
    try {
      const run = await scriptedRun({
        repository: victim,
        runDir: victim.runDir,
        built: true,
        turns: [
          ...commands.map((beside) => ({ calls: beside.map((command) => call('run_command', { command })) })),
          { text: 'Done.' },
        ],
        args: [
          ...['--sandbox', 'required', '--max-iterations', '50', '--mount', `${inFolder('writable')}:rw`],
          // It has a sandbox of its own, which opens when the commands have run.
          ...['--verify', 'bash src/look.sh'],
          ...(mount === null ? [] : ['--mount', `${victim.folder}/${mount}`]),
        ],
        env: {
          HOME: victim.home,
          PATH: [...path.map((one) => `${victim.folder}/${one}`), process.env.PATH].join(':'),
          ...(variable === null ? {} : { [variable[0]]: `${victim.folder}/${variable[1]}` }),
        },
      });
      const said = JSON.stringify(run.events);
      expect(
        {
          outcome: run.result.outcome,
          seen: formFound(said, victim.canary('outside')),
          said: /root:[*!$]|was connected/.exec(said)?.[0] ?? null,
          connections: connections(),
        },
        `${run.result.reason}\n${run.stderr}`,
      ).toEqual({
        outcome: expect.stringMatching(/^(?:done|no_change|usage_error)$/),
        seen: null,
        said: null,
        connections: 0,
      });
    } finally {
      victim.listeners.close();
    }
  },
  MATRIX_MS,
);

/** A secret, and sockets; returns how many have connected to them. */
async function plantOutside(victim: Victim): Promise<() => number> {
  let connections = 0;
  for (const folder of ['', 'objects', 'bin'])
    victim.put(join(victim.outside, folder, 'secret.txt'), `${victim.canary('outside')}\n`);
  const count = () => {
    connections += 1;
  };
  mkdirSync(join(victim.folder, 'shared/a/b'), { recursive: true });
  for (const folder of ['outside', 'shared/a/b'])
    await listenAt(join(victim.folder, folder, 'socket'), count);
  return () => connections;
}

async function listenAt(path: string, connected: () => void): Promise<void> {
  const server = createServer((connection) => {
    connected();
    connection.on('error', () => {});
    connection.end();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  server.unref();
}

/** Exchanges a place with a link beside it for half a second, without a moment at which either is missing. */
function exchanging(at: string, to: string): string {
  const loop = `my ($at, $link) = @ARGV; for (my $end = time + 0.5; time < $end;) { syscall(${RENAMEAT2}, -100, $at, -100, $link, 2) }`;
  return `ln -sfn ${to} ${at}.link; perl -MTime::HiRes=time -e '${loop}' ${at} ${at}.link; true`;
}

async function plantLinks(victim: Victim, { links }: Pick<Scene, 'links'>): Promise<void> {
  const { folder, outside, root } = victim;
  symlinkSync(root, join(outside, 'back'));
  symlinkSync('back', join(outside, 'back2'));
  symlinkSync(join(folder, 'writable'), join(outside, 'side'));
  for (const place of WRITABLE) {
    const to = links.find(([at]) => at === place)?.[1];
    mkdirSync(join(folder, dirname(place)), { recursive: true });
    if (to === undefined) mkdirSync(join(folder, place), { recursive: true });
    else symlinkSync(to === '/' ? to : join(folder, to), join(folder, place));
  }
}

/** Reads the secret and connects to the socket, by every name of a mount. */
function lookEverywhere({ folder, outside }: Victim): string {
  const places = [
    ...WRITABLE.flatMap((at) => [at, dirname(at)]),
    'outside',
    'outside/back',
    'outside/side',
    'shared/a/b',
  ];
  const connect =
    'perl -MIO::Socket::UNIX -e \'IO::Socket::UNIX->new(Peer => $ARGV[0]) and print "was ", "connected"\'';
  return [
    `for at in ${places.map((at) => `${folder}/${at}`).join(' ')} /run/patchsmith/*; do for in in $at $at/objects $at/bin $at${outside}; do`,
    // Without a process for each.
    `for file in $in/secret.txt $in/etc/shadow; do read -r line < $file && echo "$line"; done; [ ! -S $in/socket ] || ${connect} $in/socket;`,
    'done; done 2> /dev/null; true',
  ].join(' ');
}

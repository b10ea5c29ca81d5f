import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginAnew } from '../../../../src/adapters/workspace/begin-anew.ts';
import { beginWorkspace, type WorkspacePlaces } from '../../../../src/adapters/workspace/open.ts';
import { reopenWorkspace } from '../../../../src/adapters/workspace/reopen.ts';
import { revertChanges } from '../../../../src/adapters/workspace/restore/restore.ts';
import type { BaselineStage } from '../../../../src/adapters/workspace/snapshot/snapshot.ts';
import type { FileState, PathChange, Writer } from '../../../../src/domain/changes/change.ts';
import { isRuleFile } from '../../../../src/domain/changes/path.ts';
import { listTree } from '../../../../src/git/store/tree-listing.ts';
import type { Workspace } from '../../../../src/ports/workspace.ts';
import { MATRIX_MS, randomCases } from '../../../support/setup/sample.ts';
import { at, filesBelow, ScratchCheckout } from '../scratch-checkout.ts';

const FOLDERS = ['', 'src/', 'src/deep/', 'lib/', 'out/', 'inner/', 'bare/'];
const NAMES = ['a.txt', 'b.txt', 'c.log', 'd.id', 'e.crlf', 'f.bin', 'HEAD', 'Ünï.txt'];
const CONTENTS = ['', 'one\n', 'one\ntwo\n', 'win\r\n', '$Id$\n', 'a\0b', 'x'.repeat(20)];
const IGNORES = ['', '*.log\n', 'out/\n', '/src/*\n!/src/deep\n', 'deep/\n*.bin\n'];
const ATTRIBUTES = [
  '',
  '* text=auto\n',
  '*.id ident\n',
  '*.crlf text eol=crlf\n*.bin filter=lfs\n',
  '* -text\n',
];
/** What has been done to the checkout since its last commit. */
const EDITS = [
  'modify',
  'same_size',
  'touch',
  'remove',
  'executable',
  'link',
  'hard_link',
  'folder_link',
  'empty_folder',
  'git_folder',
  'bare',
  'skip_worktree',
  'assume_unchanged',
  'intend',
  'stage',
  'closed',
  'made',
] as const;

const path = fc.tuple(fc.constantFrom(...FOLDERS), fc.constantFrom(...NAMES)).map((parts) => parts.join(''));
const content = fc.constantFrom(...CONTENTS);
const plan = fc.record({
  committed: fc.array(fc.tuple(path, content, fc.boolean()), { minLength: 3, maxLength: 14 }),
  ignores: fc.array(fc.tuple(fc.constantFrom(...FOLDERS), fc.constantFrom(...IGNORES)), { maxLength: 2 }),
  attributes: fc.array(fc.tuple(fc.constantFrom(...FOLDERS), fc.constantFrom(...ATTRIBUTES)), {
    maxLength: 2,
  }),
  autocrlf: fc.constantFrom('false', 'input', 'true'),
  fileMode: fc.boolean(),
  edits: fc.array(fc.tuple(fc.constantFrom(...EDITS), path, content), { maxLength: 8 }),
  writes: fc.array(fc.tuple(path, content, fc.nat(6)), { minLength: 1, maxLength: 6 }),
  /** What happens once the baseline is there, as by a command. */
  later: fc.array(
    fc.tuple(fc.constantFrom('modify', 'remove', 'move', 'unignore', 'attributes'), path, content),
    {
      maxLength: 4,
    },
  ),
  /** After how many writes each stage is left, at the earliest. */
  held: fc.record({ begun: fc.nat(7), walked: fc.nat(7), compared: fc.nat(7), taken: fc.nat(7) }),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

function make({ committed, ignores, attributes, autocrlf, fileMode, edits }: Plan): ScratchCheckout {
  const scratch = new ScratchCheckout();
  scratch.git('config', 'core.autocrlf', autocrlf);
  scratch.git('config', 'core.safecrlf', 'false');
  scratch.git('config', 'core.fileMode', String(fileMode));
  for (const [name, text, executable] of committed) scratch.write(name, text, executable ? 0o755 : 0o644);
  for (const [folder, rules] of attributes) scratch.write(`${folder}.gitattributes`, rules);
  // Otherwise what the index proves would depend on how fast it was written.
  for (const [name] of committed) if (scratch.isFile(name)) setBack(scratch, name);
  scratch.git('add', '--all', '--force');
  for (const [folder, rules] of ignores) scratch.write(`${folder}.gitignore`, rules);
  scratch.commit();
  for (const [kind, name, text] of edits) edit(scratch, kind, name, text);
  const later = Date.now() / 1000 + 60;
  utimesSync(scratch.path('.git/index'), later, later);
  return scratch;
}

function setBack(scratch: ScratchCheckout, name: string): void {
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(scratch.path(name), hourAgo, hourAgo);
}

function edit(scratch: ScratchCheckout, kind: (typeof EDITS)[number], name: string, text: string): void {
  const folder = name.split('/').slice(0, -1).join('/');
  const isThere = scratch.isFile(name) && lstatSync(scratch.path(name)).isFile();
  const tracked = () => scratch.git('ls-files', '-z').split('\0').includes(name);
  switch (kind) {
    case 'modify':
      scratch.clearWay(name);
      scratch.write(name, `${text}more\n`);
      break;
    case 'made':
      if (!isThere) scratch.clearWay(name);
      if (!isThere) scratch.write(name, text);
      break;
    case 'same_size':
      if (isThere) scratch.writeInPlace(name, 'y'.repeat(readFileSync(scratch.path(name)).length));
      break;
    case 'touch':
      if (isThere) scratch.writeInPlace(name, readFileSync(scratch.path(name)).toString('latin1'));
      break;
    case 'remove':
      scratch.remove(name);
      break;
    case 'executable':
      if (isThere) chmodSync(scratch.path(name), 0o755);
      break;
    case 'link':
      scratch.clearWay(name);
      scratch.link(name, 'a.txt');
      break;
    case 'hard_link':
      if (isThere && !existsSync(scratch.path(`${name}.other`)))
        linkSync(scratch.path(name), scratch.path(`${name}.other`));
      break;
    case 'folder_link':
      if (folder !== '') scratch.clearWay(folder);
      if (folder !== '') scratch.link(folder, 'lib');
      break;
    case 'empty_folder':
      scratch.clearWay(folder === '' ? 'empty/x' : `${folder}/empty/x`);
      mkdirSync(scratch.path(`${folder === '' ? '' : `${folder}/`}empty`), { recursive: true });
      break;
    case 'git_folder':
      if (folder !== '') scratch.clearWay(`${folder}/x`);
      if (folder !== '') mkdirSync(scratch.path(folder), { recursive: true });
      if (folder !== '') scratch.git('init', '--quiet', folder);
      break;
    case 'bare':
      for (const made of ['HEAD', 'objects/x', 'refs/x']) {
        scratch.clearWay(`bare/${made}`);
        if (made !== 'HEAD' || name.length % 2 === 0) scratch.write(`bare/${made}`, 'ref: refs/heads/x\n');
      }
      break;
    case 'skip_worktree':
      if (tracked()) scratch.git('update-index', '--skip-worktree', name);
      if (tracked() && text.length > 4) scratch.remove(name);
      break;
    case 'assume_unchanged':
      if (tracked()) scratch.git('update-index', '--assume-unchanged', name);
      if (isThere) scratch.writeInPlace(name, text);
      break;
    case 'intend':
      if (isThere) scratch.git('rm', '--cached', '--quiet', '--ignore-unmatch', name);
      if (isThere && !tracked()) scratch.git('add', '--intent-to-add', '--force', name);
      break;
    case 'stage':
      scratch.clearWay(name);
      scratch.write(name, text);
      setBack(scratch, name);
      scratch.git('add', '--force', '--ignore-errors', '--', name);
      break;
    case 'closed':
      if (isThere) scratch.forbid(name);
      break;
  }
}

/** What one run of the calls showed, step by step. */
interface Course {
  readonly steps: unknown[];
  readonly workspace: Workspace;
  readonly changes: PathChange[];
  readonly noted: Map<string, FileState | null>;
}

/** As the executor does it, one call at a time. `goOn` is called with the number of writes made, and when one waits. */
async function writeAll(
  workspace: Workspace,
  { writes }: Plan,
  goOn: (count: number) => void,
): Promise<Course> {
  const steps: unknown[] = [];
  const changes: PathChange[] = [];
  const noted = new Map<string, FileState | null>();
  for (const [nth, [name, text, ticks]] of writes.entries()) {
    for (let tick = 0; tick < ticks; tick += 1) await setImmediate();
    const target = at(name);
    const states = (await workspace.early?.note([target])) ?? null;
    for (const { path: one, state } of states ?? []) noted.set(one, state);
    if (states === null) goOn(Number.POSITIVE_INFINITY);
    const outside = await workspace.capture(isRuleFile(target) ? 'all' : [target]);
    const repositories = await workspace.repositoriesAround([target], [target]);
    const by: Writer = { source: { by: 'tool', tool: 'write_file', calls: [`c${nth}`] }, iteration: 1 };
    // It waits after all.
    if (text.includes('\r')) goOn(Number.POSITIVE_INFINITY);
    const write = repositories.length > 0 ? null : await workspace.writeFile(target, Buffer.from(text), by);
    const found = await workspace.capture([target]);
    changes.push(...outside, ...found);
    steps.push({ outside, repositories, write, found });
    goOn(nth + 1);
  }
  goOn(Number.POSITIVE_INFINITY);
  return { steps, workspace, changes, noted };
}

async function later(
  { scratch, workspace, changes }: { scratch: ScratchCheckout } & Course,
  { later: acts }: Plan,
) {
  const seen: unknown[] = [await workspace.capture('all'), workspace.exposed(), workspace.hidden()];
  for (const [kind, name, text] of acts) {
    const line = await workspace.checkpoint();
    changes.push(...line.changes);
    if (kind === 'modify') scratch.clearWay(name);
    if (kind === 'modify') scratch.write(name, text);
    if (kind === 'remove') scratch.remove(name);
    if (kind === 'move') scratch.move(name, `moved/${name}`);
    if (kind === 'unignore') for (const folder of FOLDERS) scratch.remove(`${folder}.gitignore`);
    if (kind === 'attributes') scratch.remove('.gitattributes');
    if (kind === 'attributes') scratch.write('.gitattributes', '* text\n');
    const { earlier, since } = await line.captureSince();
    changes.push(...earlier, ...since);
    seen.push({
      earlier,
      since,
      exposed: workspace.exposed(),
      ignored: (await workspace.ignoredWrites()).paths,
    });
  }
  return seen;
}

function statesOf(changes: readonly PathChange[]): Map<string, FileState | null> {
  return new Map(changes.map(({ path: name, after }) => [name, after]));
}

function netOf(changes: readonly PathChange[]): PathChange[] {
  const net = new Map<string, PathChange>();
  for (const change of changes) {
    const known = net.get(change.path);
    net.set(change.path, known ? { ...change, before: known.before } : change);
  }
  return [...net.values()];
}

/** The files beside the shadow repository that later processes read. */
function kept(shadowDir: string): unknown {
  return ['empty-folders', 'ignored-at-start', 'closed-places', 'set-gid-folders'].map((name) => {
    const file = join(shadowDir, name);
    const text = existsSync(file) ? readFileSync(file, 'latin1') : null;
    return name === 'closed-places' ? (text?.replace(/\d+\.\d+ /g, '') ?? null) : text?.split('\0').sort();
  });
}

let early = 0;

async function compare(given: Plan): Promise<void> {
  const ends: unknown[] = [];
  for (const waits of [true, false]) {
    const scratch = make(given);
    try {
      const before = filesBelow(scratch.root);
      const places: WorkspacePlaces = {
        shadowDir: join(scratch.folder, 'shadow.git'),
        sandboxGitDir: join(scratch.folder, 'agent.git'),
        env: scratch.env,
        manyFiles: 0,
      };
      let done = 0;
      const release: (() => void)[] = [];
      const atStage = async (stage: BaselineStage) => {
        while (done < given.held[stage]) await new Promise<void>((go) => release.push(go));
      };
      const goOn = (count: number) => {
        done = Math.max(done, count);
        for (const go of release.splice(0)) go();
      };
      const checkout = await scratch.checkout();
      const begun = beginWorkspace(checkout, waits ? places : { ...places, atStage });
      const workspace = waits ? await begun.takeBaseline() : await begun.takeMeanwhile();
      const course = await writeAll(workspace, given, goOn);
      early += course.noted.size;
      const { base } = await workspace.baseline();
      const seen = await later({ scratch, ...course }, given);
      const net = netOf(course.changes).filter(({ ignored }) => ignored === undefined);
      const patch = await workspace.makePatch(net);
      const files = filesBelow(scratch.root);
      const state = { base, states: statesOf(course.changes), written: [], mayHavePlanted: null };
      const again = await reopenWorkspace(checkout, places, state);
      const found = again.status === 'ok' ? again.found : again;
      const reverted = await revertChanges({ root: scratch.root, shadowDir: places.shadowDir }, net);
      const undone = filesBelow(scratch.root);
      const { commit: _, ...rest } = base;
      ends.push({
        ...{
          steps: course.steps,
          base: rest,
          seen,
          files,
          found,
          reverted,
          undone,
          kept: kept(places.shadowDir),
        },
        patch: patch.status === 'proven' ? Buffer.from(patch.patch.bytes).toString('latin1') : patch,
        warnings: workspace.warnings(),
      });
      if (given.later.length === 0 && given.fileMode && reverted === null) {
        const changed = new Set(net.map(({ path: name }) => name));
        const of = (all: Record<string, string>) => Object.entries(all).filter(([name]) => changed.has(name));
        expect(of(undone)).toEqual(of(before));
      }
    } finally {
      scratch.close();
    }
  }
  expect(ends[1]).toEqual(ends[0]);
}

test(
  'writes that do not wait for the baseline come to what they come to where they wait, whatever the tree and the moment',
  async () => {
    await fc.assert(fc.asyncProperty(plan, compare), {
      numRuns: randomCases(200),
      endOnFailure: true,
    });
    expect(early).toBeGreaterThan(5);
  },
  MATRIX_MS,
);

test('a file that was made before the baseline and that a command moves is not taken for one of the user', async () => {
  const scratch = new ScratchCheckout();
  scratch.write('src/a.txt', 'a\n');
  scratch.commit();
  let release = () => {};
  const held = new Promise<void>((go) => {
    release = go;
  });
  const places = {
    atStage: () => held,
    shadowDir: join(scratch.folder, 'shadow.git'),
    sandboxGitDir: join(scratch.folder, 'agent.git'),
    env: scratch.env,
    manyFiles: 0,
  };
  const workspace = await beginWorkspace(await scratch.checkout(), places).takeMeanwhile();
  const made = [at('src/new.txt')];
  expect(await workspace.early?.note(made)).toEqual([{ path: 'src/new.txt', state: null }]);
  await workspace.writeFile(at('src/new.txt'), Buffer.from('new\n'));
  await workspace.capture(made);
  release();
  await workspace.baseline();
  const line = await workspace.checkpoint();
  scratch.move('src/new.txt', 'kept/new.txt');
  scratch.writeInPlace('kept/new.txt', 'changed\n');
  const { since } = await line.captureSince();
  const refused = since.filter(({ path: one }) => one === 'kept/new.txt');
  expect(await workspace.putBack(refused, since)).toEqual({ stuck: [], others: [] });
  expect(scratch.isFile('kept/new.txt')).toBe(false);
});

test('a write waits if the user’s own rules are in the work tree, whatever they are called', async () => {
  const scratch = new ScratchCheckout();
  scratch.write('dev/hidden', '*.key\n');
  scratch.write('dev/turned', '*.bin -text\n');
  scratch.commit();
  scratch.git('config', 'core.excludesFile', 'dev/hidden');
  scratch.git('config', 'core.attributesFile', 'dev/turned');
  let release = () => {};
  const held = new Promise<void>((go) => {
    release = go;
  });
  const places = {
    atStage: () => held,
    shadowDir: join(scratch.folder, 'shadow.git'),
    sandboxGitDir: join(scratch.folder, 'agent.git'),
    env: scratch.env,
    manyFiles: 0,
  };
  const workspace = await beginWorkspace(await scratch.checkout(), places).takeMeanwhile();
  for (const name of ['dev/hidden', 'dev/turned']) expect(await workspace.early?.note([at(name)])).toBe(null);
  expect(await workspace.early?.note([at('dev/other')])).not.toBe(null);
  release();
  await workspace.baseline();
});

/** A checkout whose baseline is held up at its beginning, and is taken once released. */
async function heldUp(scratch: ScratchCheckout) {
  let release = () => {};
  const held = new Promise<void>((go) => {
    release = go;
  });
  const places = {
    atStage: () => held,
    shadowDir: join(scratch.folder, 'shadow.git'),
    sandboxGitDir: join(scratch.folder, 'agent.git'),
    env: scratch.env,
    manyFiles: 0,
  };
  const checkout = await scratch.checkout();
  const workspace = await beginWorkspace(checkout, places).takeMeanwhile();
  const write = async (name: string, text: string) => {
    expect(await workspace.early?.note([at(name)])).not.toBe(null);
    await workspace.writeFile(at(name), Buffer.from(text));
    return workspace.capture([at(name)]);
  };
  return { workspace, write, release, places, checkout };
}

describe('what others move while the baseline is taken does not make a file of the run part of it', () => {
  const moves: [string, (scratch: ScratchCheckout) => void][] = [
    ['a folder that is renamed', (scratch) => scratch.move('lib', 'moved')],
    ['a file that is renamed', (scratch) => scratch.move('lib/a.txt', 'moved.txt')],
    ['a file that is renamed over another', (scratch) => scratch.move('lib/a.txt', 'src/s.txt')],
    ['a new file that is renamed', (scratch) => scratch.move('lib/new.txt', 'src/deep/new.txt')],
    [
      'a folder that a file replaces',
      (scratch) => {
        scratch.clearWay('lib');
        scratch.write('lib', 'x');
      },
    ],
    [
      'a file that a folder replaces',
      (scratch) => {
        scratch.clearWay('lib/a.txt');
        scratch.write('lib/a.txt/x', 'x');
      },
    ],
    [
      'a new file that a folder replaces',
      (scratch) => {
        scratch.clearWay('lib/new.txt');
        scratch.write('lib/new.txt/x/y', 'x');
      },
    ],
    [
      'a folder that a link replaces',
      (scratch) => {
        scratch.clearWay('lib');
        scratch.link('lib', 'src');
      },
    ],
    [
      'a file that a link replaces',
      (scratch) => {
        scratch.clearWay('lib/a.txt');
        scratch.link('lib/a.txt', 'b.txt');
      },
    ],
    ['a folder that is removed', (scratch) => scratch.clearWay('lib')],
  ];
  const ways = moves.flatMap(([what, move]) =>
    (['live', 'begun anew'] as const).map((way) => ({ what, move, way })),
  );
  test.each(ways)('$what, $way', async ({ move, way }) => {
    const scratch = new ScratchCheckout();
    scratch.write('lib/a.txt', 'a\n');
    scratch.write('lib/b.txt', 'b\n');
    scratch.write('src/s.txt', 's\n');
    scratch.commit();
    const { workspace: first, write, release, places, checkout } = await heldUp(scratch);
    const changes = [
      ...(await write('lib/a.txt', 'by the model\n')),
      ...(await write('lib/new.txt', 'new\n')),
    ];
    move(scratch);
    release();
    await first.baseline();
    const state = {
      noted: new Map(changes.map(({ path: one, before }) => [one, before])),
      states: statesOf(changes),
    };
    const anew = way === 'live' ? null : await beginAnew(checkout, places, state).take();
    const workspace = anew?.status === 'ok' ? anew.workspace : first;
    if (anew?.status === 'ok') changes.push(...anew.found);
    const { base } = await workspace.baseline();
    const listed = (await listTree(places.shadowDir, base.tree)) ?? new Map();
    const ofModel = [...listed].filter(([, { blob }]) => changes.some(({ after }) => after?.blob === blob));
    expect(ofModel).toEqual([]);
    expect(listed.get('lib/a.txt')?.blob).toBe(changes[0]?.before?.blob);
    expect(listed.has('lib/new.txt')).toBe(false);
    const patch = await workspace.makePatch(netOf(changes));
    expect(patch.status).toBe('proven');
    const found = await workspace.capture('all');
    changes.push(...found);
    const kept = { base, states: statesOf(changes), written: [], mayHavePlanted: null };
    const again = await reopenWorkspace(checkout, places, kept);
    expect(again).toMatchObject({ status: 'ok', found: [] });
    scratch.clearWay('lib/a.txt');
    const reverted = await revertChanges({ root: scratch.root, shadowDir: places.shadowDir }, netOf(changes));
    expect(reverted).toBe(null);
    expect(scratch.isFile('lib/a.txt') && readFileSync(scratch.path('lib/a.txt'), 'utf8')).toBe('a\n');
  });
});

import { execFileSync } from 'node:child_process';
import { copyFileSync, lstatSync, readFileSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCodeChanges } from '../../../../src/domain/changes/change.ts';
import { ChangeLedger } from '../../../../src/domain/changes/ledger.ts';
import { encodeName } from '../../../../src/files/names.ts';
import { IS_FULL, MATRIX_MS } from '../../../support/setup/sample.ts';
import { ScratchCheckout } from '../scratch-checkout.ts';

const PATHS = [
  'a.js',
  'b.log',
  'keep.js',
  'd/a.js',
  'd/b.log',
  'd/e/c.txt',
  'd/e/keep.js',
  'x.txt',
  'out/a.js',
];

const RULES = [
  '',
  '*.js\n',
  '*\n!*.js\n!d\n!.git*\n',
  '/*\n!/d/\n!/keep.js\n',
  'd/\n',
  '!*\n',
  '*.log\nout\n',
  'e/*\n!e/keep.js\n',
  '.gitignore\n*.txt\n',
];
const ATTRIBUTES = [
  '',
  '* text=auto\n',
  '*.txt text\n',
  '* -text\n',
  '*.js text eol=crlf\n',
  '*.log ident\n',
  '*.txt text working-tree-encoding=ISO-8859-1\n',
];
const TEXTS = ['', 'x\n', 'x\r\ny\r\n', 'y\n', 'one\r\ntwo\n', '$Id: 12 $\n', 'z\0\r\n', 'é\r\n'];

const ruleFile = fc.oneof(
  fc.record({
    path: fc.constantFrom('.gitignore', 'd/.gitignore', 'd/e/.gitignore'),
    text: fc.constantFrom(...RULES),
  }),
  fc.record({
    path: fc.constantFrom('.gitattributes', 'd/.gitattributes'),
    text: fc.constantFrom(...ATTRIBUTES),
  }),
);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      path: fc.constantFrom(...PATHS),
      text: fc.constantFrom(...TEXTS),
      executable: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: ruleFile.map(({ path, text }) => ({ do: 'write' as const, path, text, executable: false })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      path: fc.constantFrom(...PATHS, '.gitignore', 'd/.gitignore', 'd'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('link' as const), path: fc.constantFrom(...PATHS) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function perform(scratch: ScratchCheckout, taken: Step): void {
  switch (taken.do) {
    case 'write':
      scratch.clearWay(taken.path);
      scratch.write(taken.path, taken.text, taken.executable ? 0o755 : 0o644);
      return;
    case 'link':
      scratch.clearWay(taken.path);
      scratch.link(taken.path, 'x.txt');
      return;
    case 'remove':
      scratch.remove(taken.path);
      return;
    case 'look':
      return;
  }
}

/** An index beside the real one, in which git itself adds everything. */
class GitsIndex {
  readonly #scratch: ScratchCheckout;
  readonly #file: string;

  constructor(scratch: ScratchCheckout) {
    this.#scratch = scratch;
    this.#file = join(scratch.folder, 'truth.index');
    const real = join(scratch.root, '.git/index');
    copyFileSync(real, this.#file);
    const { atime, mtime } = lstatSync(real);
    utimesSync(this.#file, atime, mtime);
  }

  git(args: readonly string[], input = ''): string {
    const env = { ...this.#scratch.env, GIT_INDEX_FILE: this.#file };
    return execFileSync('git', args, {
      cwd: this.#scratch.root,
      env,
      input,
      stdio: ['pipe', 'pipe', 'ignore'],
    }).toString('latin1');
  }

  addAll(): string {
    this.git(['add', '--all']);
    return this.git(['write-tree']).trim();
  }
}

/** What is at every path, as bytes and kind. */
function contentsOf(scratch: ScratchCheckout): Map<string, string> {
  const found = execFileSync('find', ['.', '-path', './.git', '-prune', '-o', '!', '-type', 'd', '-print0'], {
    cwd: scratch.root,
  });
  const paths = found
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
    .map((path) => path.slice(2));
  return new Map(
    paths.map((path) => {
      const place = encodeName(`${scratch.root}/${path}`);
      const stat = lstatSync(place);
      const content = stat.isSymbolicLink() ? readlinkSync(place) : readFileSync(place, 'latin1');
      return [path, `${stat.isSymbolicLink()} ${stat.mode & 0o100} ${content}`];
    }),
  );
}

/** Gives every file an old time, so that git trusts its index. */
async function settle(scratch: ScratchCheckout): Promise<void> {
  execFileSync('sh', ['-c', 'find . -path ./.git -prune -o -type f -exec touch -d 2001-01-01 {} +'], {
    cwd: scratch.root,
  });
  scratch.git('update-index', '-q', '--refresh', '--really-refresh');
  await sleep(12);
}

async function check(
  before: readonly Step[],
  untracked: readonly Step[],
  steps: readonly Step[],
  [user, info]: [string, string],
) {
  const scratch = new ScratchCheckout();
  try {
    scratch.write('../home/ignores', user);
    scratch.git('config', 'core.excludesFile', '~/ignores');
    writeFileSync(join(scratch.root, '.git/info/exclude'), info);
    for (const taken of before) perform(scratch, taken);
    scratch.commit();
    const tracked = new Set(scratch.git('ls-files', '-z').split('\0'));
    // What the user has deleted is still in the real index, and no longer in the one beside it.
    for (const taken of untracked)
      if (taken.do === 'write' && !tracked.has(taken.path)) perform(scratch, taken);
    await settle(scratch);
    const truth = new GitsIndex(scratch);
    const baseTree = truth.addAll();
    const baseEntries = new Map(
      truth
        .git(['ls-files', '--stage', '-z'])
        .split('\0')
        .filter(Boolean)
        .map((line) => {
          const [entry = '', path = ''] = line.split('\t');
          return [path, entry] as const;
        }),
    );
    const atStart = contentsOf(scratch);

    const workspace = await scratch.open();
    expect(workspace.base().tree).toBe(baseTree);
    await workspace.capture('all');
    const ledger = new ChangeLedger();
    const source = { by: 'tool' as const, tool: 'run_command', calls: ['call'] };
    const look = async () => {
      for (const change of toCodeChanges(await workspace.capture('all'), source, 1)) ledger.record(change);
    };
    const touched = new Set<string>();
    for (const taken of steps) {
      if (taken.do === 'look') await look();
      else {
        // What stands in the way goes too.
        const there = contentsOf(scratch);
        perform(scratch, taken);
        touched.add(taken.path);
        const now = contentsOf(scratch);
        for (const path of there.keys()) if (!now.has(path)) touched.add(path);
      }
    }
    await look();
    const made = await workspace.makePatch(ledger.net());
    if (made.status === 'failed') throw new Error(made.message);

    truth.addAll();
    const now = contentsOf(scratch);
    // What git has not read is as it was, and what was there before, ignored and untouched, is the user's.
    const unchanged = [...baseEntries].filter(
      ([path]) => atStart.get(path) === now.get(path) && now.has(path),
    );
    truth.git(
      ['update-index', '-z', '--index-info'],
      unchanged.map(([path, entry]) => `${entry}\t${path}\0`).join(''),
    );
    const theirs = [...atStart.keys()].filter((path) => !baseEntries.has(path) && !touched.has(path));
    const added = truth.git(['ls-files', '-z']).split('\0').filter(Boolean);
    const exposed = theirs.filter((path) => added.includes(path));
    truth.git(
      ['update-index', '--force-remove', '-z', '--stdin'],
      exposed.map((path) => `${path}\0`).join(''),
    );
    expect(truth.git(['ls-files', '--stage'])).toBe(stagedOf(scratch, made.patch.tree));
    expect(workspace.notes().exposed).toEqual(exposed.sort());
  } finally {
    scratch.close();
  }
}

/** The files of a tree of the shadow repository, as `git ls-files --stage` names them. */
function stagedOf(scratch: ScratchCheckout, tree: string): string {
  const listed = scratch.gitIn(scratch.root, `--git-dir=${scratch.shadow}`, 'ls-tree', '-r', tree);
  return listed.replace(/^(\d+) \w+ (\w+)\t/gm, '$1 $2 0\t');
}

const file = (path: string, text: string, executable = false): Step => ({
  do: 'write',
  path,
  text,
  executable,
});

/** What random steps found: attributes that are gone with their folder, and new ones for a file whose mode changes. */
const FOUND: [Step[], Step[], Step[], [string, string]][] = [
  [
    [file('d/.gitattributes', '* -text\n')],
    [],
    [{ do: 'remove', path: 'd' }, file('d/a.js', 'x\r\ny\r\n'), file('.gitattributes', '* text=auto\n')],
    ['', ''],
  ],
  [
    [file('.gitattributes', '*.js text eol=crlf\n')],
    [file('d/a.js', 'x\r\ny\r\n', true)],
    [file('.gitattributes', ''), file('d/a.js', 'x\r\ny\r\n')],
    ['', ''],
  ],
];

test(
  'for any files and rules, and any changes to both, the patch has what git add --all takes from the end',
  async () => {
    const numRuns = IS_FULL ? 400 : 6;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 8 }),
        fc.array(step, { maxLength: 5 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.tuple(fc.constantFrom('', '*.log\n'), fc.constantFrom('', 'keep.js\n')),
        check,
      ),
      { numRuns, examples: FOUND },
    );
  },
  MATRIX_MS,
);

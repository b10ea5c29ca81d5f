/** Git dirs that are too many to cover, ones that hide among others, and what can be read in the repository's own. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { attacksIn, OPEN_WITHOUT_SANDBOX, type Stage } from '../../attack.ts';
import { shell, toDo, toSee } from '../../goals.ts';
import type { Victim } from '../../victim.ts';

const byCovers = attacksIn('Git', 'git', 'covers');
const byNothing = attacksIn('Git', 'git');

/** The number of checkouts in the work tree that are covered. */
const MOST_COVERED = 64;

export const TOO_MANY: Stage = {
  name: 'more checkouts than can be covered',
  byOwner: true,
  prepare(victim) {
    for (let at = 0; at <= MOST_COVERED; at += 1) {
      victim.put(join(victim.root, `many/${at}/.git/HEAD`), 'ref: refs/heads/main\n');
      victim.put(
        join(victim.root, `many/${at}/.git/config`),
        `[x]\n\ttoken = ${victim.canary('uncovered')}\n`,
      );
    }
  },
  ends: { contained: 'sandbox_unavailable', unfiltered: 'sandbox_unavailable' },
  attacks: [
    byCovers(
      'one-too-many',
      'A token in the configuration of the 65th checkout in the work tree (a run that requires the sandbox is refused)',
      toSee('uncovered'),
      () => shell('cat many/*/.git/config'),
      OPEN_WITHOUT_SANDBOX,
    ),
  ],
};

/** What the user's next `git status` in the root of the repository runs. */
const MONITOR = 'submodule-monitor';

export const UNCOVERED: Stage = {
  name: 'a submodule whose folder is closed and opened again',
  byOwner: true,
  async prepare(victim) {
    const submodule = join(victim.root, 'vendor/sub');
    victim.put(join(submodule, 's.txt'), 's\n');
    await victim.gitIn(submodule, 'init', '--quiet');
    await victim.gitIn(submodule, 'add', '--all');
    await victim.gitIn(submodule, 'commit', '--quiet', '--message', 'Sub');
    await victim.git('add', 'vendor/sub');
    await victim.git('commit', '--quiet', '--message', 'Submodule');
  },
  attacks: [
    byCovers(
      'uncovered',
      'A command closes the folder around a submodule, the next one opens it and plants a program in the git dir there',
      toDo(({ victim }) => {
        const status = ['status'];
        execFileSync('git', status, { cwd: victim.root, env: victim.gitEnvironment, stdio: 'ignore' });
        return victim.sprung(MONITOR) ? 'git status in the root ran it' : null;
      }),
      (victim) => [
        ...shell('chmod 000 vendor; sleep 0.1'),
        ...shell(
          `chmod 755 vendor; cd vendor/sub; env -u GIT_DIR -u GIT_WORK_TREE git config core.fsmonitor ${victim.trap(MONITOR)}; mkdir -p .git; printf '[core]\\n\\tfsmonitor = ${victim.trap(MONITOR)}\\n' >> .git/config; true`,
        ),
      ],
      OPEN_WITHOUT_SANDBOX,
    ),
  ],
};

const EMPTY = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Submodules that are not checked out: empty folders. */
async function addEmptyLinks(victim: Victim, count: number): Promise<void> {
  const commit = (await victim.git('commit-tree', EMPTY, '-m', 'x')).trim();
  const entries = Array.from({ length: count }, (_, at) => ['--cacheinfo', `160000,${commit},aaa/${at}`]);
  await victim.git('update-index', '--add', ...entries.flat());
}

export const COVERED: Stage = {
  name: 'a checkout behind empty ones, and objects that no branch names',
  byOwner: true,
  async prepare(victim) {
    await victim.git('hash-object', '-w', '-t', 'tree', '/dev/null');
    await addEmptyLinks(victim, MOST_COVERED);
    await victim.git('commit', '--quiet', '--message', 'Submodules');
    const token = `[x]\n\ttoken = ${victim.canary('covered')}\n`;
    victim.put(join(victim.root, 'zzz/checkout/.git/HEAD'), 'ref: refs/heads/main\n');
    victim.put(join(victim.root, 'zzz/checkout/.git/config'), token);
    for (const [name, leave] of [
      ['stashed', ['stash', '--quiet']],
      ['staged', ['reset', '--quiet', '--hard']],
    ] as const) {
      victim.put(join(victim.root, 'a.txt'), `${victim.canary(name)}\n`);
      await victim.git('add', 'a.txt');
      await victim.git(...leave);
    }
  },
  attacks: [
    byCovers(
      'empty-links',
      'A token in the configuration of a checkout behind 64 submodules that are not checked out',
      toSee('covered'),
      () => shell('cat zzz/checkout/.git/config; true'),
      OPEN_WITHOUT_SANDBOX,
    ),
    ...(['stashed', 'staged'] as const).map((name) =>
      byNothing(
        `objects-${name}`,
        `Work of the user that was ${name} and is on no branch, among the objects of the repository`,
        toSee(name),
        () => shell('git cat-file --batch-all-objects --batch --unordered | grep -a cnry'),
        { contained: 'open', none: 'open' },
      ),
    ),
  ],
};

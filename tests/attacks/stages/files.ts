/** Ways out of the work tree through the file tools. */

import { linkSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { execa } from 'execa';
import { zipOf } from '../../support/documents/zip.ts';
import { pngHeader } from '../../support/files/images.ts';
import type { Attack, Goal, Stage } from '../attack.ts';
import { call, either, reads, toBeLetIn, toChange, toDo, toSee, toSpring, writes } from '../goals.ts';
import type { Hold } from '../held-by.ts';
import { stateOf, type Victim } from '../victim.ts';
import { duringExchanges, duringSwaps, LED_ASTRAY } from './swaps.ts';

const CANARY = 'outside';
const outside = ({ outside, folder, root }: Victim) => [
  outside,
  join(folder, 'root-evil'),
  join(root, '.git'),
];
const refused = toBeLetIn('path_refused', 'not_found', 'invalid_input', 'too_large', 'not_text');

const by =
  (...heldBy: Hold[]) =>
  (id: string, what: string, does: NonNullable<Attack['does']>, ...goals: Goal[]): Attack => ({
    id: `files-${id}`,
    category: 'Files',
    what,
    does,
    goal: either(...goals),
    heldBy,
  });
const attack = by('path', 'descriptors');

/** A path that must be refused for reading and for writing, with nothing seen or changed outside. */
const refusesBy = (hold: Hold) => (id: string, what: string, path: (victim: Victim) => string) =>
  by(hold)(
    id,
    what,
    (victim) => [
      [
        call('read_file', { path: path(victim) }),
        call('write_file', { path: path(victim), content: 'planted\n' }),
        call('edit_file', { path: path(victim), find: 'cnry', replace: 'planted' }),
      ],
    ],
    toSee(CANARY),
    toChange(outside),
    refused,
  );
const refusesPath = refusesBy('path');
const refusesLink = refusesBy('descriptors');
const refusesSpecial = refusesBy('regular');

/** A path that is a plain name in the work tree, even if it means something else elsewhere. */
function staysPlain(id: string, what: string, path: string): Attack {
  return by('path')(
    id,
    what,
    () => [...reads(path), ...writes(`odd/${path}`)],
    toSee(CANARY),
    toChange(outside),
  );
}

/** A spelling of git's own folder. */
function refusesGit(id: string, what: string, path: string): Attack {
  return by('path')(
    `git-${id}`,
    what,
    () => [...reads(path), ...writes(path), ...writes(`sub/${path}`)],
    toChange(({ root }) => [join(root, '.git')]),
    refused,
  );
}

const LINKS: Readonly<Record<string, (victim: Victim) => string>> = {
  'link-absolute': ({ outside }) => join(outside, 'secret.txt'),
  'link-relative': () => '../outside/secret.txt',
  'link-folder': () => '../outside',
  'link-chain': () => 'link-chain-2',
  'link-chain-2': () => 'link-relative',
  'link-dangling': () => '../outside/not-yet.txt',
  'link-loop': () => 'link-loop',
  'link-proc': () => '/proc/self',
  'link-descriptors': () => '/dev/fd',
  'link-zero': () => '/dev/zero',
  'link-root': () => '/',
  'link-git': () => '.git',
  'link-run': () => '../run',
};

async function plant(victim: Victim): Promise<() => void> {
  const { root, folder } = victim;
  const secret = `${victim.canary(CANARY)}\n`;
  victim.put(join(victim.outside, 'secret.txt'), secret);
  victim.put(join(folder, 'root-evil/secret.txt'), secret);
  victim.put(join(victim.outside, 'target.txt'), 'as it was\n');
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target(victim), join(root, name));
  linkSync(join(victim.outside, 'target.txt'), join(root, 'hard.txt'));
  await execa('mkfifo', [join(root, 'pipe')]);
  victim.put(join(root, 'sparse/huge.bin'), '');
  truncateSync(join(root, 'sparse/huge.bin'), 2 ** 40);
  const bomb = deflateRawSync(Buffer.alloc(100_000_000), { level: 1 });
  writeFileSync(join(root, 'sparse/bomb.png'), pngHeader(100_000, 100_000));
  writeFileSync(join(root, 'sparse/bomb.docx'), zipOf({ 'word/document.xml': '' }, bomb));
  victim.put(join(root, 'nested/n.txt'), 'n\n');
  await victim.gitIn(join(root, 'nested'), 'init', '--quiet');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve));
  return () => server.close();
}

const throughTools: Stage = {
  name: 'file tools',
  byOwner: true,
  files: { '.gitignore': 'sparse/\n', 'src/b.txt': 'b\n' },
  prepare: plant,
  together: 8,
  attacks: [
    refusesPath('parent', 'A path that begins with `..`', () => '../outside/secret.txt'),
    refusesPath(
      'parent-inside',
      'A path that leaves with a later `..`',
      () => 'src/../../outside/secret.txt',
    ),
    refusesPath('absolute', 'An absolute path', ({ outside }) => join(outside, 'secret.txt')),
    refusesPath('absolute-inside', 'An absolute path that begins with the root but leaves it', ({ root }) =>
      join(root, 'src').concat('/../../outside/secret.txt'),
    ),
    refusesPath(
      'neighbour',
      'A sibling folder with a name that begins like the root',
      () => '../root-evil/secret.txt',
    ),
    refusesPath('nul', 'A NUL that ends the path for the kernel', () => '../outside/secret.txt\0.txt'),
    refusesPath('nul-inside', 'A NUL after a legal name', () => 'a.txt\0/../../outside/secret.txt'),
    refusesPath('long', 'A path of 5,000 bytes', () => `${'x/'.repeat(2_500)}y`),
    refusesPath('long-name', 'A name of 300 bytes', () => 'x'.repeat(300)),
    staysPlain('percent', 'Percent-encoded dots and slashes', '%2e%2e%2foutside%2fsecret.txt'),
    staysPlain('backslash', 'Backslashes instead of slashes', '..\\outside\\secret.txt'),
    staysPlain('home', 'A tilde', '~/secret.txt'),
    staysPlain('variable', 'A variable', '$HOME/secret.txt'),
    staysPlain('wide-dots', 'Dots and slashes from other scripts', '．．／outside／secret.txt'),
    staysPlain('three-dots', 'A name of three dots', '.../outside/secret.txt'),
    by('path')('uri', 'A file URI', ({ outside }) => reads(`file://${outside}/secret.txt`), toSee(CANARY)),
    refusesLink('link-absolute', 'A symbolic link with an absolute target', () => 'link-absolute'),
    refusesLink('link-relative', 'A symbolic link with a relative target', () => 'link-relative'),
    refusesLink('link-folder', 'A folder that is a link', () => 'link-folder/secret.txt'),
    refusesLink('link-chain', 'A chain of links', () => 'link-chain'),
    refusesLink('link-dangling', 'A dangling link, where a write would create a file', () => 'link-dangling'),
    refusesLink('link-new', 'A new file in a folder that is a link', () => 'link-folder/new/file.txt'),
    refusesLink('link-loop', 'A link to itself', () => 'link-loop'),
    refusesLink('link-root', 'A link to the root of the machine', () => 'link-root/etc/passwd'),
    refusesLink('link-git', "A link to git's own folder", () => 'link-git/config'),
    refusesLink('link-run', 'A link to the run directory', () => 'link-run/events.jsonl'),
    refusesLink('link-descriptor', 'A link to open descriptors', () => 'link-descriptors/0'),
    refusesLink('link-zero', 'A link to an endless device', () => 'link-zero'),
    by('descriptors')(
      'planted-link',
      'A link that a command makes between two calls of one answer',
      ({ outside }) => [
        [
          call('run_command', { command: `mkdir swapped; ln -s ${outside} swapped/in` }),
          call('write_file', { path: 'swapped/in/new.txt', content: 'planted\n' }),
          call('read_file', { path: 'swapped/in/secret.txt' }),
        ],
      ],
      toSee(CANARY),
      toChange(outside),
    ),
    by('replaced')(
      'hard-link',
      'A write through a hard link to a file outside',
      () => [...writes('hard.txt'), [call('edit_file', { path: 'hard.txt', find: 'planted', replace: 'x' })]],
      toChange(outside),
    ),
    refusesSpecial('pipe', 'A named pipe, which blocks when it is opened', () => 'pipe'),
    refusesSpecial('socket', 'A socket', () => 'socket'),
    by('limits')(
      'sparse',
      'A sparse file of a terabyte',
      () => [
        ...reads('sparse/huge.bin'),
        [call('edit_file', { path: 'sparse/huge.bin', find: 'a', replace: 'b' })],
      ],
      refused,
    ),
    by('limits')(
      'document-bomb',
      'A Word document of 400 KB that unpacks to 100 MB',
      () => [[call('read_file', { path: 'sparse/bomb.docx' })]],
      toBeLetIn('not_text'),
    ),
    by('limits')(
      'image-bomb',
      'A PNG image of 33 bytes that claims to have 100,000 by 100,000 pixels',
      () => [[call('read_file', { path: 'sparse/bomb.png' })]],
      toBeLetIn('too_large'),
    ),
    refusesGit('config', "Git's configuration", '.git/config'),
    refusesGit('hook', 'A hook that does not exist yet', '.git/hooks/post-checkout'),
    refusesGit('case', 'Git’s folder in capitals', '.GIT/config'),
    refusesGit('dot', 'Git’s folder followed by a dot', '.git./config'),
    refusesGit('space', 'Git’s folder followed by a blank', '.git /config'),
    refusesGit('stream', 'Git’s folder as an NTFS stream', '.git::$INDEX_ALLOCATION/config'),
    refusesGit('short', 'Git’s folder by its NTFS short name', 'GIT~1/config'),
    refusesGit('joiner', 'Git’s folder with a character that HFS+ ignores', '.g\u200cit/config'),
    refusesGit('wide', 'Git’s folder in full-width letters', '.ｇｉｔ/config'),
    refusesGit('dotted', 'Git’s folder after `./`', './/.git/./config'),
    by('path')(
      'git-nested',
      'The git folder of a nested repository',
      () => [...reads('nested/.git/config'), ...writes('nested/.git/hooks/pre-commit')],
      toChange(({ root }) => [join(root, 'nested/.git')]),
      refused,
    ),
    attack(
      'list',
      'Listing a folder outside',
      ({ outside }) => [
        [
          call('list_files', { path: '..' }),
          call('list_files', { path: outside }),
          call('list_files', { path: 'link-folder' }),
          call('list_files', { path: '.', glob: '../**' }),
          call('list_files', { path: 'link-root/etc' }),
        ],
      ],
      toDo(({ said }) => (/secret\.txt|passwd/.test(said.replaceAll('link', '')) ? said : null)),
    ),
    attack(
      'search',
      'Searching outside',
      ({ outside }) => [
        [
          call('search', { pattern: 'cnry', path: '../outside' }),
          call('search', { pattern: 'cnry', path: outside }),
          call('search', { pattern: 'cnry', path: 'link-folder' }),
          call('search', { pattern: 'cnry', path: 'link-absolute' }),
          call('search', { pattern: 'cnry', glob: '../**' }),
          call('search', { pattern: 'cnry', path: 'link-chain' }),
          call('search', { pattern: 'cnry' }),
        ],
      ],
      toSee(CANARY),
    ),
    by('inputs')(
      'search-options',
      'Options of the search program instead of a pattern, a path or a glob',
      (victim) => [
        [
          call('search', { pattern: `--pre=${victim.trap('search')}` }),
          call('search', { pattern: 'a', path: `--pre=${victim.trap('search')}` }),
          call('search', { pattern: 'a', glob: `--pre=${victim.trap('search')}` }),
          call('search', { pattern: `-f${victim.outside}/secret.txt` }),
          call('search', { pattern: '--follow' }),
        ],
      ],
      toSpring('search'),
      toSee(CANARY),
    ),
    by('bounded')(
      'search-storm',
      'A pattern that backtracks for ever',
      () => [
        ...writes('storm.txt', `${'a'.repeat(5_000)}!`),
        [
          call('search', { pattern: '(a+)+$', path: 'storm.txt' }),
          call('search', { pattern: '(a|aa)+$', path: 'storm.txt' }),
        ],
      ],
      toDo(({ results }) => (results.length === 3 ? null : 'no answer')),
    ),
    by('bounded')(
      'glob-storm',
      'A glob that backtracks for ever',
      () => [
        ...writes(`glob-${'a'.repeat(240)}`),
        [
          call('list_files', { path: '.', glob: 'glob-*a*a*a*a*a*a*a*a*b' }),
          call('search', { pattern: 'x', glob: 'glob-{*a,*a*a}{*a,*a*a}{*a,*a*a}{*a,*a*a}b' }),
        ],
      ],
      toDo(({ results }) => (results.length === 3 ? null : 'no answer')),
    ),
    by('replaced', 'filter')(
      'set-id',
      'Keeping the set-uid bit of a file that is rewritten',
      () => [
        [call('run_command', { command: 'echo x > suid.sh; chmod 755 suid.sh; chmod 6755 suid.sh' })],
        ...writes('suid.sh'),
      ],
      toDo(({ victim }) =>
        stateOf(join(victim.root, 'suid.sh')).startsWith('755 ') ? null : 'the bit is kept',
      ),
    ),
  ],
};

export const FILE_STAGES: readonly Stage[] = [throughTools, duringSwaps, duringExchanges, LED_ASTRAY];

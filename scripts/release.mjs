/**
 * Packs a release: `node scripts/release.mjs FOLDER`. The folder then contains the npm tarball, SHA256SUMS of it and of
 * the committed files of the action, and the release notes. Prints version, major-tag and npm-tag for the workflow that
 * publishes them (.github/workflows/release.yml). Refuses a version that is not ready, and says why. If
 * GITHUB_REPOSITORY (OWNER/NAME) is set, it must be the repository that package.json names: npm checks the provenance
 * against it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
if (folder === undefined) refuse('usage: node scripts/release.mjs FOLDER');

const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const [, major, prerelease] = /^(\d+)\.\d+\.\d+(-[\w.-]+)?$/.exec(version) ?? [];
if (major === undefined) refuse(`package.json: ${version} is not a version such as 1.2.3 or 1.2.3-rc.1`);

const expected = process.env.GITHUB_REPOSITORY;
if (expected !== undefined && repository.url !== `git+https://github.com/${expected}.git`)
  refuse(`package.json: repository.url is ${repository.url}, but this is ${expected}`);

const tag = `v${version}`;
if (output('git', ['tag', '--list', tag]) !== '') refuse(`the tag ${tag} already exists`);

const notes = notesOf(readFileSync('CHANGELOG.md', 'utf8'));
if (notes === null) refuse(`CHANGELOG.md has no section "## ${version}", or it is empty`);

// The workflow that others call uses the action of an earlier commit: everything else has to be the same there.
const CALLED = '.github/workflows/patchsmith.yml';
const slug = /github\.com\/(.+)\.git$/.exec(repository.url)?.[1];
const uses = readFileSync(CALLED, 'utf8').matchAll(/uses: (\S+)@(\w+) # the parent commit/g);
const pins = [...new Set(Array.from(uses, ([, of, commit]) => `${of} ${commit}`))];
const [of, commit] = pins[0]?.split(' ') ?? [];
if (pins.length !== 1 || of !== slug || differing(commit) !== CALLED)
  refuse(
    `${CALLED} has to use ${slug} at a commit from which only this file differs: npm run pin, and commit`,
  );

mkdirSync(folder, { recursive: true });
// Nothing is built here, so that the tested files are packed.
const [{ filename }] = JSON.parse(
  output('npm', ['pack', '--json', '--ignore-scripts', '--no-update-notifier', '--pack-destination', folder]),
);
const committed = output('git', ['ls-files', '-z', '--', 'dist']).split('\0').filter(Boolean);
const sums = [[filename, join(folder, filename)], ...committed.map((path) => [path, path])];
writeFileSync(join(folder, 'SHA256SUMS'), sums.map(([name, path]) => `${sha256(path)}  ${name}\n`).join(''));
writeFileSync(join(folder, 'notes.md'), `${notes}\n`);

// A prerelease is never the default: neither `npm install patchsmith` nor `uses: …@v1` gets it.
console.log(`version=${version}`);
console.log(`major-tag=${prerelease === undefined ? `v${major}` : ''}`);
console.log(`npm-tag=${prerelease === undefined ? 'latest' : 'next'}`);

/** The text below the heading of this version (`## 1.2.3`, `## [1.2.3] - 2026-01-31`), up to the next one. */
function notesOf(changelog) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/)[0].replace(/^\[(.*)\]$/, '$1') === version);
  const text = section?.slice(section.indexOf('\n')).trim() ?? '';
  return text === '' ? null : text;
}

/** The paths that are not the same in that commit and this one. */
function differing(commit) {
  try {
    return execFileSync('git', ['diff', '--name-only', commit, 'HEAD'], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return null;
  }
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function output(program, args) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

function refuse(why) {
  console.error(why);
  process.exit(1);
}

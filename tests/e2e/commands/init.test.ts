import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { type CliEnd, runCli } from '../../support/runs/cli.ts';

const written = (root: string) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('.git/') && /\.(yml|md)$/.test(path))
    .sort();

const refused = ({ exitCode, lastLine }: CliEnd, why: string) =>
  expect([exitCode, lastLine]).toEqual([2, expect.stringContaining(why)]);

test.each(['issues', 'plans', 'long', 'fork'])(
  'init %s writes the workflow of the docs and the plans that it names',
  async (name) => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const end = await runCli(['init', name], { cwd: root });
    expect(end.exitCode, end.stderr).toBe(0);
    const workflow = `.github/workflows/patchsmith-${name}.yml`;
    const text = readFileSync(join(root, workflow), 'utf8');
    expect(text).toBe(readFileSync(`docs/workflows/${name}.yml`, 'utf8'));
    const files = written(root);
    for (const [plan] of text.matchAll(/\.github\/patchsmith\/\S+\.md/g)) expect(files).toContain(plan);
    expect(files.filter((path) => path.startsWith('.github/patchsmith/'))).toHaveLength(1);
    expect(end.stderr).toContain('secret ANTHROPIC_API_KEY');
    expect(end.stderr).toContain('patchsmith init --update OWNER/patchsmith@COMMIT');
    expect(end.lastLine).toMatch(/^patchsmith: done \(exit 0\): \d files written/);
  },
);

test('with --app what publishes logs in as a GitHub App, of which fork has nothing', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const end = await runCli(['init', 'plans', '--app'], { cwd: root });
  expect(end.exitCode, end.stderr).toBe(0);
  const text = readFileSync(join(root, '.github/workflows/patchsmith-plans.yml'), 'utf8');
  expect(text).not.toContain(': write');
  expect(text).toContain('      APP_PRIVATE_KEY: ');
  expect(end.stderr).toContain('the secret PATCHSMITH_APP_KEY');
  expect(end.stderr).not.toContain('Allow GitHub Actions to create');
  const fork = await runCli(['init', 'fork', '--app'], { cwd: root });
  refused(fork, '--app: the workflow fork publishes nothing');
});

describe('the commit that workflows call', () => {
  const [first, second] = ['1'.repeat(40), '2'.repeat(40)];
  const path = '.github/workflows/patchsmith-issues.yml';
  const MIRROR = 'corp/patchsmith';

  test('is the one that is named, and is renewed without another change', async () => {
    const { root } = await makeRepository({ '.github/workflows/ci.yml': 'uses: corp/other@v1\n' });
    const begun = await runCli(['init', 'issues', `${MIRROR}@${first}`], { cwd: root });
    expect(begun.stderr).toContain('Review the commit that the workflow calls.');
    const text = readFileSync(join(root, path), 'utf8');
    expect(text).toContain(`    uses: ${MIRROR}/.github/workflows/patchsmith.yml@${first}\n`);
    // Theirs, with bytes that are no text.
    const own = Buffer.from(`${text.replace('"5"', '"9"')}# \xff\r\n`, 'latin1');
    writeFileSync(join(root, path), own);
    const renewed = await runCli(['init', '--update', `${MIRROR}@${second}`], { cwd: root });
    expect(renewed.lastLine).toBe(
      'patchsmith: done (exit 0): 1 workflow renewed. Review and commit the change.',
    );
    const line = `    uses: ${MIRROR}/.github/workflows/patchsmith.yml@`;
    expect(renewed.stderr).toBe(`${path}\n-${line}${first}\n+${line}${second}\n${renewed.lastLine}\n`);
    expect(readFileSync(join(root, path)).toString('latin1')).toBe(
      own.toString('latin1').replace(first, second),
    );
    const again = await runCli(['init', '--update', `${MIRROR}@${second}`], { cwd: root });
    expect(again.lastLine).toContain('no_change (exit 0): Every call has this commit already.');
  });

  test('has to be named by a build from a checkout, in full', async () => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    refused(
      await runCli(['init', '--update'], { cwd: root }),
      '[ERR_NO_RELEASE]: This is a build from a checkout',
    );
    for (const action of [`${MIRROR}@v1`, `patchsmith@${first}`])
      refused(await runCli(['init', '--update', action], { cwd: root }), 'OWNER/NAME@ and the 40 digits');
  });

  test('of a link is left alone', async () => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const elsewhere = join(temporaryFolder(), 'a.yml');
    const call = `    uses: ${MIRROR}/.github/workflows/patchsmith.yml@${first}\n`;
    writeFileSync(elsewhere, call);
    mkdirSync(join(root, '.github/workflows'), { recursive: true });
    symlinkSync(elsewhere, join(root, '.github/workflows/a.yml'));
    const end = await runCli(['init', '--update', `${MIRROR}@${second}`], { cwd: root });
    expect([end.exitCode, readFileSync(elsewhere, 'utf8')]).toEqual([0, call]);
  });
});

test('existing files are left unchanged; without a name the workflow is that for issues', async () => {
  const { root } = await makeRepository({ '.github/patchsmith/issue.md': 'Mine.\n' });
  const end = await runCli(['init'], { cwd: root });
  expect(end.stderr).toContain('left .github/patchsmith/issue.md as it is');
  expect(written(root)).toEqual([
    '.github/patchsmith/issue.md',
    '.github/workflows/patchsmith-issues.yml',
    '.patchsmith.yml',
  ]);
  expect(readFileSync(join(root, '.github/patchsmith/issue.md'), 'utf8')).toBe('Mine.\n');
  const again = await runCli(['init', 'issues'], { cwd: root });
  expect(again.lastLine).toBe('patchsmith: no_change (exit 0): No file was missing that could be written.');
});

test('the commands of a repository are found and written, and what was there already is named', async () => {
  const manifest = { scripts: { test: 'node --test' }, dependencies: { a: '1' } };
  const files = {
    'package.json': JSON.stringify(manifest),
    'package-lock.json': '{}',
    '.gitignore': 'node_modules\n',
  };
  const { root } = await makeRepository(files);
  mkdirSync(join(root, 'node_modules/patchsmith/docs'), { recursive: true });
  writeFileSync(join(root, 'node_modules/patchsmith/docs/patchsmith.schema.json'), '{}');
  const end = await runCli(['init'], { cwd: root });
  expect(readFileSync(join(root, '.patchsmith.yml'), 'utf8')).toMatch(
    /^# yaml-language-server: \$schema=\.\/node_modules\/patchsmith\/docs\/patchsmith\.schema\.json\n# Settings/,
  );
  expect(end.stderr).toContain(
    'Found Node.js: npm, from package-lock.json, locked by package-lock.json\n  setup  test -d node_modules || npm ci  (from package-lock.json)\n  test   npm test  (from package.json, scripts.test)\n',
  );
  expect(end.stderr).toContain(
    'whether a run could start here: patchsmith check --plan .github/patchsmith/issue.md --cache npm\n',
  );
  expect(end.stderr).toContain('Then let it work: patchsmith run -m "…what you want done…" --cache npm (');
  expect(readFileSync(join(root, '.patchsmith.yml'), 'utf8')).toContain(
    'setup:\n  # from package-lock.json\n  - test -d node_modules || npm ci\n',
  );
  const again = await runCli(['init', 'plans'], { cwd: root });
  expect(again.stderr).toContain('left .patchsmith.yml as it is');
  expect(again.stderr).toContain('patchsmith run --plan .github/patchsmith/maintenance.md --cache npm (');
  expect(again.stderr).toContain(
    'Check that the existing .patchsmith.yml has this: setup: test -d node_modules || npm ci, verify: npm test.',
  );
});

test('nothing is written through a link', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const elsewhere = temporaryFolder();
  symlinkSync(elsewhere, join(root, '.github'));
  const end = await runCli(['init', 'issues'], { cwd: root });
  refused(end, '".github" is a symbolic link to');
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('a file where a folder has to be is reported', async () => {
  const { root } = await makeRepository({ '.github/patchsmith': 'a note\n' });
  const end = await runCli(['init', 'issues'], { cwd: root });
  expect([end.exitCode, end.lastLine]).toEqual([
    2,
    'patchsmith: usage_error (exit 2) [ERR_TEMPLATE_UNWRITTEN]: .github/patchsmith/issue.md cannot be written: ".github/patchsmith" is a file, not a folder.',
  ]);
});

test('an unknown name and a folder without a repository are reported', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const unknown = await runCli(['init', 'isue'], { cwd: root });
  refused(unknown, 'Unknown template "isue". Templates: issues, plans, long, fork.');
  const nowhere = await runCli(['init'], { cwd: temporaryFolder() });
  refused(nowhere, 'is not in a git repository');
});

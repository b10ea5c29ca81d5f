/** The files of docs/pipelines: valid YAML, and their scripts run as they stand. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { givenToNobody, isRoot } from '../../support/runs/as-nobody.ts';
import { CLI } from '../../support/runs/cli.ts';

interface GitLabJob {
  readonly variables: Readonly<Record<string, string>>;
  readonly script: readonly string[];
  readonly after_script?: readonly string[];
}

const GITLAB: Readonly<Record<string, GitLabJob>> = parse(readFileSync('docs/pipelines/gitlab.yml', 'utf8'));
const KUBERNETES = parse(readFileSync('docs/pipelines/kubernetes.yml', 'utf8'));

/** A folder with `patchsmith`, which plays a script that writes these files. */
function programs(files: Readonly<Record<string, string>>, cli = CLI) {
  const folder = temporaryFolder();
  const calls = Object.entries(files).map(
    ([path, content]) => `    - { name: write_file, input: ${JSON.stringify({ path, content })} }\n`,
  );
  const finish =
    '- calls: [{ name: finish, input: { status: done, summary: "Greet the world\\n\\nMore." } }]\n';
  writeFileSync(join(folder, 'script.yml'), `- calls:\n${calls.join('')}${finish}`);
  writeFileSync(join(folder, 'patchsmith'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`);
  chmodSync(join(folder, 'patchsmith'), 0o755);
  return { folder, env: { PATCHSMITH_PROVIDER: 'replay', PATCHSMITH_RECORDING: join(folder, 'script.yml') } };
}

/** The jobs of the GitLab file in a clone of a repository that takes push options; `npm` is not there. */
async function gitLab(files: Readonly<Record<string, string>>) {
  const made = await makeRepository({
    'greeting.txt': 'Hello\n',
    '.gitlab/maintenance.md': 'Greet the world.\n',
  });
  const place = temporaryFolder();
  const origin = join(place, 'acme/shop.git');
  await execa('git', ['clone', '--quiet', '--bare', made.root, origin]);
  await execa('git', ['config', 'receive.advertisePushOptions', 'true'], { cwd: origin });
  writeFileSync(
    join(origin, 'hooks/post-receive'),
    '#!/bin/sh\nenv | grep ^GIT_PUSH_OPTION_ | sort > options\n',
    { mode: 0o755 },
  );
  const tree = join(place, 'build');
  await execa('git', ['clone', '--quiet', origin, tree]);
  mkdirSync(join(tree, '.gitlab'), { recursive: true });
  const { folder, env } = programs(files);
  const job = async (name: string) => {
    const { script = [], after_script: after = [], variables = {} } = GITLAB[name] ?? {};
    const lines = [...script, ...after].filter((line) => !line.startsWith('npm install'));
    return execa('bash', ['-c', ['set -e', ...lines].join('\n').replaceAll('/tmp/patchsmith', '../run')], {
      cwd: tree,
      env: {
        ...{ PATH: `${folder}:${process.env.PATH}`, HOME: folder, CI: 'true', ...env, ...variables },
        ...{ CI_PROJECT_DIR: tree, CI_COMMIT_SHA: (await made.git('rev-parse', 'HEAD')).trim() },
        ...{ CI_DEFAULT_BRANCH: 'main', CI_SERVER_URL: `file://${place}`, CI_PROJECT_PATH: 'acme/shop' },
        CI_PIPELINE_URL: 'https://gitlab.example.com/acme/shop/-/pipelines/1',
      },
      extendEnv: false,
      reject: false,
    });
  };
  const run = await job('patchsmith');
  expect(run.exitCode, run.stderr).toBe(0);
  writeFileSync(
    join(tree, '.gitlab/merge-request.sh'),
    readFileSync('docs/pipelines/gitlab-merge-request.sh'),
  );
  return { origin, tree, again: () => job('merge-request'), end: await job('merge-request') };
}

test('on GitLab, a run becomes a merge request, which the next run updates', async () => {
  const { origin, tree, end, again } = await gitLab({ 'greeting.txt': 'Hello, world\n' });
  expect([end.exitCode, end.stdout], end.stderr).toEqual([
    0,
    'Pushed patchsmith/maintenance: Greet the world',
  ]);
  const show = async (...args: string[]) => (await execa('git', args, { cwd: origin })).stdout;
  expect(await show('log', '--format=%s', 'main..patchsmith/maintenance')).toBe('Greet the world');
  expect(await show('show', 'patchsmith/maintenance:greeting.txt')).toBe('Hello, world');
  expect(await show('diff', '--name-only', 'main', 'patchsmith/maintenance')).toBe('greeting.txt');
  expect(readFileSync(join(origin, 'options'), 'utf8').split('\n').slice(0, -2)).toEqual([
    'GIT_PUSH_OPTION_0=merge_request.create',
    'GIT_PUSH_OPTION_1=merge_request.target=main',
    'GIT_PUSH_OPTION_2=merge_request.title=Greet the world',
    'GIT_PUSH_OPTION_3=merge_request.description=Made by https://gitlab.example.com/acme/shop/-/pipelines/1, which has the report of the run.',
  ]);
  // The repository is beside the work tree.
  expect(readFileSync(join(tree, '.git'), 'utf8')).toBe(`gitdir: ${tree}.git\n`);
  expect((await again()).exitCode).toBe(0);
});

test('on GitLab, what CI obeys is not pushed', async () => {
  const { origin, end } = await gitLab({ '.gitlab-ci.yml': 'x: { script: [id] }\n' });
  expect([end.exitCode, end.stderr]).toEqual([
    8,
    'Not published, since CI or later runs obey these files: .gitlab-ci.yml',
  ]);
  expect((await execa('git', ['branch', '--list'], { cwd: origin })).stdout).toBe('* main');
});

test('each job of the GitLab file goes without the secret of the other', () => {
  expect(GITLAB.patchsmith?.variables).toEqual({ MERGE_REQUEST_TOKEN: '' });
  expect(GITLAB['merge-request']?.variables).toEqual({ ANTHROPIC_API_KEY: '' });
});

test.runIf(isRoot)('in Kubernetes, a run needs no root, no home and no writable root', async () => {
  const { initContainers, containers } = KUBERNETES.spec.template.spec;
  const [run, publish] = [initContainers[0], containers[0]];
  for (const { securityContext, env } of [run, publish])
    expect([securityContext, env.filter((one: object) => 'valueFrom' in one).length]).toEqual([
      { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      1,
    ]);
  const { root } = await makeRepository({
    'greeting.txt': 'x\n',
    '.github/patchsmith/maintenance.md': 'Greet.\n',
  });
  const work = temporaryFolder();
  const { cli, wrap } = await givenToNobody(work, root);
  const { folder, env } = programs({ 'greeting.txt': 'Hello\n' }, cli);
  chmodSync(folder, 0o755);
  const [program, ...line] = [...wrap, ...run.command, ...run.args];
  const end = await execa(program ?? '', line, {
    cwd: '/',
    env: { PATH: `${folder}:${process.env.PATH}`, ...env, TMPDIR: work, REPOSITORY: root },
    extendEnv: false,
    reject: false,
  });
  expect([end.exitCode, existsSync(join(work, 'run/changes.patch'))], end.stderr).toEqual([0, true]);
});

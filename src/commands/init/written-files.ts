/**
 * What `init` writes and prints: templates of the docs, completed with the findings in the repository; and workflows that call the one
 * of this project, pinned to a commit.
 */

import { stringify } from 'yaml';
import fork from '../../../docs/workflows/fork.yml';
import issues from '../../../docs/workflows/issues.yml';
import long from '../../../docs/workflows/long.yml';
import plans from '../../../docs/workflows/plans.yml';
import issuePlan from '../../../docs/workflows/samples/issue.md';
import maintenancePlan from '../../../docs/workflows/samples/maintenance.md';
import { inputLines, type Project, type Said } from '../../adapters/survey/project.ts';
import type { Survey } from '../../adapters/survey/survey.ts';

/** A workflow, its plans, and what to set up on GitHub. */
export interface WorkflowTemplate {
  readonly workflow: string;
  /** Plan texts by file name in `.github/patchsmith`. */
  readonly plans: Readonly<Record<string, string>>;
  /** Its plan is about an issue, so it says nothing to a run that begins without one. */
  readonly needsIssue?: true;
  /** Nothing of it writes to GitHub. */
  readonly onlyReads?: true;
  /** What to do on GitHub before it works, one sentence each. */
  readonly next: readonly string[];
}

const KEY = 'Add the secret ANTHROPIC_API_KEY in Settings → Secrets and variables → Actions.';
/** The step that the job's own token needs. */
export const PULL_REQUESTS =
  'Turn on "Allow GitHub Actions to create and approve pull requests" in Settings → Actions → General.';

/** What takes its place where a GitHub App publishes. */
export const APP_STEPS: readonly string[] = [
  'Make a GitHub App with the permissions contents, pull requests and issues (read and write), and install it in this repository.',
  'Add its client id as the variable PATCHSMITH_APP_CLIENT_ID and a private key of it as the secret PATCHSMITH_APP_KEY, in Settings → Secrets and variables → Actions.',
];

/** By the name that `init` accepts. */
export const WORKFLOW_TEMPLATES: Readonly<Record<string, WorkflowTemplate>> = {
  issues: {
    workflow: issues,
    plans: { 'issue.md': issuePlan },
    needsIssue: true,
    next: [
      KEY,
      PULL_REQUESTS,
      'In the workflow, name your workflows at workflow_run, and at push the branch that pull requests are merged into. Failed checks need the token of a GitHub App (init --app), with the id of its bot as allow-bot.',
      'Make a label patchsmith and set it on an issue, or comment on one: /patchsmith, and what to do.',
    ],
  },
  plans: {
    workflow: plans,
    plans: { 'maintenance.md': maintenancePlan },
    next: [KEY, PULL_REQUESTS, 'Start it once by hand, in Actions → patchsmith plans.'],
  },
  long: {
    workflow: long,
    plans: { 'maintenance.md': maintenancePlan },
    next: [KEY, PULL_REQUESTS, 'Start it by hand, in Actions → patchsmith long.'],
  },
  fork: {
    workflow: fork,
    plans: { 'maintenance.md': maintenancePlan },
    onlyReads: true,
    next: [KEY, 'Start it by hand, in Actions → patchsmith fork, with the commit of a pull request.'],
  },
};

const PROJECT_FILE_HEAD = `# Settings of patchsmith for every plan of this repository, written by patchsmith init.
# All of them: patchsmith help run
`;

/** Where a repository that has patchsmith among its packages has the schema of its project file. */
export const SCHEMA_IN_PACKAGES = 'node_modules/patchsmith/docs/patchsmith.schema.json';

/** The text of `.patchsmith.yml`. `hasSchema`: editors find the schema in the packages of the repository. */
export function projectFileText(project: Project | null, hasSchema = false): string {
  const verify = project === null ? [] : verifyOf(project);
  const schema = hasSchema ? `# yaml-language-server: $schema=./${SCHEMA_IN_PACKAGES}\n` : '';
  return [
    `${schema}${PROJECT_FILE_HEAD}`,
    project === null || project.setup.length === 0
      ? ''
      : `# Run once before the model is asked, and again in each fresh checkout that is verified.\n${listText('setup', project.setup)}`,
    `# What must succeed when the model is done. Only their exit codes count, so use none that cannot fail.\n${
      verify.length > 0 ? listText('verify', verify) : '# verify:\n#   - the command that runs your tests\n'
    }`,
    project === null || project.domains.length === 0 ? '' : networkText(project),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** The commands of `verify`: the tests and linter that were found, or a build if there are no tests. */
export function verifyOf({ test, lint, build }: Project): Said[] {
  return [test ?? build, lint].filter((said) => said !== null);
}

/** The flags with which commands of this machine have their packages. */
export function packageFlags({ cache, domains }: Project): string {
  if (cache !== null) return `--cache ${cache.manager}`;
  return domains.map((domain) => `--allow-domain ${domain}`).join(' ');
}

/** A sample plan, with the linter of this repository in place of npm's. */
export function withLinter(sample: string, project: Project | null): string {
  const lint = project?.lint ? `\`${project.lint.text}\`` : 'the linter';
  return sample.replaceAll('`npm run lint`', () => lint);
}

/** What `init` prints about a repository: what it found and where. One line each. */
export function surveyLines({ project, ecosystem }: Survey): string[] {
  if (project === null) return ['Found no language: no manifest in the root.'];
  const { manager, lockfile, setup, test, lint, build, domains } = project;
  const written = new Set([...setup, ...verifyOf(project)]);
  const row = (name: string, said: Said | null) =>
    said === null
      ? `  ${name.padEnd(6)} none found`
      : `  ${name.padEnd(6)} ${said.text}  (${sourceOf(said)}${written.has(said) ? '' : '; not written'})`;
  return [
    `Found ${ecosystem?.name}: ${manager.text}, ${sourceOf(manager)}${lockfile === null ? '' : `, locked by ${lockfile}`}`,
    ...setup.map((said) => row('setup', said)),
    row('test', test),
    row('lint', lint),
    row('build', build),
    ...(domains.length === 0 ? [] : [`  hosts  ${domains.join(', ')}  (of the package manager)`]),
  ];
}

/** Where something comes from, for people and for comments: on one line, whatever names files have. */
function sourceOf({ from }: Said): string {
  return `from ${from.replaceAll(/[^\x20-\x7e]/g, '?')}`;
}

function listText(key: string, commands: readonly Said[]): string {
  const entries = commands.map(
    (said) => `  # ${sourceOf(said)}\n  - ${stringify(said.text, { lineWidth: 0 }).trimEnd()}\n`,
  );
  return `${key}:\n${entries.join('')}`;
}

function networkText(project: Project): string {
  const { cache } = project;
  return `# Commands have no network, and this file cannot open it: a pull request could change it. The workflow says where packages
# come from; on the command line, ${cache === null ? '' : `after ${cache.filledBy}, `}add
#   ${packageFlags(project)}
# Other ways to get tests to run: docs/sandbox.md of patchsmith
`;
}

/** The workflow of this project at the commit of a release. */
export interface WorkflowPin {
  /** OWNER/NAME. */
  readonly repository: string;
  readonly commit: string;
  /** Such as `v1.2.3`; null if it is not known. */
  readonly tag: string | null;
}

/** Replaced by the build of a release: OWNER/NAME, the commit and the tag. */
declare const RELEASE: readonly [repository: string, commit: string, tag: string] | null | undefined;

/** The release that is installed; null for a build from a checkout. */
export function releasePin(): WorkflowPin | null {
  if (typeof RELEASE === 'undefined' || RELEASE === null) return null;
  const [repository, commit, tag] = RELEASE;
  return { repository, commit, tag };
}

/** The value of `--action`; null if it is not OWNER/NAME@COMMIT. */
export function pinIn(text: string): WorkflowPin | null {
  const [, repository, commit] = /^([\w.-]+\/[\w.-]+)@([0-9a-f]{40})$/.exec(text) ?? [];
  return repository === undefined || commit === undefined ? null : { repository, commit, tag: null };
}

const CALL = /^( +uses: )([\w.-]+\/[\w.-]+)(\/\.github\/workflows\/patchsmith\.yml)@[^\r\n]*/gm;

/** The repositories whose workflow a text calls. */
export function calledIn(workflow: string): string[] {
  return [...workflow.matchAll(CALL)].map(([, , repository = '']) => repository);
}

/** The text with its calls at that commit, and nothing else changed. */
export function pinned(workflow: string, { repository, commit, tag }: WorkflowPin): string {
  return workflow.replace(CALL, (_, uses: string, _called, file: string) => {
    const version = tag === null ? '' : ` # ${tag}`;
    return `${uses}${repository}${file}@${commit}${version}`;
  });
}

/** With the language to install, and the hosts that packages come from. */
export function madeFor(workflow: string, project: Project | null): string {
  if (project === null) return workflow;
  const { domains, installs } = project;
  const hosts = [
    '# Setup and verify commands download from here; every command can reach it.',
    'allow-domain: |',
    ...domains.map((domain) => `  ${domain}`),
  ];
  const lines = [...inputLines(installs), ...(domains.length === 0 ? [] : hosts)];
  return workflow.replaceAll(
    /^ {4}with:\n/gm,
    (line) => `${line}${lines.map((one) => `      ${one}\n`).join('')}`,
  );
}

/** With the token of an App, so that checks run on its pull requests; what writes then has no use for the job's own. */
export function withAppToken(workflow: string): string {
  return workflow
    .replaceAll(/: write #.*$/gm, ': read # what writes logs in as the App')
    .replaceAll(
      /^ {4}with:\n/gm,
      (line) => `${line}      app-client-id: \${{ vars.PATCHSMITH_APP_CLIENT_ID }}\n`,
    )
    .replaceAll(
      /^ {4}secrets:\n/gm,
      (line) => `${line}      APP_PRIVATE_KEY: \${{ secrets.PATCHSMITH_APP_KEY }}\n`,
    );
}

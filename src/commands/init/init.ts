/**
 * `patchsmith init`: looks at the repository, writes project file, workflow, plans and principles, and prints what it found,
 * what it guessed, and what is left to do. Never overwrites anything, and executes nothing of the repository.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../../adapters/survey/project.ts';
import { type Survey, surveyRepository } from '../../adapters/survey/survey.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { PROJECT_FILE } from '../../config/resolve.ts';
import { absolutePath, type RepoPath } from '../../domain/changes/path.ts';
import type { Environment } from '../../domain/environment.ts';
import { done, noChange, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { pluralize, sentence } from '../../domain/text/words.ts';
import { writeNewFile } from '../../files/nofollow-files.ts';
import { lookAt } from '../../files/tree-view.ts';
import { withAppToken } from './app-token.ts';
import { surveyLines } from './report.ts';
import { withResumeJob } from './resume-job.ts';
import {
  APP_STEPS,
  PRINCIPLES_SAMPLE,
  PULL_REQUESTS,
  WORKFLOW_TEMPLATES,
  type WorkflowTemplate,
} from './workflow-templates.ts';
import {
  packageFlags,
  projectFileText,
  SCHEMA_IN_PACKAGES,
  verifyOf,
  withCommands,
  workflowText,
} from './written-files.ts';

/** The arguments of `patchsmith init`. */
export interface InitInput {
  readonly template: string;
  /** Publish with the token of a GitHub App. */
  readonly withApp: boolean;
  /** Continue runs that the time limit of a job has cut off. */
  readonly isLong: boolean;
  /** Null for the checkout that contains `cwd`. */
  readonly repo: string | null;
  readonly cwd: string;
  readonly env: Environment;
  /** Prints one line for people. */
  readonly say: (line: string) => void;
}

/** Writes a workflow template, its plans and the project file into a repository. Existing files are never replaced. */
export async function initialise({
  template: name,
  withApp,
  isLong,
  repo,
  cwd,
  env,
  say,
}: InitInput): Promise<RunOutcome> {
  const names = Object.keys(WORKFLOW_TEMPLATES);
  const template = Object.hasOwn(WORKFLOW_TEMPLATES, name) ? WORKFLOW_TEMPLATES[name] : undefined;
  if (template === undefined) {
    return usageError(
      'ERR_UNKNOWN_TEMPLATE',
      `Unknown template ${JSON.stringify(name)}. Templates: ${names.join(', ')}.`,
    );
  }
  const plain = isLong ? withResumeJob(template.workflow) : template.workflow;
  const workflow = withApp ? withAppToken(plain) : plain;
  if (workflow === null)
    return usageError(
      'ERR_SETTINGS_CONFLICT',
      `--app: the workflow ${name} publishes nothing, so it needs no token for that.`,
    );
  const found = await findCheckout(absolutePath(cwd, repo ?? '.'), env);
  if (found.status === 'failed') return usageError('ERR_NO_CHECKOUT', found.message);
  const { root } = found.checkout;
  const survey = await surveyRepository(root);
  for (const line of surveyLines(survey)) say(line);
  let written = 0;
  const kept: string[] = [];
  for (const file of filesToWrite(root, { ...template, name, workflow }, survey)) {
    const { path, text, unless } = file;
    const there = [path, ...unless].find((one) => lookAt(root, one).status === 'seen');
    const why = there === undefined ? writeNewFile(root, path as RepoPath, text) : null;
    if (why !== null)
      return usageError('ERR_TEMPLATE_UNWRITTEN', sentence(`${path} cannot be written: ${why}`));
    if (there === undefined) written += 1;
    else kept.push(path);
    say(there === undefined ? `wrote ${path}` : `left ${there} as it is`);
  }
  say('Left to do:');
  const steps = stepsLeft(template, survey, { kept, withApp });
  for (const [at, step] of steps.entries()) say(`  ${at + 1}. ${step}`);
  if (written === 0) return noChange('Everything exists already.');
  return done(`${pluralize(written, 'file')} written. Commit what you want to keep.`);
}

interface FileToWrite {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  /** Files that make it unnecessary. */
  readonly unless: readonly string[];
}

function filesToWrite(
  root: string,
  { name, workflow, ...template }: WorkflowTemplate & { readonly name: string },
  { project }: Survey,
): FileToWrite[] {
  return [
    {
      path: PROJECT_FILE,
      text: projectFileText(project, existsSync(join(root, SCHEMA_IN_PACKAGES))),
      unless: ['.patchsmith.yaml'],
    },
    {
      path: `.github/workflows/patchsmith-${name}.yml`,
      text: workflowText(workflow, project),
      unless: [],
    },
    ...Object.entries(template.plans).map(([plan, text]) => ({
      path: `${PLANS}/${plan}`,
      text: withCommands(text, project),
      unless: [],
    })),
    { path: 'AGENTS.md', text: withCommands(PRINCIPLES_SAMPLE, project), unless: ['CLAUDE.md'] },
  ];
}

/** What people still have to do, in its order. `kept` are files that were there before. */
function stepsLeft(
  template: WorkflowTemplate,
  { project, decisions }: Survey,
  { kept, withApp }: { kept: readonly string[]; withApp: boolean },
): string[] {
  const plans = Object.keys(template.plans).map((plan) => `${PLANS}/${plan}`);
  return [
    ...decisions,
    ...(project?.test ? [] : [NO_TESTS]),
    ...(kept.includes(PROJECT_FILE) ? notWritten(project) : []),
    `Check the commands in ${PROJECT_FILE} and the plan: ${plans.join(', ')}.`,
    ...(project?.cache ? [`Download the packages to this machine, once: ${project.cache.filledBy}`] : []),
    `Check for free whether a run could start here: ${typeLine('check', plans, project)}`,
    `Then let it work: ${typeLine('run', template.needsIssue ? null : plans, project)} (docs/sandbox.md says how tests get their packages)`,
    `In the workflow, put the owner of the action in place of OWNER in OWNER/patchsmith, and in place of the zeros the full id of a commit that you have reviewed.`,
    ...(withApp ? [...APP_STEPS, ...template.next.filter((step) => step !== PULL_REQUESTS)] : template.next),
  ];
}

const PLANS = '.github/patchsmith';
const NO_TESTS = `No test command was found: name one as verify in ${PROJECT_FILE}. Without it, nothing shows that a change is right.`;

/** For a project file that was there before. */
function notWritten(project: Project | null): string[] {
  if (project === null) return [];
  const commands = [
    ...project.setup.map(({ text }) => `setup: ${text}`),
    ...verifyOf(project).map(({ text }) => `verify: ${text}`),
  ];
  return commands.length === 0
    ? []
    : [`Check that the existing ${PROJECT_FILE} has this: ${commands.join(', ')}.`];
}

/** What to type next. */
function typeLine(
  command: 'check' | 'run',
  plans: readonly string[] | null,
  project: Project | null,
): string {
  const flags = project === null ? '' : packageFlags(project);
  const task = plans === null ? '-m "…what you want done…"' : `--plan ${plans[0]}`;
  return `patchsmith ${command} ${task}${flags && ` ${flags}`}`;
}

/**
 * `patchsmith init [TEMPLATE]`: looks at the repository, writes project file, workflow and plans, and prints what it found, what
 * it guessed, and what is left to do. Overwrites nothing without `--update`, and executes nothing of the repository.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Survey, surveyRepository } from '../../adapters/survey/survey.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { PROJECT_FILE } from '../../config/resolve.ts';
import { absolutePath, type RepoPath } from '../../domain/changes/path.ts';
import { done, noChange, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { pluralize, sentence } from '../../domain/text/words.ts';
import { readFile, writeFile, writeNewFile } from '../../files/nofollow-files.ts';
import { lookAt, viewing } from '../../files/tree-view.ts';
import { type Work, working } from '../work.ts';
import {
  APP_STEPS,
  calledIn,
  madeFor,
  PULL_REQUESTS,
  packageFlags,
  pinIn,
  pinned,
  projectFileText,
  releasePin,
  SCHEMA_IN_PACKAGES,
  surveyLines,
  verifyOf,
  WORKFLOW_TEMPLATES,
  type WorkflowPin,
  type WorkflowTemplate,
  withAppToken,
  withLinter,
} from './written-files.ts';

/** Writes what is missing, or with `--update` renews the commit that workflows call. */
export const startInit = working(initialise);

async function initialise({ cwd, env, operands, switches, settings, say }: Work): Promise<RunOutcome> {
  const [name = 'issues', ...others] = operands.filter((one) => !one.includes('@'));
  const actions = operands.filter((one) => one.includes('@'));
  const pins = actions.map(pinIn);
  const [named = null] = pins;
  if (pins.includes(null) || pins.length + others.length > 1)
    return usageError(
      'ERR_UNEXPECTED_WORD',
      'Expected at most one template, and one action as OWNER/NAME@ and the 40 digits of a commit.',
    );
  const template = Object.hasOwn(WORKFLOW_TEMPLATES, name) ? WORKFLOW_TEMPLATES[name] : undefined;
  if (template === undefined) {
    return usageError(
      'ERR_UNKNOWN_TEMPLATE',
      `Unknown template ${JSON.stringify(name)}. Templates: ${Object.keys(WORKFLOW_TEMPLATES).join(', ')}.`,
    );
  }
  const withApp = switches.has('app');
  if (withApp && template.onlyReads)
    return usageError(
      'ERR_SETTINGS_CONFLICT',
      `--app: the workflow ${name} publishes nothing, so it needs no token for that.`,
    );
  const found = await findCheckout(absolutePath(cwd, settings.repo ?? '.'), env);
  if (found.status === 'failed') return usageError('ERR_NO_CHECKOUT', found.message);
  const { root, prefix } = found.checkout;
  if (switches.has('update')) return updateCalls(root, named, say);
  if (prefix !== '') say(`About the root of the checkout, ${root}, and not ${prefix}:`);
  const survey = await surveyRepository(root);
  for (const line of surveyLines(survey)) say(line);
  const pin = named ?? releasePin();
  const called = pin === null ? template.workflow : pinned(template.workflow, pin);
  const made = madeFor(called, survey.project);
  const files = filesToWrite(
    root,
    { ...template, workflow: withApp ? withAppToken(made) : made },
    name,
    survey,
  );
  let written = 0;
  let left: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    const kept = [path, ...(ALSO_CALLED[path] ?? [])].find((one) => lookAt(root, one).status === 'seen');
    if (kept !== undefined) {
      left = [...left, path];
      say(`left ${kept} as it is`);
    } else {
      const why = writeNewFile(root, path as RepoPath, text);
      if (why !== null)
        return usageError('ERR_TEMPLATE_UNWRITTEN', sentence(`${path} cannot be written: ${why}`));
      written += 1;
      say(`wrote ${path}`);
    }
  }
  say('Left to do:');
  const steps = stepsLeft(template, survey, left.includes(PROJECT_FILE), withApp, pin !== null);
  for (const [at, step] of steps.entries()) say(`  ${at + 1}. ${step}`);
  if (written === 0) return noChange('No file was missing that could be written.');
  return done(`${pluralize(written, 'file')} written. Commit what you want to keep.`);
}

const PLANS = '.github/patchsmith';
/** Other names of a file. */
const ALSO_CALLED: Readonly<Record<string, readonly string[]>> = { [PROJECT_FILE]: ['.patchsmith.yaml'] };

/** Texts by path, relative to the root. */
function filesToWrite(
  root: string,
  { workflow, plans }: WorkflowTemplate,
  name: string,
  { project }: Survey,
): Readonly<Record<string, string>> {
  const texts = Object.entries(plans).map(([plan, text]) => [`${PLANS}/${plan}`, withLinter(text, project)]);
  return {
    [PROJECT_FILE]: projectFileText(project, existsSync(join(root, SCHEMA_IN_PACKAGES))),
    [`.github/workflows/patchsmith-${name}.yml`]: workflow,
    ...Object.fromEntries(texts),
  };
}

/** What people still have to do, in its order. */
function stepsLeft(
  template: WorkflowTemplate,
  { project, decisions }: Survey,
  hasProjectFile: boolean,
  withApp: boolean,
  isPinned: boolean,
): string[] {
  const plans = Object.keys(template.plans).map((plan) => `${PLANS}/${plan}`);
  const flags = project === null ? '' : packageFlags(project);
  const typed = (command: string) => `patchsmith ${command}${flags && ` ${flags}`}`;
  const task = template.needsIssue ? '-m "…what you want done…"' : `--plan ${plans[0]}`;
  const commands = [
    ...(project?.setup ?? []).map(({ text }) => `setup: ${text}`),
    ...(project === null ? [] : verifyOf(project)).map(({ text }) => `verify: ${text}`),
  ];
  return [
    ...decisions,
    ...(project?.test
      ? []
      : [
          `No test command was found: name one as verify in ${PROJECT_FILE}. Without it, nothing shows that a change is right.`,
        ]),
    hasProjectFile && commands.length > 0
      ? `Check that the existing ${PROJECT_FILE} has this: ${commands.join(', ')}.`
      : `Check the commands in ${PROJECT_FILE} and the plan: ${plans.join(', ')}.`,
    ...(project?.cache ? [`Download the packages to this machine, once: ${project.cache.filledBy}`] : []),
    `Check for free whether a run could start here: ${typed(`check --plan ${plans[0]}`)}`,
    `Then let it work: ${typed(`run ${task}`)} (docs/sandbox.md says how tests get their packages)`,
    isPinned
      ? 'Review the commit that the workflow calls.'
      : 'Let the workflow call a commit that you have reviewed: patchsmith init --update OWNER/patchsmith@COMMIT',
    ...(withApp ? [...APP_STEPS, ...template.next.filter((step) => step !== PULL_REQUESTS)] : template.next),
  ];
}

const FOLDER = '.github/workflows';
const MAX_BYTES = 1_000_000;

/** `named` is the action on the command line; null for the release that is installed. */
function updateCalls(root: string, named: WorkflowPin | null, say: (line: string) => void): RunOutcome {
  const pin = named ?? releasePin();
  if (pin === null) return unknownCommit('This is a build from a checkout, which no workflow can call.');
  const listing = viewing(root, (view) => view.listFolder(FOLDER));
  const names = listing.status === 'seen' ? listing.entries.map(({ name }) => name).sort() : [];
  let calls = 0;
  let renewed = 0;
  for (const name of names.filter((one) => /\.ya?ml$/.test(one))) {
    const path = `${FOLDER}/${name}` as RepoPath;
    const read = readFile(root, path, MAX_BYTES);
    if (read.status !== 'ok') continue;
    // Byte for byte: a call is ASCII, and the rest is not ours.
    const text = read.bytes.toString('latin1');
    const called = calledIn(text);
    const other = called.find((repository) => named === null && repository !== pin.repository);
    if (other !== undefined)
      return unknownCommit(`${path} calls ${other}, and this is a release of ${pin.repository}.`);
    calls += called.length;
    const now = pinned(text, pin);
    if (now === text) continue;
    const written = writeFile(root, path, Buffer.from(now, 'latin1'));
    if (written.status !== 'ok')
      return usageError('ERR_TEMPLATE_UNWRITTEN', sentence(`${path} cannot be written: ${written.message}`));
    renewed += 1;
    say(path);
    const lines = now.split('\n');
    for (const [at, line] of text.split('\n').entries())
      if (line !== lines[at]) for (const one of [`-${line}`, `+${lines[at]}`]) say(one.trimEnd());
  }
  if (renewed > 0) return done(`${pluralize(renewed, 'workflow')} renewed. Review and commit the change.`);
  return noChange(
    calls > 0 ? 'Every call has this commit already.' : `No workflow in ${FOLDER} calls patchsmith's.`,
  );
}

function unknownCommit(why: string): RunOutcome {
  return usageError(
    'ERR_NO_RELEASE',
    `${why} Name a commit that you have reviewed: patchsmith init --update OWNER/patchsmith@COMMIT.`,
  );
}

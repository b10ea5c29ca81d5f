/** The workflows of docs/workflows, with the files that each of them names. */

import checks from '../../../docs/workflows/checks.yml';
import comment from '../../../docs/workflows/comment.yml';
import conflicts from '../../../docs/workflows/conflicts.yml';
import fork from '../../../docs/workflows/fork.yml';
import issue from '../../../docs/workflows/issue.yml';
import long from '../../../docs/workflows/long.yml';
import matrix from '../../../docs/workflows/matrix.yml';
import documentationPlan from '../../../docs/workflows/samples/documentation.md';
import issuePlan from '../../../docs/workflows/samples/issue.md';
import maintenancePlan from '../../../docs/workflows/samples/maintenance.md';
import schedule from '../../../docs/workflows/schedule.yml';

/** A workflow, its plans, and what to set up on GitHub. */
export interface WorkflowTemplate {
  readonly workflow: string;
  /** Plan texts by file name in `.github/patchsmith`. */
  readonly plans: Readonly<Record<string, string>>;
  /** Its plan is about an issue, so it says nothing to a run that begins without one. */
  readonly needsIssue?: true;
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
  issue: {
    workflow: issue,
    plans: { 'issue.md': issuePlan },
    needsIssue: true,
    next: [KEY, PULL_REQUESTS, 'Make a label patchsmith, and set it on an issue.'],
  },
  comment: {
    workflow: comment,
    plans: { 'issue.md': issuePlan },
    needsIssue: true,
    next: [KEY, PULL_REQUESTS, 'Comment on an issue: /patchsmith, and what to do.'],
  },
  checks: {
    workflow: checks,
    plans: { 'issue.md': issuePlan },
    needsIssue: true,
    next: [
      KEY,
      'Name your workflows in it, publish with the token of a GitHub App (init --app, here and for the workflow that opens the pull requests), and give allow-bot the id of its bot.',
    ],
  },
  conflicts: {
    workflow: conflicts,
    plans: { 'issue.md': issuePlan },
    needsIssue: true,
    next: [KEY, 'Name the branches in it that pull requests are merged into.'],
  },
  schedule: {
    workflow: schedule,
    plans: { 'maintenance.md': maintenancePlan },
    next: [KEY, PULL_REQUESTS, 'Start it once by hand, in Actions → patchsmith maintenance.'],
  },
  matrix: {
    workflow: matrix,
    plans: { 'maintenance.md': maintenancePlan, 'documentation.md': documentationPlan },
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
    next: [KEY, 'Start it by hand, in Actions → patchsmith fork, with the commit of a pull request.'],
  },
};

/** The workflows of docs/workflows, which call the one of this project, with the files that each of them names. */

import fork from '../../../docs/workflows/fork.yml';
import issues from '../../../docs/workflows/issues.yml';
import long from '../../../docs/workflows/long.yml';
import plans from '../../../docs/workflows/plans.yml';
import issuePlan from '../../../docs/workflows/samples/issue.md';
import maintenancePlan from '../../../docs/workflows/samples/maintenance.md';

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

/** A workflow that publishes with the token of a GitHub App, so that checks run on the pull request. */

/** The first line of the input that says what a step does. */
const PUBLISHING = ['          mode: prepare', '          mode: publish'];
const JOB_TOKEN = `          github-token: \${{ github.token }}`;
const APP_TOKEN = `          github-token: \${{ steps.app.outputs.token }}`;

/**
 * The workflow of a template, where the steps that write to GitHub have the token of an App. It has the permissions that the job
 * had, which the job's own token then lacks. Null for a workflow in which nothing is published.
 */
export function withAppToken(workflow: string): string | null {
  const jobs = workflow.split(/^(?= {2}[\w-]+:$)/m);
  const changed = jobs.map((job) => {
    const lines = job.split('\n');
    return PUBLISHING.some((line) => lines.includes(line)) ? jobWithAppToken(lines).join('\n') : job;
  });
  return changed.every((job, at) => job === jobs[at]) ? null : changed.join('');
}

function jobWithAppToken(lines: readonly string[]): string[] {
  const from = lines.indexOf('    permissions:');
  const length = lines.slice(from + 1).findIndex((line) => !line.startsWith('      '));
  const permissions = lines.slice(from + 1, from + 1 + length).filter((line) => !line.trim().startsWith('#'));
  const steps = lines.slice(from + 1 + length);
  const first = steps.indexOf('    steps:') + 1;
  return [
    ...lines.slice(0, from),
    '    permissions: {}',
    ...steps.slice(0, first),
    ...LOGIN,
    ...permissions.map((line) => `          permission-${line.trim()}`),
    ...steps.slice(first).map((line) => (line === JOB_TOKEN ? APP_TOKEN : line)),
  ];
}

const LOGIN = `\
      # Its token lives for an hour, and is revoked when the job ends.
      - name: Log in as the GitHub App
        id: app
        uses: actions/create-github-app-token@1b10c78c7865c340bc4f6099eb2f838309f1e8c3 # v3.1.1
        with:
          client-id: \${{ vars.PATCHSMITH_APP_CLIENT_ID }}
          private-key: \${{ secrets.PATCHSMITH_APP_KEY }}`.split('\n');

/** The commands: one entry each. The modules of a command are loaded when it starts. */

import { settingEntries, settingsOf } from '../config/schema.ts';
import { nothingChecked } from '../domain/check-report.ts';
import { conclude, nothingPublished } from '../domain/github/publishing/publication.ts';
import type { Command } from './command.ts';

const JSON_OUTPUT = { value: 'json', help: 'JSON on stdout, for machines', initial: 'text' };
const JSON_SWITCH = { json: 'JSON on stdout, for machines (the same as --output json)' };

const PUBLISH =
  "Publish the run as soon as it has ended, with publish's settings and the token in the environment; whether GitHub permits this is checked before the run spends anything";

/** Loads the module of a command when it starts. */
function loaded(load: () => Promise<Command['start']>): Command['start'] {
  return async (context, given) => (await load())(context, given);
}

/** All commands, in the order of the help text. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'run',
    summary: 'Carry out a plan in this checkout and write the patch',
    examples: [
      ['patchsmith run -m "Fix the failing test" --verify "npm test"', 'A task in one line'],
      ['patchsmith run --plan plan.md --patch change.patch', 'A plan from a file, the patch to a file'],
      [
        'gh issue view 7 --json body -q .body | patchsmith run --plan - --output json',
        'A plan from stdin, the result to stdout',
      ],
      ['patchsmith run --plan plan.md --max-cost-usd 2 --deadline 15m', 'With tighter limits'],
      [
        'patchsmith run --plan plan.md --publish --repository octo/shop',
        'From the plan to the pull request in one command',
      ],
    ],
    operands: [],
    settings: settingsOf('run'),
    switches: { publish: PUBLISH, 'print-config': 'Only show the settings, as patchsmith config does' },
    settingsWith: { publish: settingsOf('publish') },
    async start(context, given) {
      if (given.switches.has('print-config')) {
        const { showConfig } = await import('./config/config.ts');
        return showConfig(context, given);
      }
      if (!given.switches.has('publish')) {
        // Another command does not need the engine, nor does a process that may not open as many files as its parts are.
        const { startRun } = await import('./run/start.ts');
        return startRun(context, given);
      }
      const { startRunAndPublish } = await import('./run-and-publish.ts');
      return startRunAndPublish(context, given);
    },
  },
  {
    name: 'check',
    summary:
      'Check everything that a run needs before it costs anything: what run does before its first request',
    examples: [
      ['patchsmith check --plan plan.md', 'Setup, verify commands, key, price and sandbox, with what to do'],
      [
        'patchsmith check --plan plan.md --publish --repository octo/shop',
        'The same, with token and permissions',
      ],
    ],
    operands: [],
    settings: settingsOf('run'),
    output: JSON_OUTPUT,
    switches: { publish: 'Check the token of the environment, and whether GitHub permits the publication' },
    settingsWith: { publish: settingsOf('publish') },
    start: loaded(async () => (await import('./start-check.ts')).startCheck),
    nothingDone: nothingChecked,
  },
  {
    name: 'prepare',
    summary:
      'Check whether GitHub would permit publishing: before a run, and announce on the issue that work starts',
    examples: [
      [
        'patchsmith prepare --repository octo/shop --issue 7 --trigger-label patchsmith',
        "In a job before the model's",
      ],
    ],
    operands: [],
    settings: settingsOf('prepare'),
    switches: {},
    start: loaded(async () => (await import('./publish/issue/prepare.ts')).startPrepare),
  },
  {
    name: 'publish',
    summary:
      'Open or update a pull request with the changes of a run (RUN: its id or run directory; default: last)',
    examples: [
      [
        'patchsmith publish RUN --label bot --reviewer octocat',
        'Open a pull request with the changes of a run',
      ],
      [
        'patchsmith publish RUN --publish-as review --issue 7',
        'Review pull request 7 with what a run has found',
      ],
      ['patchsmith publish RUN --dry-run', 'Show the calls without making them'],
    ],
    operands: ['[RUN]'],
    settings: settingsOf('publish'),
    output: { value: 'json|none', help: 'Print the publication as JSON', initial: 'none' },
    switches: {},
    start: loaded(async () => (await import('./publish/start.ts')).startPublish),
    nothingDone: (outcome, version) => conclude(nothingPublished(version), outcome),
  },
  {
    name: 'replay',
    summary: 'Replay a run without a model and prove its patch (RUN: its id or run directory; default: last)',
    examples: [['patchsmith replay RUN', 'Check that a recorded run still makes the same patch']],
    operands: ['[RUN]'],
    settings: settingsOf('replay'),
    switches: {},
    start: loaded(async () => (await import('./replay/start.ts')).startReplay),
  },
  {
    name: 'resume',
    summary:
      'Continue a run that was cut short: killed, or ended by a signal, a limit or the provider (RUN: its id or run directory, or last)',
    examples: [
      ['patchsmith resume RUN', 'Continue a run after Ctrl-C, a kill or an outage'],
      ['patchsmith resume RUN --max-iterations 50', 'Continue a run that reached a limit'],
    ],
    operands: ['RUN'],
    settings: settingsOf('resume'),
    switches: { 'accept-changes': 'Accept what others changed in the work tree as part of the baseline' },
    start: loaded(async () => (await import('./resume/resume.ts')).startResume),
  },
  {
    name: 'undo',
    summary: 'Restore the work tree to its state before a run (RUN: its id or run directory; default: last)',
    examples: [['patchsmith undo', 'Undo the changes of the last run of this checkout']],
    operands: ['[RUN]'],
    settings: ['repo'],
    switches: { force: 'Restore what can be restored, and leave paths that changed since' },
    start: loaded(async () => (await import('./undo/undo.ts')).startUndo),
  },
  {
    name: 'blame',
    summary:
      "Show which tool call made each line of a run's patch: blame [RUN] [PATH] (RUN: its id or run directory; default: last)",
    examples: [
      [
        'patchsmith blame last src/parser.ts',
        'Which call of the last run changed these lines, and in which turn',
      ],
    ],
    operands: ['[RUN]', '[PATH]'],
    settings: ['output'],
    output: JSON_OUTPUT,
    switches: {},
    start: loaded(async () => (await import('./blame/blame.ts')).startBlame),
  },
  {
    name: 'runs',
    summary: 'List your runs, newest first: outcome, time, cost, size, repository and plan',
    examples: [['patchsmith runs --json | jq -r ".runs[].path"', 'The folders of all runs']],
    operands: [],
    settings: ['output'],
    output: JSON_OUTPUT,
    switches: JSON_SWITCH,
    start: loaded(async () => (await import('./runs/runs.ts')).startRuns),
  },
  {
    name: 'show',
    summary:
      'Show what happened in a run: outcome, plan, files, checks, cost and paths (RUN: its id or run directory; default: last)',
    examples: [['patchsmith show', 'The last run of this checkout, on one page']],
    operands: ['[RUN]'],
    settings: ['repo', 'output'],
    output: JSON_OUTPUT,
    switches: JSON_SWITCH,
    start: loaded(async () => (await import('./show/show.ts')).startShow),
  },
  {
    name: 'report',
    summary:
      'Make report.html, the page of a run, and print its path (RUN: its id or run directory; default: last)',
    examples: [['patchsmith report --open', 'The last run of this checkout, in the browser']],
    operands: ['[RUN]'],
    settings: ['repo'],
    switches: { open: 'Open the page with xdg-open' },
    start: loaded(async () => (await import('./report/report.ts')).startReport),
  },
  {
    name: 'usage',
    summary: 'Sum up what past runs have spent: cost, tokens and cache share, by model, plan and day',
    examples: [
      ['patchsmith usage --since 7d --by day', 'What the runs of a week have cost, day by day'],
      [
        'patchsmith usage --organization --json',
        "The organisation's usage and cost (ANTHROPIC_ADMIN_API_KEY)",
      ],
    ],
    operands: [],
    settings: ['since', 'by', 'output'],
    output: JSON_OUTPUT,
    switches: {
      organization:
        "The organisation's usage and cost of all its keys, as the provider reports them, instead of your runs'",
      ...JSON_SWITCH,
    },
    settingsWith: { organization: ['provider', 'baseUrl', 'allowInsecureBaseUrl'] },
    start: loaded(async () => (await import('./usage/start.ts')).startUsage),
  },
  {
    name: 'outcomes',
    summary: 'Show what became of pull requests: merged, closed or edited, and what a merged one has cost',
    examples: [
      ['patchsmith outcomes --repository octo/shop --since 30d', 'Merged, closed, edited, and the cost'],
    ],
    operands: [],
    settings: ['repository', 'since', 'githubApiUrl', 'deadlineMs', 'output'],
    output: JSON_OUTPUT,
    switches: JSON_SWITCH,
    start: loaded(async () => (await import('./publish/costs.ts')).startOutcomes),
  },
  {
    name: 'clean',
    summary: 'Remove old finished runs: by age, and the oldest beyond --max-total-size',
    examples: [
      ['patchsmith clean --older-than 14d --keep-failed', 'Remove successful runs older than two weeks'],
      ['patchsmith clean --max-total-size 1g --dry-run', 'Only list the runs that would be removed'],
    ],
    operands: [],
    settings: ['olderThanMs', 'maxTotalBytes', 'dryRun', 'output', 'quiet'],
    output: JSON_OUTPUT,
    switches: { 'keep-failed': 'Keep runs that did not end with exit code 0', ...JSON_SWITCH },
    start: loaded(async () => (await import('./clean/clean.ts')).startClean),
  },
  {
    name: 'config',
    summary:
      'Show every setting with its value and its source: a default, a variable, the project file with its line, or a flag',
    examples: [
      ['patchsmith config', 'What a run here and now would use, and why'],
      [`patchsmith config --json | jq '.settings[] | select(.from != "default")'`, 'What is not a default'],
    ],
    operands: [],
    settings: settingEntries().map(({ key }) => key),
    switches: { json: 'JSON on stdout, for machines; values are whole there' },
    start: loaded(async () => (await import('./config/config.ts')).showConfig),
  },
  {
    name: 'doctor',
    summary: 'Show how commands are contained on this machine',
    examples: [['patchsmith doctor --mount ~/.cache/pip', 'Try the sandbox with one more folder']],
    operands: [],
    settings: settingsOf('doctor'),
    output: JSON_OUTPUT,
    switches: {},
    start: loaded(async () => (await import('./doctor/start.ts')).startDoctor),
  },
  {
    name: 'init',
    summary: 'Write project file, plan and workflow, or renew its commit',
    examples: [
      [
        'patchsmith init issues',
        'From issues and comments to pull requests; other templates: plans, long, fork',
      ],
      ['patchsmith init --update', 'Renew the commit that workflows call, to that of this release'],
    ],
    operands: ['[TEMPLATE]', '[OWNER/NAME@COMMIT]'],
    settings: ['repo'],
    switches: {
      app: 'Publish with the token of your own GitHub App, so that checks run on the pull requests',
      update: 'Renew the commit that workflows call, show the changed lines, and change nothing else',
    },
    start: loaded(async () => (await import('./init/start.ts')).startInit),
  },
  {
    name: 'completion',
    summary: 'Print the completion of a shell: bash, zsh or fish',
    examples: [['source <(patchsmith completion bash)', 'In ~/.bashrc; also for zsh and fish']],
    operands: ['SHELL'],
    settings: [],
    switches: {},
    start: loaded(async () => (await import('./completion/completion.ts')).startCompletion),
  },
  {
    name: 'demo',
    summary: 'Watch a recorded run on a small project; needs no key',
    examples: [],
    operands: [],
    settings: [],
    switches: { hostile: 'With a model that first tries forbidden things' },
    start: loaded(async () => (await import('./demo/demo.ts')).startDemo),
  },
];

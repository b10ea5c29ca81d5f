/**
 * The commands: one entry each. The modules of a command are loaded when it starts, most of them by the start.ts in its folder.
 */

import { withoutKey } from '../config/provider-keys.ts';
import { settingEntries, settingsOf } from '../config/schema.ts';
import { conclude, nothingPublished } from '../domain/github/publishing/publication.ts';
import { sayEnd } from '../host/say.ts';
import type { Command } from './command.ts';
import { handOver } from './hand-over.ts';
import { RUN_COMMANDS } from './run-commands.ts';

const JSON_IN_PLACE_OF_TEXT = { value: 'json', help: 'JSON on stdout, for machines', initial: 'text' };

const PUBLISH =
  "Publish the run as soon as it has ended, with publish's settings and the token in the environment; whether GitHub permits this is checked before the run spends anything";

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
    output: JSON_IN_PLACE_OF_TEXT,
    switches: { publish: 'Check the token of the environment, and whether GitHub permits the publication' },
    settingsWith: { publish: settingsOf('publish') },
    async start(context, given) {
      const { startCheck } = await import('./start-check.ts');
      return startCheck(context, given);
    },
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
    async start(context, given) {
      const { startPrepare } = await import('./publish/issue/prepare.ts');
      return startPrepare(context, given);
    },
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
    async start(context, given) {
      const { startPublish } = await import('./publish/start.ts');
      return startPublish(context, given);
    },
    nothingDone: (outcome, version) => conclude(nothingPublished(version), outcome),
  },
  {
    name: 'replay',
    summary: 'Replay a run without a model and prove its patch (RUN: its id or run directory; default: last)',
    examples: [['patchsmith replay RUN', 'Check that a recorded run still makes the same patch']],
    operands: ['[RUN]'],
    settings: settingsOf('replay'),
    switches: {},
    async start(context, given) {
      const { startReplay } = await import('./replay/start.ts');
      return startReplay(context, given);
    },
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
    async start(context, given) {
      const { startResume } = await import('./resume/start.ts');
      return startResume(context, given);
    },
  },
  {
    name: 'undo',
    summary: 'Restore the work tree to its state before a run (RUN: its id or run directory; default: last)',
    examples: [['patchsmith undo', 'Undo the changes of the last run of this checkout']],
    operands: ['[RUN]'],
    settings: ['repo'],
    switches: { force: 'Restore what can be restored, and leave paths that changed since' },
    async start(context, given) {
      const { startUndo } = await import('./undo/start.ts');
      return startUndo(context, given);
    },
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
    output: JSON_IN_PLACE_OF_TEXT,
    switches: {},
    async start(context, given) {
      const { startBlame } = await import('./blame/start.ts');
      return startBlame(context, given);
    },
  },
  ...RUN_COMMANDS,
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
    async start(context, given) {
      const { showConfig } = await import('./config/config.ts');
      return showConfig(context, given);
    },
  },
  {
    name: 'doctor',
    summary: 'Show how commands are contained on this machine',
    examples: [['patchsmith doctor --mount ~/.cache/pip', 'Try the sandbox with one more folder']],
    operands: [],
    settings: settingsOf('doctor'),
    output: JSON_IN_PLACE_OF_TEXT,
    switches: {},
    async start(context, given) {
      const { startDoctor } = await import('./doctor/start.ts');
      return startDoctor(context, given);
    },
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
    async start(context, given) {
      const { startInit } = await import('./init/start.ts');
      return startInit(context, given);
    },
  },
  {
    name: 'completion',
    summary: 'Print the completion of a shell: bash, zsh or fish',
    examples: [['source <(patchsmith completion bash)', 'In ~/.bashrc; also for zsh and fish']],
    operands: ['SHELL'],
    settings: [],
    switches: {},
    async start(context, { operands: [shell = ''], problems }) {
      if (problems.length > 0) return { status: 'refused', problems: [...problems] };
      const { printCompletion } = await import('./completion/completion.ts');
      const outcome = await printCompletion(shell, (script) => handOver(context, script));
      // A shell that reads it at each start has nothing to say.
      return outcome.exitCode === 0 ? { status: 'printed', outcome } : sayEnd(context, outcome);
    },
  },
  {
    name: 'demo',
    summary: 'Watch a recorded run on a small project; needs no key',
    examples: [],
    operands: [],
    settings: [],
    switches: { hostile: 'With a model that first tries forbidden things' },
    async start(context, { switches, problems }) {
      if (problems.length > 0) return { status: 'refused', problems: [...problems] };
      // No other command needs the library that makes its project.
      const { runDemo } = await import('./demo/demo.ts');
      const env = withoutKey(context.env);
      const hostile = switches.has('hostile');
      return { status: 'printed', outcome: await runDemo({ ...context, env, startNotes: [], hostile }) };
    },
  },
];

/** The commands over runs that have been: one entry each, as in the registry. */

import { withoutKey } from '../config/provider-keys.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import { columnsOf, sayEnd, sayTo } from '../host/say.ts';
import type { Command, Given } from './command.ts';
import { handOver } from './hand-over.ts';
import { readSettings } from './inputs.ts';
import { namedRun } from './named-run.ts';

const JSON_SWITCH = { json: 'JSON on stdout, for machines (the same as --output json)' };
const JSON_OUTPUT = { value: 'json', help: 'JSON on stdout, for machines', initial: 'text' };

/** `runs`, `show`, `report`, `usage`, `outcomes` and `clean`. */
export const RUN_COMMANDS: readonly Command[] = [
  {
    name: 'runs',
    summary: 'List your runs, newest first: outcome, time, cost, size, repository and plan',
    examples: [['patchsmith runs --json | jq -r ".runs[].path"', 'The folders of all runs']],
    operands: [],
    settings: ['output'],
    output: JSON_OUTPUT,
    switches: JSON_SWITCH,
    async start(context, given) {
      const isJson = asksForJson(given);
      const problems = [...given.problems, ...otherOutput('runs', given)];
      if (problems.length > 0) return { status: 'refused', problems };
      const { showRuns } = await import('./runs/runs.ts');
      return sayEndOf(context, () =>
        showRuns({ ...partsOf(context), width: columnsOf(context.stdout), json: isJson }),
      );
    },
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
    async start(context, given) {
      const problems = [...given.problems, ...otherOutput('show', given)];
      const read = readSettings(context, given.flags, problems);
      if (read.status === 'refused') return read;
      const named = await namedRun(context, given.operands[0], { repo: read.settings.repo });
      if (named.status === 'refused') return named;
      const { showRun } = await import('./show/show.ts');
      const { cwd } = context;
      const json = asksForJson(given);
      return sayEndOf(context, () => showRun({ ...partsOf(context), cwd, run: named.run, json }));
    },
  },
  {
    name: 'report',
    summary:
      'Make report.html, the page of a run, and print its path (RUN: its id or run directory; default: last)',
    examples: [['patchsmith report --open', 'The last run of this checkout, in the browser']],
    operands: ['[RUN]'],
    settings: ['repo'],
    switches: { open: 'Open the page with xdg-open' },
    async start(context, given) {
      const read = readSettings(context, given.flags, given.problems);
      if (read.status === 'refused') return read;
      const named = await namedRun(context, given.operands[0], { repo: read.settings.repo });
      if (named.status === 'refused') return named;
      const { reportRun } = await import('./report/report.ts');
      const { cwd, now, version } = context;
      const opens = given.switches.has('open');
      const input = { ...partsOf(context), cwd, now, version, run: named.run, opens };
      return sayEndOf(context, () => reportRun(input));
    },
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
    async start(context, given) {
      const read = readSettings(context, given.flags, [...given.problems, ...otherOutput('usage', given)]);
      if (read.status === 'refused') return read;
      const { startUsage } = await import('./usage/start.ts');
      const json = asksForJson(given);
      const ofAll = given.switches.has('organization');
      const end = await startUsage(context, { ...partsOf(context), settings: read.settings, json, ofAll });
      return end.status === 'refused' ? end : sayEnd(context, end.outcome);
    },
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
    async start(context, given) {
      const json = asksForJson(given);
      const problems = [...given.problems, ...otherOutput('outcomes', given)];
      const { readPublishInputs } = await import('./publish/start.ts');
      const { output: _, ...flags } = given.flags;
      const inputs = readPublishInputs(context, { ...given, flags: { ...flags, output: 'none' }, problems });
      if (inputs.status === 'refused') return inputs;
      const { showOutcomes } = await import('./publish/costs/outcomes.ts');
      return sayEnd(context, await showOutcomes(context, inputs, json));
    },
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
    async start(context, given) {
      const problems = [...given.problems, ...otherOutput('clean', given)];
      const read = readSettings(context, given.flags, problems);
      if (read.status === 'refused') return read;
      const { olderThanMs, maxTotalBytes, dryRun, quiet } = read.settings;
      const { cleanRuns } = await import('./clean/clean.ts');
      const rules = { olderThanMs, maxTotalBytes, keepFailed: given.switches.has('keep-failed') };
      const say = quiet ? () => {} : sayTo(context);
      const json = asksForJson(given);
      const input = { ...partsOf(context), rules, isDry: dryRun, json, say, now: context.now() };
      return sayEndOf(context, () => cleanRuns(input));
    },
  },
];

/** Does it until a signal comes, and says how it has ended. */
async function sayEndOf(context: HostContext, work: () => Promise<RunOutcome>): Promise<CommandOutcome> {
  const { untilSignal } = await import('./until-signal.ts');
  return sayEnd(context, await untilSignal(context.interrupt, work));
}

function asksForJson({ flags, switches }: Given): boolean {
  return switches.has('json') || flags.output === 'json';
}

function otherOutput(name: string, { flags }: Given): Problem[] {
  if (flags.output === undefined || flags.output === 'json') return [];
  return [
    problem('ERR_INVALID_VALUE', `--output: ${name} prints text; use --json for a machine-readable document`),
  ];
}

function partsOf(context: HostContext) {
  const { env, redact } = context;
  return { env: withoutKey(env), redact, print: (document: string) => handOver(context, document) };
}

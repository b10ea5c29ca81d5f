/** The lines that people read about a run's events. */

import type { ToolCall } from '../../../domain/conversation/conversation.ts';
import { describeCall, describeEndAndTime, succeeded } from '../../../domain/conversation/tool.ts';
import { MAX_CALLS_IN_A_TURN } from '../../../domain/conversation/tools-phase.ts';
import { countFindings } from '../../../domain/findings/review.ts';
import type { CommandReport, RunEvent, RunStarted } from '../../../domain/run/events.ts';
import { judgeReports } from '../../../domain/run/verify-baseline.ts';
import { type Redact, redactedStrings } from '../../../domain/secrets/redact.ts';
import { oneLine, prefixed } from '../../../domain/text/terminal.ts';
import { pluralize } from '../../../domain/text/words.ts';
import {
  bySource,
  compactionLine,
  endOf,
  fewOrMany,
  findingLine,
  type Line,
  lastLines,
  line,
  note,
  truncationOf,
} from './line-words.ts';

/** What is known before the first event. */
export interface EventLinesOptions {
  readonly redact: Redact;
  /** Print the model's text after each of its turns. */
  readonly verbose: boolean;
  /** How a resumed run's verify commands ended before its work; null if they were not run. */
  readonly verifyBaseline: readonly CommandReport[] | null;
  /** Calls of a resumed run that may have been in progress. */
  readonly calls: readonly ToolCall[];
}

/** Makes the lines of events, in order. */
export class EventLines {
  readonly #redact: Redact;
  readonly #isVerbose: boolean;
  readonly #started = new Map<string, string>();
  #verifyBaseline: readonly CommandReport[] | null;
  #iteration = 0;
  /** Commands before the work have already been shown. */
  #hasOpened = false;
  /** Printed below the lines of the commands that made them, since these end only after their changes are known. */
  readonly #changes: string[] = [];
  /** Reports that are shown ahead of their event. */
  readonly #shown = new Set<CommandReport>();

  constructor({ redact, verbose, verifyBaseline, calls }: EventLinesOptions) {
    this.#redact = redact;
    this.#isVerbose = verbose;
    this.#verifyBaseline = verifyBaseline;
    for (const call of calls) this.#started.set(call.id, this.describe(call));
  }

  /** The number of completed turns. */
  get iteration(): number {
    return this.#iteration;
  }

  /** A call in a few words. Secrets are redacted before it is cut, since half a secret would not be recognised. */
  describe({ name, input }: ToolCall): string {
    return describeCall(name, redactedStrings(input, this.#redact));
  }

  /** The first lines about a run, before any of it is carried out. */
  banner({ patchsmith, model, provider, sandbox, workingDirectory, plan, base }: Banner): Line[] {
    this.#hasOpened = true;
    const at = base.commit ? base.commit.slice(0, 12) : 'no commit yet';
    const recorded = provider === 'replay' ? ', recorded' : '';
    return [
      note(`patchsmith ${patchsmith} · ${model}${recorded} · sandbox ${sandbox}`),
      note(`plan: ${plan.title}`),
      note(`base: ${base.branch ?? 'detached'} @ ${at}${base.dirty ? ', with uncommitted changes' : ''}`),
      ...(workingDirectory === '' ? [] : [note(`working directory: ${workingDirectory}`)]),
    ];
  }

  /** A command that ran before the work, with the end of its output if it should have succeeded but did not. */
  commandBefore(kind: 'setup' | 'verify', report: CommandReport): Line[] {
    const { command, end } = report;
    const isBad = kind === 'setup' && !succeeded(end);
    return [
      line(isBad, `${BEFORE[kind]} ${command} → ${describeEndAndTime(end)}`),
      ...this.#why(report),
      ...(isBad ? this.#endOf(report) : []),
    ];
  }

  /** The lines of an event, after those that were held back for it. */
  of(event: RunEvent): Line[] {
    const waiting = COMMANDS_END.includes(event.type) ? [] : this.rest();
    return [...waiting, ...this.#own(event)];
  }

  /** The lines that were held back for a later event. */
  rest(): Line[] {
    return this.#changes.splice(0).map(note);
  }

  #own(event: RunEvent): Line[] {
    switch (event.type) {
      case 'run.started':
        return this.#begun(event);
      case 'run.resumed':
        this.#iteration = event.iteration;
        return [note(`patchsmith ${event.patchsmith} · resumed after turn ${event.iteration}`)];
      case 'turn.completed':
        return this.#turn(event);
      case 'tool.started':
        this.#started.set(event.call.id, this.describe(event.call));
        return [];
      case 'tool.completed':
        return this.#called(event);
      case 'change.recorded':
        for (const { by, files } of bySource(event)) this.#changes.push(`    ${files} changed by ${by}`);
        return [];
      case 'changes.put_back': {
        const { changes } = event;
        const they = changes.length === 1 ? 'it' : 'they';
        const files = fewOrMany(changes.map(({ path }) => path));
        if (changes.length > 0) this.#changes.push(`    ${files} put back, since ${they} may not change`);
        return [];
      }
      case 'files.hidden':
        this.#changes.push(`    ${fewOrMany(event.paths)} can no longer be examined`);
        return [];
      case 'verify.completed':
        return event.reports.flatMap((one) => (this.#shown.delete(one) ? [] : this.#verified(one)));
      case 'turn.retried':
        return [
          note(`attempt ${event.attempt} in ${(event.waitMs / 1000).toFixed(1)} s, after: ${event.cause}`),
        ];
      case 'context.compacted':
        return [note(`[${this.#iteration}] ${compactionLine(event)}`)];
      case 'review.completed':
        return [
          note(`review: ${countFindings(event.findings)}`),
          ...event.findings.slice(0, MAX_FINDINGS_SHOWN).map(findingLine),
        ];
      case 'budget.reached':
        return [note('the budget is nearly used up: one last answer, without tools')];
      // Warnings and the last line say the rest.
      case 'request.sent':
      case 'turn.failed':
      case 'turn.interrupted':
      case 'compaction.failed':
      case 'model.replaced':
      case 'network.used':
      case 'review.failed':
      case 'message.added':
      case 'run.interrupted':
      case 'changes.limited':
      case 'run.stopped':
        return [];
    }
  }

  #begun(event: RunEvent & { type: 'run.started' }): Line[] {
    this.#verifyBaseline = event.verifyBaseline;
    if (this.#hasOpened) return [];
    return [
      ...this.banner(event),
      ...event.setup.flatMap((report) => this.commandBefore('setup', report)),
      ...(event.verifyBaseline ?? []).flatMap((report) => this.commandBefore('verify', report)),
    ];
  }

  #turn({ turn: { calls, text } }: RunEvent & { type: 'turn.completed' }): Line[] {
    this.#iteration += 1;
    const said = this.#isVerbose ? this.#redact(text).trim() : '';
    const { length } = calls;
    const [at, run] = [`[${this.#iteration}]`, `only the first ${MAX_CALLS_IN_A_TURN} are run`];
    return [
      ...(said === '' ? [] : [{ as: 'output', text: prefixed(said, '  │ ') } as const]),
      ...(length > MAX_CALLS_IN_A_TURN
        ? [note(`${at} ${pluralize(length, 'call')} in one turn: ${run}`)]
        : []),
    ];
  }

  #called({ call, outcome }: RunEvent & { type: 'tool.completed' }): Line[] {
    if (outcome.status === 'failed' && outcome.reason === 'too_many_calls') return [];
    const end = `${endOf(outcome)}${truncationOf(outcome)}`;
    const text = `[${this.#iteration}] ${this.#started.get(call) ?? call}${end}`;
    return [line(outcome.status === 'failed', text)];
  }

  /** How a verify command ended; a report that is shown here is not shown again with its event. */
  verified(report: CommandReport): Line[] {
    this.#shown.add(report);
    return this.#verified(report);
  }

  #verified(report: CommandReport): Line[] {
    const { command, end } = report;
    const asBefore = judgeReports([report], this.#verifyBaseline).preexisting.length > 0;
    const isBad = !asBefore && !succeeded(end);
    return [
      line(isBad, `verify ${command} → ${describeEndAndTime(end)}${asBefore ? ', as before the work' : ''}`),
      ...(isBad ? [...this.#why(report), ...this.#endOf(report)] : []),
    ];
  }

  #why({ why }: CommandReport): Line[] {
    return why === undefined ? [] : [{ as: 'output', text: `    why: ${oneLine(this.#redact(why), 320)}` }];
  }

  /** The last lines of a failed command. */
  #endOf({ output }: CommandReport): Line[] {
    if (output.trim() === '') return [];
    return [{ as: 'output', text: prefixed(lastLines(this.#redact(output), 20), '    | ') }];
  }
}

/** What the first lines of a run are made from. */
export type Banner = Pick<
  RunStarted,
  'patchsmith' | 'model' | 'provider' | 'sandbox' | 'workingDirectory' | 'base'
> & {
  readonly plan: Pick<RunStarted['plan'], 'title'>;
};

/** How the lines about commands before the work begin. */
export const BEFORE = { setup: 'setup', verify: 'before the work:' };

/** Events that may come between the end of a command and the report on it. */
const COMMANDS_END: readonly RunEvent['type'][] = [
  'change.recorded',
  'changes.put_back',
  'files.hidden',
  'network.used',
  'tool.completed',
  'verify.completed',
];

/** Maximum findings of one review to show; all of them are in the result. */
const MAX_FINDINGS_SHOWN = 10;

/** Shows progress on stderr while the run goes on. */

import type { Writable } from 'node:stream';
import type { ToolCall } from '../../domain/conversation/conversation.ts';
import { describeCall } from '../../domain/conversation/describe-call.ts';
import { describeEndAndTime, succeeded, type ToolOutcome } from '../../domain/conversation/tool.ts';
import { MAX_CALLS_IN_A_TURN } from '../../domain/conversation/tools-phase.ts';
import {
  type BaseRevision,
  type CommandReport,
  isTaken,
  type RunEvent,
  type RunStarted,
} from '../../domain/run/events.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { judgeReports } from '../../domain/run/verify-baseline.ts';
import { type Redact, redactedStrings } from '../../domain/secrets/redact.ts';
import { pluralize } from '../../domain/text/pluralize.ts';
import { oneLine, openMark, prefixed, withinLine } from '../../domain/text/terminal.ts';
import type { EventSink } from '../../ports.ts';

/** What progress to show, where, and which secrets to leave out. */
export interface ProgressOptions {
  readonly stderr: Writable;
  readonly redact: Redact;
  /** How many of a text's last characters may be the beginning of a secret. */
  readonly openEnd: (text: string) => number;
  readonly quiet: boolean;
  /** Print the model's text as it arrives. */
  readonly verbose: boolean;
  /** How the verify commands of a resumed run ended before its work; null if they were not run. */
  readonly verifyBaseline: readonly CommandReport[] | null;
  /** Calls of a resumed run that may have been in progress. */
  readonly calls: readonly ToolCall[];
}

/** Prints messages for people. With `quiet`, only warnings and the final line are printed. */
export class Progress implements EventSink {
  readonly #options: ProgressOptions;
  readonly #started = new Map<string, string>();
  #verifyBaseline: readonly CommandReport[] | null;
  #iteration = 0;
  /** What ran before the work has been shown as it happened. */
  #hasOpened = false;
  #atLineStart = true;
  /** Printed below the lines of the commands that made them, which end only after their changes are known. */
  readonly #changes: string[] = [];
  /** The last lines that each failed command has shown. */
  readonly #failures = new Map<string, string>();
  /** The end of the text received, which cannot be shown until it is known how it continues. */
  #held = '';

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#verifyBaseline = options.verifyBaseline;
    for (const call of options.calls) this.#started.set(call.id, this.#describe(call));
  }

  /** Prints a line about the run itself, unless `quiet`. */
  note(line: string): void {
    if (!this.#options.quiet) this.#print(oneLine(this.#options.redact(line), 1_000));
  }

  /** Prints what somebody else said, marked as theirs: at most 12 lines of it, unless `quiet`. */
  quote(who: string, text: string): void {
    const lines = this.#options
      .redact(text)
      .trim()
      .split(/\r\n|\n|\r/);
    if (this.#options.quiet || lines.join('') === '') return;
    const shown = lines.slice(0, MAX_QUOTED_LINES).map((line) => oneLine(line, 500));
    const more = lines.length - shown.length;
    this.#print(`${who}:\n${prefixed(shown.join('\n'), '    | ')}`);
    if (more > 0) this.#print(`    | … and ${pluralize(more, 'more line')} in the result`);
  }

  /** Prints a line that people must see. */
  warn(line: string): void {
    this.#print(`warning: ${oneLine(this.#options.redact(line), 2_000)}`);
  }

  /** Prints the last line of every run, however it ended. */
  final(line: string): void {
    this.#print(oneLine(this.#options.redact(line), 4_000));
  }

  /** The model's text as it arrives. */
  onText(text: string): void {
    if (this.#options.verbose && !this.#options.quiet) this.#stream(text);
  }

  /** The first lines about a run, before anything of it is carried out. */
  banner({ patchsmith, model, provider, sandbox, plan, base }: Banner): void {
    this.#hasOpened = true;
    const at = base.commit ? base.commit.slice(0, 12) : 'no commit yet';
    const recorded = provider === 'replay' ? ', recorded' : '';
    this.note(`patchsmith ${patchsmith} · ${model}${recorded} · sandbox ${sandbox}`);
    this.note(`plan: ${plan.title}`);
    this.note(`base: ${base.branch ?? 'detached'} @ ${at}${isTaken(base) ? uncommittedIn(base) : ''}`);
  }

  /** A command that ran before the work, with the end of its output if it was to succeed and did not. */
  commandBefore(kind: 'setup' | 'verify', { command, end, output }: CommandReport): void {
    this.note(`${BEFORE[kind]} ${command} → ${describeEndAndTime(end)}`);
    if (kind === 'setup' && !succeeded(end)) this.#showEndOf(command, output);
  }

  /** A command that runs before the work has begun; `forMs` is how long it has been running. */
  commandGoesOn(kind: 'setup' | 'verify', command: string, forMs = 0, timeoutMs = 0): void {
    const line = `${BEFORE[kind]} ${command}`;
    const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
    if (forMs === 0) this.note(`${line} …`);
    else this.note(`${line}: still running after ${seconds(forMs)}, stopped after ${seconds(timeoutMs)}`);
  }

  accept(event: RunEvent): void {
    if (!COMMANDS_END.includes(event.type)) this.#tellChanges();
    switch (event.type) {
      case 'run.started':
        this.#verifyBaseline = event.verifyBaseline;
        if (this.#hasOpened) return;
        this.banner(event);
        for (const report of event.setup) this.commandBefore('setup', report);
        for (const report of event.verifyBaseline ?? []) this.commandBefore('verify', report);
        return;
      case 'run.resumed':
        this.#iteration = event.iteration;
        this.note(`patchsmith ${event.patchsmith} · resumed after turn ${event.iteration}`);
        return;
      case 'baseline.taken':
        if (event.base.dirty) this.note(`base${uncommittedIn(event.base)}`);
        return;
      case 'turn.completed':
        this.#iteration += 1;
        this.#endStream();
        if (event.turn.calls.length > MAX_CALLS_IN_A_TURN)
          this.note(
            `[${this.#iteration}] ${pluralize(event.turn.calls.length, 'call')} in one turn: only the first ${MAX_CALLS_IN_A_TURN} are run`,
          );
        return;
      case 'tool.started':
        this.#started.set(event.call.id, this.#describe(event.call));
        return;
      case 'tool.completed': {
        const { outcome } = event;
        if (outcome.status === 'failed' && outcome.reason === 'too_many_calls') return;
        const call = this.#started.get(event.call) ?? event.call;
        this.note(`[${this.#iteration}] ${call}${endOf(outcome)}`);
        return;
      }
      case 'change.recorded':
        for (const { by, files } of bySource(event)) this.#changes.push(`    ${files} changed by ${by}`);
        return;
      case 'changes.put_back': {
        const { changes } = event;
        const files =
          changes.length > 3 ? pluralize(changes.length, 'file') : changes.map(({ path }) => path).join(', ');
        const they = changes.length === 1 ? 'it' : 'they';
        if (changes.length > 0) this.#changes.push(`    ${files} put back, since ${they} may not change`);
        return;
      }
      case 'files.hidden': {
        const { length } = event.paths;
        const files = length > 3 ? pluralize(length, 'file') : event.paths.join(', ');
        this.#changes.push(`    ${files} cannot be examined any more`);
        return;
      }
      case 'verify.completed':
        for (const report of event.reports) {
          const { command, end, output } = report;
          const asBefore = judgeReports([report], this.#verifyBaseline).preexisting.length > 0;
          this.note(
            `verify ${command} → ${describeEndAndTime(end)}${asBefore ? ', as before the work' : ''}`,
          );
          if (!asBefore && !succeeded(end)) this.#showEndOf(command, output);
        }
        return;
      case 'warning.raised':
        this.warn(event.message);
        return;
      case 'turn.retried':
        this.note(`attempt ${event.attempt} in ${(event.waitMs / 1000).toFixed(1)} s, after: ${event.cause}`);
        return;
      case 'budget.reached':
        this.note('the budget is nearly used up: one last answer, without tools');
        return;
      case 'budget.warned':
      case 'turn.failed':
      case 'turn.interrupted':
      case 'message.added':
      case 'changes.limited':
      case 'run.interrupted':
      case 'run.stopped':
        return;
    }
  }

  close(_result: RunResult): void {
    this.#tellChanges();
    this.#endStream();
  }

  /** The last lines of a command that failed, unless its last failure showed the same. */
  #showEndOf(command: string, output: string): void {
    if (output.trim() === '' || this.#options.quiet) return;
    const end = lastLines(this.#options.redact(output), 20);
    const same = this.#failures.get(command) === end;
    this.#failures.set(command, end);
    this.#print(same ? '    | the same output as before' : prefixed(end, '    | '));
  }

  #tellChanges(): void {
    for (const line of this.#changes.splice(0)) this.note(line);
  }

  #stream(text: string): void {
    const { redact, openEnd } = this.#options;
    const arrived = redact(this.#held + text);
    const sure = arrived.length - Math.max(openEnd(arrived), openMark(arrived));
    this.#held = arrived.slice(sure);
    this.#show(arrived.slice(0, sure));
  }

  #show(text: string): void {
    const { stderr } = this.#options;
    for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
      if (index > 0) {
        stderr.write(this.#atLineStart ? `${STREAM}\n` : '\n');
        this.#atLineStart = true;
      }
      if (line === '') continue;
      stderr.write(`${this.#atLineStart ? STREAM : ''}${withinLine(line)}`);
      this.#atLineStart = false;
    }
  }

  #endStream(): void {
    const held = this.#held;
    this.#held = '';
    if (held !== '') this.#show(held);
    if (!this.#atLineStart) this.#options.stderr.write('\n');
    this.#atLineStart = true;
  }

  /** Secrets are redacted before a text is cut, since half a secret would not be recognised. */
  #describe({ name, input }: ToolCall): string {
    return describeCall(name, redactedStrings(input, this.#options.redact));
  }

  #print(line: string): void {
    this.#endStream();
    this.#options.stderr.write(`${line}\n`);
  }
}

/** What the first lines about a run say. */
export type Banner = Pick<RunStarted, 'patchsmith' | 'model' | 'provider' | 'sandbox' | 'base'> & {
  readonly plan: Pick<RunStarted['plan'], 'title'>;
};

/** How the lines about commands before the work begin. */
const BEFORE = { setup: 'setup', verify: 'before the work:' };

/** Events between the end of commands and the report on them. */
const COMMANDS_END: readonly RunEvent['type'][] = [
  'change.recorded',
  'changes.put_back',
  'files.hidden',
  'tool.completed',
  'verify.completed',
];

const MAX_QUOTED_LINES = 12;

function uncommittedIn({ dirty }: BaseRevision): string {
  return dirty ? ', with uncommitted changes' : '';
}

/** Prefix of each line of the model's text. */
const STREAM = '  │ ';

function endOf(outcome: ToolOutcome): string {
  if (outcome.status === 'finished') return '';
  if (outcome.command) return ` → ${describeEndAndTime(outcome.command)}`;
  return outcome.status === 'failed' ? ` → failed: ${outcome.reason}` : '';
}

function bySource(event: RunEvent & { type: 'change.recorded' }): { by: string; files: string }[] {
  const counts = new Map<string, string[]>();
  for (const { source, path } of event.changes) {
    if (source.by === 'tool' && source.tool !== 'run_command') continue;
    const by =
      source.by === 'tool'
        ? 'the command'
        : source.by === 'outside'
          ? 'something outside the run'
          : `${source.by} commands`;
    const paths = counts.get(by);
    if (paths) paths.push(path);
    else counts.set(by, [path]);
  }
  return [...counts].map(([by, paths]) => ({
    by,
    files: paths.length > 3 ? pluralize(paths.length, 'file') : paths.join(', '),
  }));
}

function lastLines(text: string, lines: number): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

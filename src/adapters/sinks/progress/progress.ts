/** Shows on stderr what a run does: lines for what has happened and, on a terminal, a status line for what is in progress. */

import type { Writable } from 'node:stream';
import type { CommandReport, RunEvent } from '../../../domain/run/events.ts';
import type { RunResult } from '../../../domain/run/result.ts';
import { oneLine, prefixed, withinLine } from '../../../domain/text/terminal.ts';
import { pluralize } from '../../../domain/text/words.ts';
import type { Warning } from '../../../domain/warnings/warning.ts';
import type { Clock, EventSink, Terminal } from '../../../ports.ts';
import { type Banner, BEFORE, EventLines, type EventLinesOptions } from './event-lines.ts';
import type { Line } from './line-words.ts';
import type { Moment, Standing, StatusLine } from './status-line.ts';
import { Activities, type Activity, type UnderWay } from './under-way.ts';

/** What progress to show, and where. */
export interface ProgressOptions extends EventLinesOptions {
  readonly stderr: Writable;
  /** The terminal behind `stderr`, if a status line may be painted there; null for lines only. */
  readonly terminal: Terminal | null;
  /** Lines may have colours. */
  readonly hasColors: boolean;
  readonly clock: Clock;
  /** Print warnings and the final line only. */
  readonly quiet: boolean;
}

/** The one writer to stderr during a run: messages for people. */
export class Progress implements EventSink {
  readonly #options: ProgressOptions;
  readonly #events: EventLines;
  readonly #paint: ReturnType<typeof paintFor>;
  readonly #activities: Activities;
  /** Lines are printed above it. */
  #status: StatusLine | null = null;
  #printedAt: number;
  readonly #tools = new Map<string, UnderWay>();
  #standing: () => Standing | null = () => null;
  #hasEnded = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#events = new EventLines(options);
    this.#paint = paintFor(options.hasColors);
    this.#printedAt = options.clock();
    this.#activities = new Activities(options.clock);
  }

  /** Starts reporting what is in progress: every second in a terminal's status line, elsewhere after a period of silence. */
  async start(): Promise<void> {
    const { quiet, terminal } = this.#options;
    if (quiet) return;
    this.#timer = setInterval(() => this.tick(), 1_000).unref();
    if (terminal === null) return;
    const { StatusLine } = await import('./status-line.ts');
    if (this.#hasEnded) return;
    this.#status = new StatusLine(terminal, this.#paint.dim, () => this.#moment());
    this.#status.paint();
  }

  /** Called each second. */
  tick(): void {
    this.#status?.paintSoon();
    const silentMs = this.#options.clock() - this.#printedAt;
    const beat = this.#status === null ? this.#activities.heartbeat(silentMs) : null;
    if (beat !== null) this.note(beat);
  }

  /** The source of the status line's numbers. */
  follow(standing: () => Standing): void {
    this.#standing = standing;
  }

  /** Something long has begun; it is shown until its end is reported. */
  begin(activity: Activity): UnderWay {
    const label = oneLine(this.#options.redact(activity.label), 200);
    const underWay = this.#activities.begin({ ...activity, label });
    this.#status?.paintSoon();
    return underWay;
  }

  /** Shows an activity until the work is done, however it ends. */
  async during<Result>(activity: Activity, work: () => Promise<Result>): Promise<Result> {
    const underWay = this.begin(activity);
    try {
      return await work();
    } finally {
      underWay.end();
    }
  }

  /** Prints a line about the run itself, unless `quiet`. */
  note(line: string): void {
    this.#print([{ as: 'note', text: line }]);
  }

  /** Prints a line with a command, which would be another one if it were cut, unless `quiet`. */
  command(line: string): void {
    this.#print([{ as: 'command', text: line }]);
  }

  /** Prints someone else's words, marked as such: at most 12 lines, unless `quiet`. */
  quote(who: string, text: string): void {
    const lines = this.#options
      .redact(text)
      .trim()
      .split(/\r\n|\n|\r/);
    if (lines.join('') === '') return;
    const shown = lines.slice(0, MAX_QUOTED_LINES).map((line) => oneLine(line, 500));
    const more = lines.length - shown.length;
    const rest = more > 0 ? `\n    | … and ${pluralize(more, 'more line')} in the result` : '';
    this.#print([
      { as: 'note', text: `${who}:` },
      { as: 'output', text: `${prefixed(shown.join('\n'), '    | ')}${rest}` },
    ]);
  }

  /** Prints a line that people have to see. */
  warn(warning: Warning): void {
    this.#print([{ as: 'warning', text: warning }]);
  }

  /** Prints the last line of every run, however it ended. */
  final(line: string, isGood = true): void {
    this.endStatus();
    const { good, bad } = this.#paint;
    this.#write((isGood ? good : bad)(oneLine(this.#options.redact(line), 4_000)));
  }

  /** Stops showing what is in progress. Can be called twice. */
  endStatus(): void {
    this.#hasEnded = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#status?.end();
    this.#status = null;
  }

  /** The first lines about a run, before any of it is carried out. */
  banner(banner: Banner): void {
    this.#print(this.#events.banner(banner));
  }

  /** A command before the work has started; call the returned function when it has ended. */
  commandBefore(
    kind: 'setup' | 'verify',
    command: string,
    timeoutMs: number,
  ): (report: CommandReport) => void {
    const label = `${BEFORE[kind]} ${command}`;
    this.note(`${label} …`);
    const underWay = this.begin({ label, timeoutMs, isAnnounced: true });
    return (report) => {
      underWay.end();
      this.#print(this.#events.commandBefore(kind, report));
    };
  }

  /** A verify command has ended; the event about all of them follows. */
  verified(report: CommandReport): void {
    this.#print(this.#events.verified(report));
  }

  accept(event: RunEvent): void {
    this.#notice(event);
    this.#print(this.#events.of(event));
    this.#status?.paintSoon();
  }

  close(_result: RunResult): void {
    this.#print(this.#events.rest());
  }

  /** What an event says about what is in progress. The code that runs commands reports them, with their time limit. */
  #notice(event: RunEvent): void {
    if (event.type === 'tool.started' && event.call.name !== 'run_command') {
      const label = this.#events.describe(event.call);
      this.#tools.set(event.call.id, this.begin({ label }));
    } else if (event.type === 'tool.completed') {
      this.#tools.get(event.call)?.end();
      this.#tools.delete(event.call);
    }
  }

  #moment(): Moment {
    const standing = this.#standing();
    const begun = this.#activities.hasTurn() ? 1 : 0;
    return {
      standing: standing && { ...standing, iterations: standing.iterations + begun },
      now: this.#options.clock(),
      doing: this.#activities.now(),
    };
  }

  /** Prints lines in their colours; with `quiet`, only warnings. */
  #print(lines: readonly Line[]): void {
    const { quiet, redact } = this.#options;
    const { bad, dim, careful } = this.#paint;
    for (const { as, text } of lines) {
      if (quiet && as !== 'warning') continue;
      if (as === 'output') this.#write(dim(text));
      else if (as === 'command') this.#write(withinLine(redact(text)));
      else if (as === 'warning') this.#write(`${careful('warning:')} ${oneLine(redact(text), 2_000)}`);
      else this.#write((as === 'bad' ? bad : String)(oneLine(redact(text), 1_000)));
    }
  }

  /** Prints text that is already safe. */
  #write(line: string): void {
    this.#printedAt = this.#options.clock();
    if (this.#status !== null) this.#status.print(line);
    else this.#options.stderr.write(`${line}\n`);
  }
}

const MAX_QUOTED_LINES = 12;

/** The terminal's own red, green and yellow, which fit its background. Without colours, text stays as it is. */
function paintFor(hasColors: boolean) {
  const between = (from: number, to: number) => (text: string) =>
    hasColors ? text.replace(/[^\n]+/g, (line) => `\u001b[${from}m${line}\u001b[${to}m`) : text;
  return { bad: between(31, 39), good: between(32, 39), careful: between(33, 39), dim: between(2, 22) };
}

/** One run of the program and its answer, without any retry: everything that can go wrong is returned as a value. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { addAbortSignal } from 'node:stream';
import type { ToolCall } from '../../../domain/conversation/conversation.ts';
import { depthOf, jsonOrUndefined } from '../../../domain/text/json.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { type Answer, type AttemptResult, MAX_CONTENT_BYTES } from '../asking/answer.ts';
import type { AttemptParts } from '../asking/attempt-parts.ts';
import { AnswerCount } from '../asking/counted.ts';
import { type AttemptFailure, failureRows, refusalFailure, streamFailure } from '../asking/failures.ts';
import { MAX_DEPTH, parseInput } from '../asking/tool-input.ts';
import { RequestWatchdog } from '../asking/watchdog.ts';
import { AnswerTooLarge, ByteBounds } from '../asking/watched-body.ts';
import { CommandReply, type CommandRequest } from './messages.ts';

/** One request to a program. */
export interface CommandAttempt extends AttemptParts {
  /** An absolute path, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly request: CommandRequest;
  /** Bytes of the request that are not tokens. */
  readonly beyondTokens: number;
  /** Ids of earlier calls in the conversation. */
  readonly earlierCalls: ReadonlySet<string>;
}

const rows = failureRows({});

/** Maximum bytes kept of the program's stderr: its end. */
const MAX_STDERR_BYTES = 4_096;

/** Milliseconds for the exit code to arrive after the end of the output. */
const EXIT_MS = 1_000;

/** Starts the program, sends it the request and reads its answer. Leaves no process of its group. */
export async function attemptCommand(attempt: CommandAttempt): Promise<AttemptResult> {
  const { signal, idleTimeoutMs, redact } = attempt;
  const line = `${JSON.stringify(attempt.request)}\n`;
  const count = new AnswerCount(() => Buffer.byteLength(line) - attempt.beyondTokens);
  const failed = (failure: AttemptFailure): AttemptResult =>
    signal.aborted
      ? { status: 'interrupted', spent: count.spent }
      : { status: 'failed', failure, spent: count.spent, requestId: null };
  if (signal.aborted) return { status: 'interrupted', spent: undefined };
  const watchdog = new RequestWatchdog(signal);
  const child = new RunningProgram(attempt, watchdog.signal);
  const silence = `nothing came for ${idleTimeoutMs / 1_000} s (see --idle-timeout)`;
  const brokenOff = async () =>
    streamFailure(redact(`${watchdog.reason ?? (await child.end())}${child.lastWords()}`));
  const giveUp = () => {
    count.isUnanswered = signal.aborted || watchdog.reason !== null;
  };
  const hear = (bytes: number) => {
    watchdog.expect(idleTimeoutMs, silence);
    attempt.onBytes(bytes);
  };
  try {
    watchdog.expect(idleTimeoutMs, silence);
    child.say(line);
    for await (const said of child.lines(hear)) {
      const reply = replyIn(said);
      if (typeof reply === 'string')
        return failed(streamFailure(redact(`${reply}${child.lastWords()}`), 'never'));
      // A failure instead of an answer costs nothing.
      count.hasBegun ||= reply.type !== 'failure';
      if (reply.type === 'text') {
        count.answerBytes += Buffer.byteLength(reply.text);
        if (count.answerBytes > MAX_CONTENT_BYTES) throw new AnswerTooLarge('answer', MAX_CONTENT_BYTES);
        attempt.onText(reply.text);
      } else if (reply.type === 'failure') {
        const retryAfterMs =
          reply.retryAfterSeconds === undefined ? null : Math.round(reply.retryAfterSeconds * 1_000);
        const refused = { status: null, type: reply.kind, message: redact(reply.message), retryAfterMs };
        return failed(refusalFailure(refused, rows[reply.kind]));
      } else if (reply.type === 'answer') {
        count.answerBytes = Buffer.byteLength(said);
        const answer = answerOf(reply, attempt, count);
        return typeof answer === 'string' ? failed(streamFailure(answer)) : { status: 'ok', answer };
      }
    }
    giveUp();
    return failed(await brokenOff());
  } catch (error) {
    giveUp();
    if (signal.aborted) return { status: 'interrupted', spent: count.spent };
    if (error instanceof AnswerTooLarge) return failed(streamFailure(error.message, 'never'));
    if (watchdog.signal.aborted) return failed(await brokenOff());
    throw error;
  } finally {
    watchdog.stop();
    child.kill();
  }
}

/** The parsed line, or what is wrong with it. */
function replyIn(line: string): CommandReply | string {
  const value = depthOf(line) > MAX_DEPTH ? undefined : jsonOrUndefined(line);
  if (value === undefined) return `The program wrote a line that is not JSON: ${oneLine(line, 200)}`;
  const reply = CommandReply.safeParse(value);
  if (reply.success) return reply.data;
  const [issue] = reply.error.issues;
  const place = issue?.path.join('.') ?? '';
  return `The program wrote a line that is not a message of the protocol: ${place === '' ? '' : `${place}: `}${issue?.message ?? ''}`;
}

/** The answer, or what is wrong with it. */
function answerOf(
  { content, stop, stopDetail = '', usage, model }: Extract<CommandReply, { type: 'answer' }>,
  { earlierCalls, request }: CommandAttempt,
  count: AnswerCount,
): Answer | string {
  const ids = new Set(earlierCalls);
  const calls: ToolCall[] = [];
  const texts: string[] = [];
  for (const { type, id, name, input, text } of content) {
    if (type === 'text' && typeof text === 'string') texts.push(text);
    if (type !== 'tool_use') continue;
    if (typeof id !== 'string' || id === '' || typeof name !== 'string' || name === '')
      return 'A tool call came without an id or a name';
    if (ids.has(id)) return `Two tool calls have the id ${oneLine(id, 100)}`;
    ids.add(id);
    const written = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    const parsed = parseInput(written);
    calls.push({
      id,
      name,
      ...(parsed.ok ? { input: parsed.value } : { input: written, malformed: parsed.why }),
    });
  }
  const isWaiting = (stop ?? 'tool_use') === 'tool_use';
  if (stop === 'tool_use' && calls.length === 0) return 'The answer stopped for tools but calls none';
  const ended = stop === undefined || stop === 'end_turn' ? 'end_turn' : stop;
  if (usage !== undefined) {
    const { output, ...prompt } = usage;
    count.report({ prompt, output }, true);
  }
  return {
    content,
    stop: calls.length > 0 && (isWaiting || stop === 'end_turn') ? 'tool_use' : ended,
    stopDetail,
    calls,
    text: texts.join(''),
    ...count.ofTurn,
    model: model ?? request.model,
  };
}

/** The program while it runs. */
class RunningProgram {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<string>;
  readonly #kill = (): void => this.kill();
  #stderr = Buffer.alloc(0);

  constructor({ program, args, env }: CommandAttempt, signal: AbortSignal) {
    // Its own process group, so that what it starts ends with it. Nothing is loaded from the folder it starts in.
    this.#child = spawn(program, args, { cwd: '/', env, detached: true, stdio: 'pipe' });
    // A second signal ends the runner at any point.
    process.once('exit', this.#kill);
    addAbortSignal(signal, this.#child.stdout);
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        resolve(`The program could not be started: ${error.message}`);
        this.#child.stdout.destroy();
      });
      this.#child.once('exit', (code, by) =>
        resolve(
          `The program ended without an answer (${by === null ? `exit code ${code}` : `killed by ${by}`})`,
        ),
      );
    });
    this.#child.stderr.on('data', (piece: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, piece]).subarray(-MAX_STDERR_BYTES);
    });
    // It may end without reading.
    for (const stream of [this.#child.stdin, this.#child.stderr]) stream.on('error', () => undefined);
  }

  /** The one line that it gets. */
  say(line: string): void {
    this.#child.stdin.end(line);
  }

  /** The lines that it writes, without empty ones; the last one counts only with its end. Throws AnswerTooLarge. */
  async *lines(onBytes: (bytes: number) => void): AsyncGenerator<string> {
    const bounds = new ByteBounds();
    const pieces: Buffer[] = [];
    for await (const chunk of this.#child.stdout as AsyncIterable<Buffer>) {
      onBytes(bounds.add(chunk));
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        const line = Buffer.concat([...pieces.splice(0), chunk.subarray(from, end)]).toString('utf8');
        from = end + 1;
        if (line.trim() !== '') yield line;
      }
      pieces.push(chunk.subarray(from));
    }
  }

  /** How it ended, once its output has ended. */
  async end(): Promise<string> {
    const timer = new AbortController();
    const late = new Promise<string>((resolve) => {
      const timeout = setTimeout(() => resolve('The program closed its output without an answer'), EXIT_MS);
      timer.signal.addEventListener('abort', () => clearTimeout(timeout), { once: true });
    });
    const how = await Promise.race([this.#ended, late]);
    timer.abort();
    return how;
  }

  /** Its last words on stderr, as the end of a sentence. */
  lastWords(): string {
    const said = oneLine(this.#stderr.toString('utf8').trim(), 2_000);
    return said === '' ? '' : `; it said: ${said.slice(-300)}`;
  }

  /** Ends it and everything that it started, unless that moved into its own session. */
  kill(): void {
    process.removeListener('exit', this.#kill);
    const { pid, stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

const NEWLINE = 10;

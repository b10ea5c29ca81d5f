/**
 * Records who wrote ignored files, in case it matters later. A file whose ctime falls into the time of a command was written by
 * that command; files written by file tools are recorded by name. Stored beside the run's objects, for the next process.
 */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { Writer } from '../../../domain/changes/change.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';

/** A ctime in ns; JSON has no numbers of that size. */
const Time = z.string().regex(/^\d{1,20}$/);

const LogLine = z.union([
  z.strictObject({ from: Time, by: Writer }),
  z.strictObject({ to: Time }),
  z.strictObject({ path: z.string(), at: Time, by: Writer }),
]);
type LogLine = z.infer<typeof LogLine>;

/** Commands that ran together; `to` is null while they run. */
interface CommandSpan {
  readonly by: Writer;
  readonly from: bigint;
  to: bigint | null;
}

/** Records when commands ran, and which ignored files were written by file tools. */
export class WriteLog {
  readonly #file: string;
  readonly #spans: CommandSpan[] = [];
  readonly #files = new Map<string, { at: bigint; by: Writer }>();
  #isUsable = true;

  /** `file` holds one line of JSON for each entry. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Continues the log of an earlier process. Commands that were running when it died ended now at the latest. */
  recall(now: bigint): void {
    if (!existsSync(this.#file)) return;
    const kept = readFileSync(this.#file, 'utf8');
    // The process may have been killed within a line.
    if (!kept.endsWith('\n')) appendFileSync(this.#file, '\n');
    for (const text of kept.split('\n')) {
      // Anything else, such as half a line, is no entry.
      const line = LogLine.safeParse(jsonOrUndefined(text)).data;
      if (line !== undefined) this.#take(line);
    }
    if (this.#spans.at(-1)?.to === null) this.end(now);
  }

  /** The work tree has a different clock, or the clock was set: times mean nothing. */
  distrust(): void {
    this.#isUsable = false;
  }

  /** Commands begin. */
  begin(by: Writer, from: bigint): void {
    this.#append({ from: String(from), by });
  }

  /** The commands have ended, and none of their processes is left. */
  end(to: bigint): void {
    this.#append({ to: String(to) });
  }

  /** A file tool wrote an ignored file, which has this ctime since. */
  wrote(path: string, at: bigint, by: Writer): void {
    this.#append({ path, at: String(at), by });
  }

  /** Who last changed the file, by its ctime; `outside` means nothing in the run, null unknown. */
  writerOf(path: string, ctimeNs: bigint): Writer | 'outside' | null {
    const written = this.#files.get(path);
    if (written?.at === ctimeNs) return written.by;
    if (!this.#isUsable) return null;
    const span = this.#spans.findLast(({ from, to }) => from <= ctimeNs && (to === null || ctimeNs <= to));
    return span?.by ?? 'outside';
  }

  #append(line: LogLine): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    this.#take(line);
  }

  #take(line: LogLine): void {
    if ('from' in line) this.#spans.push({ by: line.by, from: BigInt(line.from), to: null });
    else if ('path' in line) this.#files.set(line.path, { at: BigInt(line.at), by: line.by });
    else {
      const last = this.#spans.at(-1);
      if (last) last.to = BigInt(line.to);
    }
  }
}

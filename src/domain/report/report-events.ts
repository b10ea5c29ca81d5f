/** Collects what a report shows of a run while it is in progress, as JSON that is ready to be written when it ends. */

import type { RunEvent } from '../run/events.ts';
import type { Redact } from '../secrets/redact.ts';
import { pluralize } from '../text/words.ts';
import { pageJson } from './report-page.ts';
import { EventReporter } from './reported-event.ts';

/** Maximum characters of all events as JSON, and their number; beyond it, texts and then events are left out. */
const MAX_CHARS = 6 * 1024 * 1024;
const MAX_EVENTS = 20_000;

/** Takes every event of a run in order, and keeps only what the report shows. */
export class ReportEvents {
  readonly #reporter: EventReporter;
  readonly #entries: string[] = [];
  #chars = 0;
  #leftOut = 0;

  constructor(redact: Redact) {
    this.#reporter = new EventReporter(redact, () => this.#isFull);
  }

  accept(event: RunEvent): void {
    const entry = this.#reporter.reported(event);
    if (entry === null) return;
    if (this.#entries.length >= MAX_EVENTS) this.#leftOut += 1;
    else this.#add(pageJson(entry));
  }

  close(): void {}

  /** The events as a JSON array, and which are missing. */
  end(): { readonly json: string; readonly notes: readonly string[] } {
    const notes = [
      ...(this.#isFull ? ['The texts of later calls are left out, since there are too many of them.'] : []),
      ...(this.#leftOut > 0 ? [`${pluralize(this.#leftOut, 'later event')} of the run left out.`] : []),
    ];
    const where = notes.length > 0 ? ['The journal, events.jsonl, has all of them.'] : [];
    return { json: `[${this.#entries.join(',\n')}]`, notes: [...notes, ...where] };
  }

  get #isFull(): boolean {
    return this.#chars > MAX_CHARS;
  }

  #add(json: string): void {
    this.#chars += json.length;
    this.#entries.push(json);
  }
}

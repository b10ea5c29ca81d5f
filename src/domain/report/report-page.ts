/**
 * Collects what a report shows while the run is in progress, and puts it into the prebuilt page: plain text at its top, everything else
 * as data that its script shows.
 */

import type { RunEvent } from '../run/events.ts';
import type { RunResult } from '../run/result.ts';
import type { Redact } from '../secrets/redact.ts';
import { shortened } from '../text/shorten.ts';
import { inertJson, oneLine } from '../text/terminal.ts';
import { formatNumber, pluralize } from '../text/words.ts';
import type { ReportData, ReportEvent } from './report-data.ts';
import { EventReporter } from './reported-event.ts';

/** `events` is a JSON array that was made inert, `patchBase64` what the page shows of the patch. */
export function reportPage(
  template: string,
  data: Omit<ReportData, 'events'>,
  { events, patchBase64 }: { readonly events: string; readonly patchBase64: string },
): string {
  const { result } = data;
  const parts: Readonly<Record<string, string>> = {
    title: asText(titleOf(result)),
    outcome: asText(outcomeOf(result)),
    reason: asText(result.reason),
    // The events were made JSON as they happened.
    data: `${pageJson(data).slice(0, -1)},"events":${events}}`,
    patch: patchBase64,
  };
  return template
    .split(MARK)
    .map((piece, at) => (at % 2 === 0 ? piece : parts[piece]))
    .join('');
}

/** `<!--=name=-->` in the page; the name is captured. */
const MARK = /<!--=(title|outcome|reason|data|patch)=-->/;

function titleOf({ outcome, plan, runId }: RunResult): string {
  return `${outcome ?? 'running'}: ${plan?.title ?? 'no plan'} (${runId})`;
}

function outcomeOf({ outcome, exitCode }: RunResult): string {
  return outcome === null ? 'running' : `${outcome} (exit ${exitCode ?? 'unknown'})`;
}

/** One line without anything that could be markup. */
function asText(text: string): string {
  return oneLine(text, 4_000).replace(/[&<>"'`]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

/** A lone surrogate is escaped, so that the page can be written as UTF-8. */
export function pageJson(value: unknown): string {
  return inertJson(JSON.stringify(value)).replaceAll('<', '\\u003c');
}

/** Entries of one list, characters of one text, and of all texts together. */
const MAX_ENTRIES = 5_000;
const MAX_TEXT = 20_000;
const MAX_TEXTS = 16 * 1024 * 1024;

/** A copy of the same shape with shorter lists and texts, and what was cut: `flags: 5,000 of 12,000`. */
export function boundedDocument<Document extends object>(
  document: Document,
): { readonly document: Document; readonly cut: readonly string[] } {
  const cut: string[] = [];
  let left = MAX_TEXTS;
  const part = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      const text = shortened(value, Math.min(MAX_TEXT, left));
      left = Math.max(1, left - text.length);
      return text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const entries = value.slice(0, MAX_ENTRIES).map((entry) => part(entry, name));
      if (value.length > entries.length)
        cut.push(`${name}: ${formatNumber(entries.length)} of ${formatNumber(value.length)}`);
      return entries;
    }
    return Object.fromEntries(
      Object.entries(value).map(([field, entry]) => [field, part(entry, field)] as const),
    );
  };
  return { document: part(document, '') as Document, cut };
}

/** The same events, as JSON, without anything that the model, a call or a command has said. */
export function withoutTexts(json: string): string {
  const events: ReportEvent[] = JSON.parse(json);
  return pageJson(events.map(withoutText));
}

function withoutText(event: ReportEvent): ReportEvent {
  switch (event.type) {
    case 'turn':
      return { ...event, text: '', calls: event.calls.map((call) => ({ ...call, about: '', input: [] })) };
    case 'verify':
      return { ...event, reports: event.reports.map((report) => ({ ...report, output: '' })) };
    case 'done':
    case 'note':
      return { ...event, text: '' };
    case 'started':
    case 'lost':
    case 'call':
    case 'change':
    case 'resumed':
      return event;
  }
}

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

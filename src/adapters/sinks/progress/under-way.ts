/** What is going on at the moment, as far as people are to know: nothing of it is recorded. */

import type { Retry } from '../../../domain/budget/spent.ts';
import { formatSize } from '../../../domain/text/format-size.ts';
import type { Clock } from '../../../ports.ts';

/** Something that takes its time. */
export interface Activity {
  /** `run_command npm test`, `waiting for the model`. */
  readonly label: string;
  /** Milliseconds after which it is stopped. Default: nothing stops it. */
  readonly timeoutMs?: number;
  /** A line has already said that it has begun. Default: false. */
  readonly isAnnounced?: boolean;
  /** It is what something else is a part of, and only named while it is alone. Default: false. */
  readonly isOuter?: boolean;
  /** It is the model's next answer, with which an iteration begins. Default: false. */
  readonly isTurn?: boolean;
}

/** Follows one activity. */
export interface UnderWay {
  /** So many bytes of an answer are there by now. */
  received(bytes: number): void;
  /** The answer failed, and is asked for again after a wait. */
  waits(retry: Pick<Retry, 'attempt' | 'waitMs'>): void;
  /** Call once. */
  end(): void;
}

/** One activity at one moment. */
export interface Doing {
  readonly label: string;
  /** Milliseconds since it began. */
  readonly forMs: number;
  readonly timeoutMs: number | null;
  /** What is known about how far it is: `12.3 kB received`, `34 s left`; empty for nothing. */
  readonly detail: string;
}

/** Milliseconds of silence after which it is said what is going on, and between two such lines. */
const [FIRST_BEAT_MS, HEARTBEAT_MS] = [5_000, 30_000];

interface Entry {
  readonly activity: Activity;
  readonly since: number;
  label: string;
  /** The name of its wait. */
  pause: string;
  bytes: number;
  waitsUntil: number | null;
  isAnnounced: boolean;
}

/** All activities that have begun and not ended. */
export class Activities {
  readonly #clock: Clock;
  readonly #entries = new Set<Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(activity: Activity): UnderWay {
    const since = this.#clock();
    const { label, isAnnounced = false } = activity;
    const entry: Entry = { activity, since, label, pause: '', bytes: 0, waitsUntil: null, isAnnounced };
    this.#entries.add(entry);
    return {
      received: (bytes) => {
        entry.bytes = bytes;
      },
      waits: ({ attempt, waitMs }) => {
        entry.label = `${label}, attempt ${attempt}`;
        entry.pause = `pause before attempt ${attempt}`;
        entry.bytes = 0;
        entry.waitsUntil = this.#clock() + waitMs;
        // The wait has been announced with its length.
        entry.isAnnounced = true;
      },
      end: () => void this.#entries.delete(entry),
    };
  }

  /** Whether the model is asked for the answer that begins an iteration. */
  hasTurn(): boolean {
    return [...this.#entries].some(({ activity }) => activity.isTurn === true);
  }

  /** What is going on, in the order in which it began. */
  now(): Doing[] {
    return this.#shown().map((entry) => this.#doing(entry));
  }

  /**
   * The line to print when nothing has been printed for `silentMs`: that something has begun, after the first seconds, or that
   * it goes on. Null when there is nothing to say yet.
   */
  heartbeat(silentMs: number): string | null {
    const [entry, ...more] = this.#shown();
    for (const each of this.#entries) this.#endWait(each);
    if (entry === undefined || silentMs < (entry.isAnnounced ? HEARTBEAT_MS : FIRST_BEAT_MS)) return null;
    const { label, forMs, timeoutMs, detail } = this.#doing(entry);
    if (forMs < FIRST_BEAT_MS) return null;
    const others = more.length === 0 ? '' : `, and ${more.length} more`;
    const details = [detail, timeoutMs === null ? '' : `limit ${seconds(timeoutMs)}`].filter(Boolean);
    const isFirst = !entry.isAnnounced;
    for (const each of [entry, ...more]) each.isAnnounced = true;
    if (isFirst) return `${[label, ...details].join(', ')} …${others}`;
    return `${[`${label}: ${seconds(forMs)} so far`, ...details].join(', ')}${others}`;
  }

  /** What comes after a wait has not been announced with it. */
  #endWait(entry: Entry): void {
    if (entry.waitsUntil === null || entry.waitsUntil > this.#clock()) return;
    entry.waitsUntil = null;
    entry.isAnnounced = false;
  }

  /** Without those that others are a part of. */
  #shown(): Entry[] {
    const all = [...this.#entries];
    const inner = all.filter(({ activity }) => activity.isOuter !== true);
    return inner.length > 0 ? inner : all.slice(-1);
  }

  #doing({ activity, since, label, pause, bytes, waitsUntil }: Entry): Doing {
    const now = this.#clock();
    const left = waitsUntil === null ? 0 : waitsUntil - now;
    return {
      label: left > 0 ? pause : label,
      forMs: now - since,
      timeoutMs: activity.timeoutMs ?? null,
      detail: left > 0 ? `${seconds(left)} left` : bytes > 0 ? `${formatSize(bytes)} received` : '',
    };
  }
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}

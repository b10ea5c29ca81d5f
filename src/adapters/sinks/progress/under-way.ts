/** What is in progress, for people to see; none of it is recorded. */

import { formatSize } from '../../../domain/text/words.ts';
import type { Clock } from '../../../ports.ts';

/** Something that takes a while. */
export interface Activity {
  /** `run_command npm test`, `waiting for the model`. */
  readonly label: string;
  /** Milliseconds after which it is stopped. Default: never. */
  readonly timeoutMs?: number;
  /** A line has already announced it. Default: false. */
  readonly isAnnounced?: boolean;
  /** It contains other activities, and is only named while it is alone. Default: false. */
  readonly isOuter?: boolean;
  /** It is the model's next answer, with which an iteration begins. Default: false. */
  readonly isTurn?: boolean;
}

/** Follows one activity. */
export interface UnderWay {
  /** The number of bytes of an answer so far. */
  received(bytes: number): void;
  /** Call once. */
  end(): void;
}

/** One activity at one moment. */
export interface Doing {
  readonly label: string;
  /** Milliseconds since it began. */
  readonly forMs: number;
  readonly timeoutMs: number | null;
  /** How far it is, if known: `12.3 kB received`; otherwise empty. */
  readonly detail: string;
}

/** Milliseconds of silence before a line says what is in progress, and between two such lines. */
const [FIRST_BEAT_MS, HEARTBEAT_MS] = [5_000, 30_000];

interface Entry {
  readonly activity: Activity;
  readonly since: number;
  bytes: number;
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
    const entry: Entry = { activity, since, bytes: 0, isAnnounced: activity.isAnnounced === true };
    this.#entries.add(entry);
    return {
      received: (bytes) => {
        entry.bytes = bytes;
      },
      end: () => void this.#entries.delete(entry),
    };
  }

  /** Whether the model is working on the answer that begins an iteration. */
  hasTurn(): boolean {
    return [...this.#entries].some(({ activity }) => activity.isTurn === true);
  }

  /** What is in progress, in order of its start. */
  now(): Doing[] {
    return this.#shown().map((entry) => this.#doing(entry));
  }

  /**
   * The line to print when nothing has been printed for `silentMs`: that something has begun, after the first
   * seconds, or that it continues. Null if there is nothing to say yet.
   */
  heartbeat(silentMs: number): string | null {
    const [entry, ...more] = this.#shown();
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

  /** Without those that contain others. */
  #shown(): Entry[] {
    const all = [...this.#entries];
    const inner = all.filter(({ activity }) => activity.isOuter !== true);
    return inner.length > 0 ? inner : all.slice(-1);
  }

  #doing({ activity: { label, timeoutMs }, since, bytes }: Entry): Doing {
    const detail = bytes > 0 ? `${formatSize(bytes)} received` : '';
    return { label, forMs: this.#clock() - since, timeoutMs: timeoutMs ?? null, detail };
  }
}

function seconds(ms: number): string {
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}

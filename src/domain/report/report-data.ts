/** The data in `report.html`: the result, the events in short form, and where the rest is. */

import type { ToolOutcome } from '../conversation/tool.ts';
import type { CommandReport, RunAction, RunStarted } from '../run/events.ts';
import type { RunResult } from '../run/result.ts';

/** The document in the page. Times are Unix milliseconds. */
export interface ReportData {
  readonly madeAt: number;
  /** Version of patchsmith that wrote the page. */
  readonly madeBy: string;
  readonly result: RunResult;
  /** In the order of the run; empty for a run that ended before its work began. */
  readonly events: readonly ReportEvent[];
  /** The patch is in its own element, in base64. */
  readonly patch: ReportedPatch;
  readonly files: readonly ReportedFile[];
  /** Why each kind of flag in the result deserves a second look. */
  readonly flagMeanings: Readonly<Record<string, string>>;
  /** The parts that the page lacks, as sentences. */
  readonly notes: readonly string[];
}

/** `bytes` are those of the whole patch, 0 without one; `why` says what of it is not in the page, null for nothing. */
export interface ReportedPatch {
  readonly bytes: number;
  readonly why: string | null;
}

/** A file of the run directory; `size` in bytes. */
export interface ReportedFile {
  readonly name: string;
  readonly what: string;
  readonly size: number;
}

/** One parameter of a call and its value, a string as it is and everything else as JSON. */
export type ReportedInput = readonly [name: string, value: string];

/** A path that a change has touched. */
export interface ReportedChange {
  readonly path: string;
  readonly kind: string;
  readonly excluded?: string | undefined;
}

/** An event of the journal without what the page does not show. Texts are redacted first, and then cut. */
export type ReportEvent = { readonly at: number } & (
  | {
      readonly type: 'started';
      readonly replayOf: string | null;
      readonly root: string;
      readonly prompt: string;
      readonly limits: RunStarted['limits'];
      readonly unready: string | null;
    }
  | {
      readonly type: 'turn';
      readonly ms: number;
      readonly model: string;
      readonly stop: string;
      readonly text: string;
      /** null where the price is not known. */
      readonly costUsd: number | null;
      readonly usage: RunResult['tokens'];
      readonly calls: readonly {
        readonly id: string;
        readonly tool: string;
        readonly about: string;
        readonly input: readonly ReportedInput[];
      }[];
    }
  | {
      /** An answer that did not come to its end; or one beside the work. */
      readonly type: 'lost';
      readonly text: string;
      readonly waitMs: number;
    }
  | { readonly type: 'call'; readonly id: string; readonly iteration: number }
  | {
      readonly type: 'done';
      readonly id: string;
      readonly ms: number;
      readonly status: ToolOutcome['status'];
      readonly reason: string | null;
      /** How a command ended; null for other tools. */
      readonly end: string | null;
      readonly text: string;
    }
  | {
      readonly type: 'change';
      readonly by: string;
      readonly calls: readonly string[];
      readonly iteration: number;
      readonly files: readonly ReportedChange[];
      /** Of all, listed or not. */
      readonly count: number;
    }
  | {
      readonly type: 'verify';
      readonly reports: readonly CommandReport[];
      readonly otherwise: readonly string[];
    }
  | { readonly type: 'resumed'; readonly text: string }
  | { readonly type: 'note'; readonly of: RunAction['type']; readonly text: string }
);

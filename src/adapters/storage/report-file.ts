/** Writes `report.html`. Anyone may have written what it reads in the run directory. */

import { lstatSync } from 'node:fs';
import reportTemplate from '../../../page/report.html';
import type { ReportedFile, ReportedPatch } from '../../domain/report/report-data.ts';
import { boundedDocument, ReportEvents, reportPage, withoutTexts } from '../../domain/report/report-page.ts';
import { FLAGS } from '../../domain/review/flag.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { type Redact, redactedStrings } from '../../domain/secrets/redact.ts';
import { formatNumber, sentence } from '../../domain/text/words.ts';
import { sha256Of } from '../../files/hash.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { writeDocument } from '../../files/replace-file.ts';
import { Breath } from '../../files/time-limit.ts';
import { readJournal } from './read-journal.ts';
import { MAX_PATCH_BYTES } from './read-result.ts';
import type { RunDirectory } from './run-directory.ts';

/** Maximum bytes of the patch in a page; `changes.patch` has the rest. */
const MAX_SHOWN_BYTES = 6 * 1024 * 1024;

/** A run, and when and by which version its page is written. */
export interface ReportedRun {
  readonly directory: RunDirectory;
  readonly result: RunResult;
  /** A JSON array that is inert in a page, and what is missing from it. */
  readonly events: { readonly json: string; readonly notes: readonly string[] };
  readonly redact: Redact;
  readonly madeAt: number;
  readonly madeBy: string;
}

/** Replaces the run's page atomically, and follows no link in its place. Null on success, otherwise the reason. */
export function writeReport({
  directory,
  result,
  events,
  redact,
  madeAt,
  madeBy,
}: ReportedRun): string | null {
  const { document, cut } = boundedDocument(redactedStrings(result, redact) as RunResult);
  const { shown, patch } = shownPatch(directory, result, redact);
  // If a patch is withheld, the page shows no line of it, not even from elsewhere.
  const isWithheld = result.patch === null && result.secrets.length > 0;
  const notes = [
    ...(isWithheld ? [WITHHELD] : []),
    ...events.notes,
    ...(cut.length > 0 ? [`Of the result, result.json has more entries: ${cut.join('; ')}.`] : []),
  ];
  const page = reportPage(
    reportTemplate,
    { madeAt, madeBy, result: document, patch, files: filesOf(directory), flagMeanings: FLAGS, notes },
    { events: isWithheld ? withoutTexts(events.json) : events.json, patchBase64: shown.toString('base64') },
  );
  return writeDocument(directory.report, page);
}

const WITHHELD =
  'The conversation, call inputs and output, because the patch was withheld as it may contain a secret; the journal has them.';

/** The events of a run from its journal, read within bounds. One that cannot be read is mentioned in the notes. */
export async function recordedEvents(
  { events }: RunDirectory,
  redact: Redact,
): Promise<ReportedRun['events']> {
  const journal = await readJournal(events);
  if (journal.status === 'failed') return { json: '[]', notes: [redact(journal.message)] };
  const collected = new ReportEvents(redact);
  const breath = new Breath();
  for (const event of journal.events) {
    collected.accept(event);
    await breath.after(STEPS_OF_AN_EVENT);
  }
  const { json, notes } = collected.end();
  return { json, notes: journal.torn ? [...notes, TORN] : notes };
}

/** Events are searched for secrets, which takes as long as looking at a few entries of a folder. */
const STEPS_OF_AN_EVENT = 10;

const TORN =
  'The last line of the journal is torn: the run was killed while it was written, or is being written.';

/** The part of the patch to show, and what the page says about it. */
interface ShownPatch {
  readonly shown: Buffer;
  readonly patch: ReportedPatch;
}

function shownPatch({ patch: path }: RunDirectory, { patch }: RunResult, redact: Redact): ShownPatch {
  if (patch === null) return { shown: Buffer.alloc(0), patch: { bytes: 0, why: null } };
  const part = (shown: Buffer, why: string | null) => ({ shown, patch: { bytes: patch.bytes, why } });
  const nothing = (why: string) => part(Buffer.alloc(0), why);
  const read = readRegularFile(path, Math.min(Math.max(patch.bytes, 0), MAX_PATCH_BYTES));
  if (read.status === 'failed') return nothing(sentence(`changes.patch ${read.why}`));
  if (read.bytes.length !== patch.bytes || sha256Of(read.bytes) !== patch.sha256)
    return nothing(
      'changes.patch is not the patch that the run wrote: its hash differs from the one in the result.',
    );
  const whole = firstFiles(read.bytes);
  const shown = withoutSecrets(whole, redact);
  if (shown === null) return nothing('changes.patch holds what looks like a secret, and is not shown here.');
  if (whole.length < patch.bytes) return part(shown, partial(whole.length, patch.bytes));
  return part(shown, shown === whole ? null : HIDDEN);
}

const HIDDEN = 'What looks like a secret is hidden here as ***; changes.patch has the exact lines.';

function partial(bytes: number, of: number): string {
  return `Only the first files are shown, ${formatNumber(bytes)} of ${formatNumber(of)} bytes: changes.patch has all of them.`;
}

/** As many whole files of a patch as fit. No line within a file begins like the head of the next one. */
function firstFiles(patch: Buffer): Buffer {
  if (patch.length <= MAX_SHOWN_BYTES) return patch;
  const end = patch.lastIndexOf('\ndiff --git ', MAX_SHOWN_BYTES);
  return patch.subarray(0, end + 1);
}

/** The same bytes if there is nothing to hide, otherwise redacted line by line; null for a secret that spans several lines. */
function withoutSecrets(patch: Buffer, redact: Redact): Buffer | null {
  const text = patch.toString('utf8');
  if (redact(text) === text) return patch;
  const lines = text.split('\n').map(redact).join('\n');
  return redact(lines) === lines ? Buffer.from(lines) : null;
}

function filesOf({ result, patch, uncommitted, events, publication }: RunDirectory): ReportedFile[] {
  const named = {
    'the patch': patch,
    'what was uncommitted when the run began; the patch applies after it': uncommitted,
    'the result, for programs': result,
    'the journal: every event of the run': events,
    'the last publication': publication,
  };
  return Object.entries(named).flatMap(([what, path]) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const name = path.slice(path.lastIndexOf('/') + 1);
    return stat?.isFile() ? [{ name, what, size: stat.size }] : [];
  });
}

/** `patchsmith blame`: which tool calls made which lines of a run's patch, read from its run directory. */

import { isAbsolute } from 'node:path';
import { findRun } from '../../adapters/storage/find-run.ts';
import { readJournal, stateAfter } from '../../adapters/storage/read-journal.ts';
import { readPatch } from '../../adapters/storage/read-result.ts';
import { RUN_ID, type RunDirectory } from '../../adapters/storage/run-directory.ts';
import { lineText } from '../../adapters/workspace/patch.ts';
import type { ChangedFile, CodeChange } from '../../domain/changes/change.ts';
import type { ChangeLedger } from '../../domain/changes/ledger.ts';
import { isWithin, resolvedPath } from '../../domain/changes/path.ts';
import { type Origin, originOf } from '../../domain/changes/provenance.ts';
import { describeCall } from '../../domain/conversation/tool.ts';
import { fileLine } from '../../domain/report/result-lines.ts';
import type { RunEvent, RunStarted } from '../../domain/run/events.ts';
import { done, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { type Redact, redactedStrings } from '../../domain/secrets/redact.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { listed, pluralize } from '../../domain/text/words.ts';
import { type AttributedPatchFile, attributePatch, keepHistory } from '../../engine/finish/attribution.ts';
import { makeTemporaryFolder } from '../../files/replace-file.ts';
import { openKeptObjects } from '../../git/store/bare-repository.ts';
import { LAST, printEither, runOf, type Work, working } from '../work.ts';

/** A single operand that neither is a run nor has the form of an id is a path in the last one. */
async function meantBy(work: Work): Promise<{ run: string | undefined; path: string | null }> {
  const [first, second] = work.operands;
  const isRun =
    first === undefined ||
    second !== undefined ||
    RUN_ID.test(first) ||
    isAbsolute(first) ||
    first === LAST ||
    (await findRun(first, work)).status === 'ok';
  return isRun ? { run: first, path: second ?? null } : { run: undefined, path: first };
}

/**
 * Changes nothing and does not look at the checkout. The path is a file or folder of the patch, as seen from the current folder if
 * that is in its work tree; without one, all of it.
 */
export const startBlame = working(blameRun);

async function blameRun(work: Work): Promise<RunOutcome> {
  const { run, path } = await meantBy(work);
  const inLast = await runOf({ ...work, operands: run === undefined ? [] : [run] });
  // Where there is no last run either, the operand is the name of a run that is not there.
  const found = inLast.status === 'failed' && run === undefined && path !== null ? await runOf(work) : inLast;
  if (found.status === 'failed') return found.outcome;
  const { directory } = found;
  const journal = await readJournal(directory.events);
  if (journal.status === 'failed') return usageError('ERR_JOURNAL_UNREADABLE', journal.message);
  const patched = readPatch(directory);
  if (patched.status === 'failed') return usageError('ERR_PATCH_UNREADABLE', patched.message);

  const [started] = journal.events;
  const { changes: ledger } = await stateAfter(journal.events);
  const files = await attributed({ ...work, path }, directory, started, { ...patched, ledger });
  if (files.length === 0 && path !== null) {
    const names = patched.files.map(({ path }) => path);
    return usageError(
      'ERR_NOT_IN_PATCH',
      `The run's patch does not change ${JSON.stringify(path)}. It changes ${listed(names, 5, 'file') || 'nothing'}.`,
    );
  }
  const calls = callsIn(journal.events, work.redact);
  const recorded = { history: ledger.history, calls, redact: work.redact };
  const document = { version: 1, runId: started.runId, files: files.map(fileJson) };
  const unread = await printEither(work, document, () => blameText(files, recorded));
  if (unread !== null) return unread;
  return done(`${pluralize(files.length, 'file')} of the patch attributed.`);
}

/**
 * Contents come only from what the run itself has stored: no other object store named in its directory is opened. The history
 * is written anew, from the journal.
 */
async function attributed(
  { env, cwd, path }: Pick<Work, 'env' | 'cwd'> & { readonly path: string | null },
  { shadowGit: shadowDir }: RunDirectory,
  { root, base: { objectFormat } }: RunStarted,
  { patch, files, ledger }: { patch: Uint8Array; files: readonly ChangedFile[]; ledger: ChangeLedger },
): Promise<AttributedPatchFile[]> {
  // Relative to where one stands in the work tree of the run; elsewhere, to its root.
  const from = isWithin(cwd, root) ? cwd : root;
  const wanted = path === null ? root : resolvedPath(from, path);
  const isAt = (file: string | undefined) => file !== undefined && isWithin(resolvedPath(root, file), wanted);
  const folder = makeTemporaryFolder(env);
  try {
    const place = `${folder.path}/objects.git`;
    const gitDir = openKeptObjects({ shadowDir, objectFormat, objects: null, gitDir: place });
    const takesIn = ledger.takesIn.bind(ledger);
    const history = await keepHistory({ changes: ledger.history, takesIn, gitDir });
    return await attributePatch(
      { patch, files, history, inHurry: false },
      (file) => isAt(file.path) || isAt(file.from),
    );
  } finally {
    folder.remove();
  }
}

/** Descriptions such as `run_command npm test`, by the call's id. */
function callsIn(events: readonly RunEvent[], redact: Redact): Map<string, string> {
  return new Map(
    events.flatMap((event) =>
      event.type === 'tool.started'
        ? [[event.call.id, describeCall(event.call.name, redactedStrings(event.call.input, redact))]]
        : [],
    ),
  );
}

function fileJson({ file, sources, hunks, cut }: AttributedPatchFile) {
  const shown = hunks?.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line) => ({ ...line, text: lineText(line.text) })),
  }));
  return { ...file, sources, hunks: shown ?? null, cut };
}

/** The parts of a recorded run that blame needs. */
interface RecordedWork {
  /** All recorded changes in order. */
  readonly history: readonly CodeChange[];
  /** What each call did, in words, by its id. */
  readonly calls: ReadonlyMap<string, string>;
  readonly redact: Redact;
}

/** Empty when no file is given. */
function blameText(files: readonly AttributedPatchFile[], { history, calls, redact }: RecordedWork): string {
  const numbers = numbered(files, history);
  const numbersOf = (origins: readonly Origin[]) =>
    origins.map((origin) => numbers.get(JSON.stringify(origin))?.number ?? 0).join(',');
  const legend = [...numbers.values()].flatMap(({ number, origin }) => legendOf(number, origin, calls));
  const width = Math.max(
    0,
    ...files
      .flatMap(({ hunks }) => hunks ?? [])
      .flatMap(({ lines }) => lines.map(({ sources }) => numbersOf(sources).length)),
  );
  const parts = files.map((file) => {
    const { hunks, sources, cut } = file;
    const lines = [`${oneLine(redact(fileLine(file.file)), 1_000)}  [${numbersOf(sources)}]`];
    if (cut !== null) lines.push(`  ${cut}`);
    for (const hunk of hunks ?? []) {
      const { oldStart, oldLines, newStart, newLines } = hunk;
      lines.push(`  @@ -${oldStart},${oldLines} +${newStart},${newLines} @@  [${numbersOf(hunk.sources)}]`);
      for (const { sign, text, sources } of hunk.lines) {
        lines.push(`  ${numbersOf(sources).padStart(width)} ${sign}${shown(text, redact)}`);
      }
    }
    return lines.join('\n');
  });
  return files.length === 0 ? '' : `${[legend.join('\n'), ...parts].join('\n\n')}\n`;
}

/** A line as printed; a CRLF line ending is made visible, since it may be all that changed. */
function shown(text: string, redact: Redact): string {
  const [, line = '', cr] = /^(.*?)(\r?)$/s.exec(text) ?? [];
  return `${oneLine(redact(lineText(line)), 2_000)}${cr ? '^M' : ''}`;
}

/** Every change that contributed, in the order of the run. */
function numbered(
  files: readonly AttributedPatchFile[],
  history: readonly CodeChange[],
): Map<string, { number: number; origin: Origin }> {
  const origins = new Map(
    files.flatMap(({ sources }) => sources.map((origin) => [JSON.stringify(origin), origin])),
  );
  const recorded = history.map(({ source, iteration }) => JSON.stringify(originOf(source, iteration)));
  // Changes that were not recorded themselves, but found by a later one, come last.
  const inOrder = [...new Set([...recorded, ...origins.keys()])].flatMap((key) => {
    const origin = origins.get(key);
    return origin ? [[key, origin] as const] : [];
  });
  return new Map(inOrder.map(([key, origin], at) => [key, { number: at + 1, origin }]));
}

function legendOf(number: number, origin: Origin, calls: ReadonlyMap<string, string>): string[] {
  const at = `[${number}]`.padEnd(5);
  switch (origin.by) {
    case 'tool': {
      const named = origin.calls.map((call) => calls.get(call) ?? oneLine(origin.tool));
      if (named.length === 1) return [`${at}turn ${origin.iteration}  ${named[0]}`];
      // Which of them it was cannot be known: they had the work tree at the same time.
      const together = `${at}turn ${origin.iteration}  ran together:`;
      return [together, ...named.map((call) => `${' '.repeat(at.length)}  ${call}`)];
    }
    case 'outside':
      return [`${at}turn ${origin.iteration}  something outside the run`];
    case 'setup':
      return [`${at}commands that the runner ran before the work`];
    case 'verify':
      return [`${at}turn ${origin.iteration}  verify commands`];
  }
}

/** Attributes the patch of a run to the changes that made it, within bounds that keep the end of a run short. */

import { patchedFiles } from '../../adapters/workspace/patch.ts';
import type { ChangedFile, ChangeSource, CodeChange } from '../../domain/changes/change.ts';
import { historyOf, type PathPast, type RunHistory } from '../../domain/changes/history.ts';
import {
  type AttributedFile,
  attribute,
  type ChangedLine,
  type FileProvenance,
  type PatchedFile,
  type Provenance,
} from '../../domain/changes/provenance.ts';
import type { RunState } from '../../domain/run/state.ts';
import { inertJson } from '../../domain/text/terminal.ts';
import { listed } from '../../domain/text/words.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { sizesOf } from '../../git/store/blobs.ts';
import { type BlamedLines, lastKeepersOf, writeHistory, writersOf } from '../../git/store/run-history.ts';
import type { ProvenPatch } from '../../ports/workspace.ts';

/** Maximum number of commits that are searched, of files that git is asked about, and of bytes of all their states. */
const MAX_COMMITS = 5_000;
const MAX_FOLLOWED_FILES = 500;
const MAX_FOLLOWED_BYTES = 128 * 1024 * 1024;

/** Maximum number of files in `result.json`; `patchsmith blame` shows the rest. */
const MAX_FILES = 1_000;
const MAX_HUNKS = 5_000;

/** The recorded changes of a run. */
interface ChangesOfRun {
  /** In order, including those before the first turn. */
  readonly changes: readonly CodeChange[];
  readonly takesIn: (source: ChangeSource) => boolean;
  /** A repository that has, or reads, the contents of all states. */
  readonly gitDir: string;
}

/** A history in a repository. */
interface KeptHistory extends RunHistory {
  readonly gitDir: string;
  /** Ids of the commits; null if git did not accept the history. */
  readonly ids: readonly string[] | null;
}

/** Writes the recorded changes into the repository as commits, in place of earlier ones. */
export async function keepHistory({ changes, takesIn, gitDir }: ChangesOfRun): Promise<KeptHistory> {
  const blobs = changes.flatMap(({ before, after }) =>
    [before, after].flatMap((state) => (state === null || state.mode === '160000' ? [] : [state.blob])),
  );
  const sizes = await sizesOf(gitDir, [...new Set(blobs)]);
  const history = historyOf({ changes, takesIn, sizes, maxStateBytes: 1024 * 1024 });
  const commits = history.commits.map(({ origin, edits }) => ({
    message: inertJson(JSON.stringify(origin ?? { by: 'base' })),
    edits,
  }));
  return { ...history, gitDir, ids: await writeHistory(gitDir, commits) };
}

/** The patch of a run and how it came about. */
interface PatchedRun {
  /** Bytes of the patch. */
  readonly patch: Uint8Array;
  readonly files: readonly ChangedFile[];
  readonly history: KeptHistory;
  /** True when there is no time to follow lines: every hunk then names all changes of its file. */
  readonly inHurry: boolean;
}

/** `hunks` is null for a binary file; `cut` says what else is missing or inexact. */
export interface AttributedPatchFile extends AttributedFile {
  readonly cut: string | null;
}

/** The files of the patch that are wanted with their changes, and every changed line with those that made it. */
export async function attributePatch(
  { patch, files, history, inHurry }: PatchedRun,
  isWanted: (file: ChangedFile) => boolean = () => true,
): Promise<AttributedPatchFile[]> {
  const patched = patchedFiles(patch, files);
  const follow = new Follower(history, inHurry);
  const attributed: AttributedPatchFile[] = [];
  for (const one of patched ?? files.map((file) => ({ file, hunks: null }))) {
    if (!isWanted(one.file)) continue;
    const { all, of, cut } = await follow.file(one);
    const originOf = (commit: number) => history.commits[commit]?.origin ?? null;
    attributed.push({
      ...attribute(one, { all, of, originOf }),
      cut: patched === null ? PATCH_TOO_LARGE : cut,
    });
  }
  return attributed;
}

/** The part of the result that says which changes made the patch; writes the history of the run. Null without a patch. */
export async function attributedPart(
  { changes, interruption }: Pick<RunState, 'changes' | 'interruption'>,
  patch: ProvenPatch | null,
  gitDir: string,
): Promise<{ part: { provenance: Provenance }; warnings: Warning[] } | null> {
  const takesIn = changes.takesIn.bind(changes);
  const history = await keepHistory({ changes: changes.history, takesIn, gitDir });
  if (patch === null) return null;
  const inHurry = interruption !== null;
  const files = await attributePatch({ patch: patch.bytes, files: patch.files, history, inHurry });
  return { part: { provenance: provenanceOf(files) }, warnings: foreignPartsOf(files) };
}

/** What is known about a file; `cut` is why its lines are not followed. */
interface Followed {
  readonly all: ReadonlySet<number>;
  readonly of: ((line: ChangedLine) => number | null) | null;
  readonly cut: string | null;
}

/** Asks git which commit made a line, unless only one can have made it. */
class Follower {
  readonly #history: KeptHistory;
  readonly #inHurry: boolean;
  readonly #places: ReadonlyMap<string, number>;
  #files = 0;
  #bytes = 0;

  constructor(history: KeptHistory, inHurry: boolean) {
    this.#history = history;
    this.#inHurry = inHurry;
    this.#places = new Map(history.ids?.map((id, place) => [id, place]));
  }

  async file({ file, hunks }: PatchedFile): Promise<Followed> {
    const pasts = [file.path, ...(file.from === undefined ? [] : [file.from])].flatMap(
      (path) => this.#history.pasts.get(path) ?? [],
    );
    const all = new Set(pasts.flatMap(({ commits }) => [...commits]));
    if (hunks === null || hunks.length === 0) return { all, of: null, cut: null };
    const [only] = all;
    if (all.size === 1 && only !== undefined && !pasts.some(({ mayBeMoved }) => mayBeMoved))
      return { all, of: () => only, cut: null };
    const cut = this.#whyNot(pasts);
    const of = cut === null ? await this.#makers(file, hunks, all) : null;
    return { all, of, cut: cut ?? (of === null ? NOT_FOLLOWED : null) };
  }

  #whyNot(pasts: readonly PathPast[]): string | null {
    if (this.#inHurry) return IN_HURRY;
    if (this.#history.ids === null || pasts.some(({ isBlurred }) => isBlurred)) return NOT_FOLLOWED;
    this.#files += 1;
    this.#bytes += pasts.reduce((sum, { bytes }) => sum + bytes, 0);
    const isTooMuch =
      this.#history.commits.length > MAX_COMMITS ||
      this.#files > MAX_FOLLOWED_FILES ||
      this.#bytes > MAX_FOLLOWED_BYTES;
    return isTooMuch ? TOO_MUCH : null;
  }

  /** Null if git cannot say. */
  async #makers(
    { path, from, kind }: ChangedFile,
    hunks: NonNullable<PatchedFile['hunks']>,
    all: ReadonlySet<number>,
  ): Promise<Followed['of']> {
    const { gitDir, ids } = this.#history;
    const last = Math.max(...all);
    const [start, end] = [ids?.[0], ids?.[last]];
    if (start === undefined || end === undefined) return null;
    const has = (sign: '+' | '-') => hunks.some(({ lines }) => lines.some((line) => line.startsWith(sign)));
    const [writers, keepers] = await Promise.all([
      has('+') ? writersOf(gitDir, end, path) : [],
      has('-') ? lastKeepersOf(gitDir, { start, end }, from ?? path) : [],
    ]);
    if (writers === null || keepers === null) return null;
    const wrote = this.#byLine(writers);
    const kept = this.#byLine(keepers);
    return ({ sign, at }) => {
      if (sign === '+') return wrote[at] || null;
      const keeper = kept[at];
      if (keeper !== undefined && keeper < last) return keeper + 1;
      // The line is still there under another name.
      return kind === 'delete' ? last : null;
    };
  }

  /** The places of the commits, at the numbers of the lines. */
  #byLine(ranges: readonly BlamedLines[]): number[] {
    const places: number[] = [];
    for (const { commit, from, count } of ranges) {
      const place = this.#places.get(commit);
      if (place !== undefined) for (let at = from; at < from + count; at += 1) places[at] = place;
    }
    return places;
  }
}

/** The same without lines, within the limits of `result.json`. */
export function provenanceOf(files: readonly AttributedPatchFile[]): Provenance {
  let left = MAX_HUNKS;
  const shown = files.slice(0, MAX_FILES).map(({ file, sources, hunks, cut }): FileProvenance => {
    const fits = hunks === null || hunks.length <= left;
    if (fits) left -= hunks?.length ?? 0;
    return {
      path: file.path,
      ...(file.from === undefined ? {} : { from: file.from }),
      sources: [...sources],
      hunks: fits
        ? (hunks?.map(({ lines: _, ...hunk }) => ({ ...hunk, sources: [...hunk.sources] })) ?? null)
        : null,
      cut: fits ? cut : HUNKS_LEFT_OUT,
    };
  });
  return { files: shown, filesLeftOut: files.length - shown.length };
}

/** Warnings about parts of the patch that no tool call made. */
function foreignPartsOf(files: readonly AttributedPatchFile[]): Warning[] {
  const foreign = files.flatMap(({ file, hunks, sources }) => {
    const makers = hunks && hunks.length > 0 ? hunks.flatMap((hunk) => hunk.sources) : sources;
    const by = new Set(makers.flatMap((origin) => (origin.by === 'tool' ? [] : [origin.by])));
    return by.size > 0 ? [`${file.path} (${[...by].join(', ')})`] : [];
  });
  if (foreign.length === 0) return [];
  return [
    warning(
      'WARN_NOT_BY_TOOL_CALLS',
      `In the patch, although not all of it was made by tool calls: ${listed(foreign, 5)}. patchsmith blame shows which lines.`,
    ),
  ];
}

const PATCH_TOO_LARGE =
  'The patch is larger than 8 MiB or has more than 250,000 lines, so changes are not attributed to single hunks.';
const IN_HURRY =
  'The run was stopped, so every hunk lists all changes to its file. patchsmith blame attributes each hunk.';
const TOO_MUCH =
  'More than 5,000 steps, 500 files or 128 MiB would have to be compared, so every hunk lists all changes to its file. patchsmith blame RUN FILE may attribute each hunk.';
const NOT_FOLLOWED =
  'A state of the file is larger than 1 MiB or unavailable, so every hunk lists all changes to its file.';
const HUNKS_LEFT_OUT = 'Left out here: there are more than 5,000 hunks. patchsmith blame shows them.';

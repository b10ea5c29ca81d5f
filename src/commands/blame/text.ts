/** The attributed patch for people: numbered changes, then every hunk with those numbers before its lines. */

import { lineText } from '../../adapters/workspace/patch/patch-files.ts';
import type { CodeChange } from '../../domain/changes/change.ts';
import { type Origin, originOf } from '../../domain/changes/provenance.ts';
import { fileLine } from '../../domain/report/result-lines.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { AttributedPatchFile } from '../../engine/finish/attribution.ts';

/** The parts of a recorded run that blame needs. */
export interface RecordedWork {
  /** All recorded changes in order. */
  readonly history: readonly CodeChange[];
  /** What each call did, in words, by its id. */
  readonly calls: ReadonlyMap<string, string>;
  readonly redact: Redact;
}

/** Empty when no file is given. */
export function blameText(
  files: readonly AttributedPatchFile[],
  { history, calls, redact }: RecordedWork,
): string {
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

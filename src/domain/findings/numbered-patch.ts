/** A patch as a reviewer is shown it: with the numbers of the new lines, and bounded. */

import { firstUnits } from '../text/shorten.ts';
import { formatNumber } from '../text/words.ts';

/** The text shown, and how many characters of the patch are not shown. */
export interface NumberedPatch {
  readonly text: string;
  readonly leftOut: number;
}

/**
 * Each line of a hunk with its number in the new file, and binary contents left out. Beyond `maxChars` the longest files are cut:
 * each gets an equal share, and what short ones leave goes to the others.
 */
export function numberedPatch(patch: string, maxChars: number): NumberedPatch {
  const files = patch.split(/^(?=diff --git )/m).filter((file) => file !== '');
  const sections = files.map(numbered);
  const rooms = sharesOf(
    sections.map(({ length }) => length),
    maxChars,
  );
  const shown = sections.map((section, at) => cutAtLine(section, rooms[at] ?? 0));
  const leftOut = shown.reduce((sum, part) => sum + part.leftOut, 0);
  return { text: shown.map(({ text }) => text).join(''), leftOut };
}

/** One file of the patch. */
function numbered(file: string): string {
  const lines = file.replace(/\n$/, '').split('\n');
  const shown: string[] = [];
  // Null before the first hunk.
  let next: number | null = null;
  for (const line of lines) {
    const head = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(line);
    if (next === null && line === 'GIT binary patch') {
      shown.push('(binary)');
      break;
    }
    if (head !== null) {
      next = Number(head[1]);
      shown.push(line);
    } else if (next === null) shown.push(line);
    else {
      const isNew = line.startsWith('+') || line.startsWith(' ');
      shown.push(`${(isNew ? String(next) : '').padStart(6)} ${line}`);
      if (isNew) next += 1;
    }
  }
  return `${shown.join('\n')}\n`;
}

/** How much each of them gets of what there is. */
function sharesOf(lengths: readonly number[], total: number): number[] {
  const shares = lengths.map(() => 0);
  let left = total;
  const ascending = lengths.map((length, at) => ({ length, at })).sort((a, b) => a.length - b.length);
  for (const [taken, { length, at }] of ascending.entries()) {
    const share = Math.min(length, Math.floor(left / (ascending.length - taken)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

function cutAtLine(section: string, room: number): NumberedPatch {
  if (section.length <= room) return { text: section, leftOut: 0 };
  const cut = firstUnits(section, room);
  const kept = cut.slice(0, cut.lastIndexOf('\n') + 1);
  const leftOut = section.length - kept.length;
  return { text: `${kept}[… ${formatNumber(leftOut)} characters of this file left out …]\n`, leftOut };
}

/**
 * What a model says, as Markdown of our own: paragraphs, lists, code and bold words are kept, everything else is plain text.
 */

import { formatNumber } from '../../text/words.ts';
import { atLineStart, code, fenced, visibleLines, withSigns } from './markdown.ts';

/** At most `maxLength` characters; characters cut off are counted. Empty for blank text. */
export function prose(text: string, maxLength: number): string {
  const lines = visibleLines(text.trim());
  const all = blocksOf(lines);
  if (all.length <= maxLength) return all;
  const plain = lines.join('\n');
  for (let room = Math.max(0, maxLength - 100); ; room = Math.floor(room / 2)) {
    const shown = plain.slice(0, room).replace(/(?<!\S)\S{1,80}$/, '');
    const notice = `… ${formatNumber(plain.length - shown.length)} characters left out`;
    const cut = `${blocksOf(shown.split('\n'))}\n\n${notice}`.trimStart();
    if (cut.length <= maxLength || room === 0) return cut;
  }
}

function blocksOf(lines: readonly string[]): string {
  const blocks: string[] = [];
  let block: { mark: string; lines: string[] } | null = null;
  for (const line of lines) {
    const [, mark, rest = ''] = /^\s*(`{3,}(?!`)|~{3,}(?!~))(.*)$/s.exec(line) ?? [];
    if (block !== null) {
      if (mark?.startsWith(block.mark) && rest.trim() === '') {
        blocks.push(codeBlock(block.lines));
        block = null;
      } else block.lines.push(line);
    } else if (mark !== undefined && !rest.includes('`')) block = { mark, lines: [] };
    else blocks.push(lineOf(line));
  }
  if (block !== null) blocks.push(codeBlock(block.lines));
  return blocks
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Blank lines end whatever came before. */
function codeBlock(lines: readonly string[]): string {
  return `\n${fenced(lines.join('\n'), Number.POSITIVE_INFINITY)}\n`;
}

function lineOf(line: string): string {
  const mark = /^\s*#{1,6}\s+/.exec(line)?.[0];
  if (mark !== undefined) {
    const heading = line.slice(mark.length).replace(/(?<![\s#])[\s#]+$/, '');
    return `\n${canBeBold(heading) ? `**${withSigns(heading)}**` : wordsOf(heading)}\n`;
  }
  const [, indent = '', bullet, item] = /^(\s*)([-*+]|\d{1,3}[.)])\s+(\S.*)$/.exec(line) ?? [];
  if (bullet === undefined || item === undefined) return wordsOf(line);
  return `${indent.length > 1 ? '   ' : ''}${/\d/.test(bullet) ? bullet : '-'} ${wordsOf(item)}`;
}

/** Code spans and bold words, neither within the other. */
function wordsOf(line: string): string {
  const text = line.trim();
  const parts: string[] = [];
  let at = 0;
  for (const match of text.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|\*\*([^*`]+)\*\*/g)) {
    const [all, , span, bold] = match;
    if (span === undefined && !canBeBold(bold ?? '')) continue;
    parts.push(withSigns(text.slice(at, match.index)));
    parts.push(
      span === undefined ? `**${withSigns(bold ?? '')}**` : code(span.trim(), Number.POSITIVE_INFINITY),
    );
    at = match.index + all.length;
  }
  parts.push(withSigns(text.slice(at)));
  return atLineStart(parts.join(''));
}

/** Whether it begins and ends in such a way that the marks around it are recognised. */
function canBeBold(text: string): boolean {
  return /^[\p{L}\p{N}](?:[^*`]*[\p{L}\p{N}.!?:])?$/u.test(text);
}

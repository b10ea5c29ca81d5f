/** Finds the regular expressions of a source text, and the ones that take more than linear time. */

import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { analyse } from 'scslre';
import ts from 'typescript';
import { IS_FULL } from '../setup/sample.ts';

export interface Expression {
  readonly source: string;
  readonly flags: string;
  readonly line: number;
}

/** The literals of a TypeScript source. */
export function expressionsOf(text: string): Expression[] {
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      found.push({ source: node.text.slice(1, end), flags: node.text.slice(end + 1), line });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Why the expression takes more than linear time for some text; null if no reason is found. */
export function whySuperLinear({ source, flags }: Expression): string | null {
  const [report] = analyse(
    { source, flags },
    { reportTypes: { Move: true, Self: true, Trade: true } },
  ).reports;
  if (report !== undefined) return `repeating ${JSON.stringify(report.character.pick)}`;
  const pump = pumpsOf(source, flags).find((one) => isSlow(new RegExp(source, flags), one));
  return pump === undefined ? null : `repeating ${JSON.stringify(pump)}`;
}

/** Milliseconds for one search that are worth a second look: a linear expression needs much less. */
const SLOW_MS = 1;
/** The shortest text that is worth it is compared with a longer one. */
const LENGTHS = [100, 200, 400, 800, 1_600];

const TIMES = 8;
/** Half-way, on a logarithmic scale, between the 8 of a linear expression and the 64 of a quadratic one. */
const SUPER_LINEAR = TIMES ** 1.5;

/** Whether eight times the text takes much more than eight times as long. */
function isSlow(expression: RegExp, pump: string): boolean {
  return [pump, `x${pump}`, `${pump}\n`].some((one) => {
    for (const repeated of LENGTHS) {
      const once = fastest(expression, one.repeat(repeated), SLOW_MS);
      if (once < SLOW_MS) continue;
      const allowed = SUPER_LINEAR * once;
      return fastest(expression, one.repeat(TIMES * repeated), allowed) > allowed;
    }
    return false;
  });
}

/**
 * Milliseconds of processor time for all searches in the text, by the fastest of several: what other processes do to caches and
 * clocks only adds to it. Stops at a try that is fast enough.
 */
function fastest(expression: RegExp, text: string, enough: number): number {
  // The clock never shows less, and to ask for processor time takes longer than most searches.
  const startedAt = performance.now();
  text.replace(expression, '');
  let best = performance.now() - startedAt;
  for (let tries = 0; tries < 5 && best > enough; tries += 1) {
    const before = process.cpuUsage();
    text.replace(expression, '');
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

/** The night tries more beginnings of long expressions. */
const MOST_PUMPS = IS_FULL ? 300 : 20;

/**
 * Texts that begin like a match, to be repeated: samples of the beginnings of each alternative. None where no part repeats
 * without a bound, since each place of a text then costs at most the same.
 */
function pumpsOf(source: string, flags: string): string[] {
  const pumps = new Set<string>();
  const alternatives: AST.Alternative[] = [];
  let isBounded = true;
  const parsed = new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes('u') });
  visitRegExpAST(parsed, {
    onAlternativeEnter: (one) => alternatives.push(one),
    onQuantifierEnter({ max }) {
      isBounded &&= max !== Number.POSITIVE_INFINITY;
    },
  });
  if (isBounded) return [];
  const own: string[] = [];
  visitRegExpAST(parsed, { onCharacterEnter: ({ value }) => own.push(String.fromCodePoint(value)) });
  // In place of any character once a usual one, and once one that means something to the expression.
  for (const style of [[], own].map((first) => ({ first, flags: flags.replace(/[gy]/g, '') })))
    for (const { elements } of alternatives) {
      for (let from = 0; from < Math.min(elements.length, 30); from += 1) {
        let sample = '';
        for (const element of elements.slice(from, from + 40)) {
          sample += sampleOf(element, style);
          if (sample !== '' && sample.length < 60) pumps.add(sample);
        }
      }
    }
  return [...pumps].slice(0, MOST_PUMPS);
}

/** Characters to prefer, and the flags of the expression. */
interface Style {
  readonly first: readonly string[];
  readonly flags: string;
}

/** One text that the element matches, with its repetitions as often as they must be, and once at least. */
function sampleOf(element: AST.Element, { first, flags }: Style): string {
  switch (element.type) {
    case 'Character':
      return String.fromCodePoint(element.value);
    case 'CharacterClass':
      return charOf(new RegExp(element.raw, flags), first);
    case 'CharacterSet':
      return charOf(new RegExp(element.raw, flags), first);
    case 'Group':
    case 'CapturingGroup':
      return (element.alternatives[0]?.elements ?? []).map((one) => sampleOf(one, { first, flags })).join('');
    case 'Quantifier':
      return sampleOf(element.element, { first, flags }).repeat(Math.min(Math.max(element.min, 1), 40));
    default:
      return '';
  }
}

function charOf(allowed: RegExp, first: readonly string[]): string {
  return [...first, 'a', '0', ' ', 'A', '-', '"', '/', '.', '\n'].find((char) => allowed.test(char)) ?? '';
}

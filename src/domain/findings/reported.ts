/** Findings as the answer of a run, which `publish --publish-as` brings to GitHub. */

import * as z from 'zod';
import { parseRepoPath } from '../changes/path.ts';
import { pluralize } from '../text/words.ts';

const LEVELS = ['error', 'warning', 'note'] as const;

/** One thing that a run reports. */
export const ReportedFinding = z.strictObject({
  path: z.string().min(1).max(1_000).describe('File, relative to the repository root'),
  line: z
    .int()
    .positive()
    .max(9_999_999)
    .nullable()
    .describe('Line in the file as it is now; null for the whole file'),
  endLine: z
    .int()
    .positive()
    .max(9_999_999)
    .nullable()
    .optional()
    .describe('The last line, if it is about several'),
  severity: z.enum(LEVELS).describe('error: must not be merged as it is; note: worth knowing'),
  text: z.string().min(1).max(4_000).describe('What is wrong, why, and what would be right; Markdown'),
  suggestion: z
    .string()
    .max(4_000)
    .nullable()
    .describe('What should stand in place of these lines, indented as they are; null for no suggestion'),
});
export type ReportedFinding = z.infer<typeof ReportedFinding>;

/** The answer of such a run, and the schema of `--output-schema findings`. */
export const FindingsReport = z.strictObject({ findings: z.array(ReportedFinding).max(200) });
export type FindingsReport = z.infer<typeof FindingsReport>;

/** The schema as a document. */
export function findingsSchema() {
  const schema = z.toJSONSchema(FindingsReport, { target: 'draft-2020-12' });
  return z.record(z.string(), z.json()).parse({ title: 'patchsmith findings, version 1', ...schema });
}

/** The worst first, otherwise as they are. */
export function bySeverity(findings: readonly ReportedFinding[]): ReportedFinding[] {
  return findings.toSorted((a, b) => LEVELS.indexOf(a.severity) - LEVELS.indexOf(b.severity));
}

/** `no findings`, `3 findings (1 error, 2 notes)`. */
export function countReported(findings: readonly ReportedFinding[]): string {
  if (findings.length === 0) return 'no findings';
  const counts = LEVELS.flatMap((level) => {
    const these = findings.filter(({ severity }) => severity === level).length;
    return these === 0 ? [] : [pluralize(these, level)];
  });
  return `${pluralize(findings.length, 'finding')} (${counts.join(', ')})`;
}

/** The lines of a finding; null if it is about the whole file, or its path cannot be in a repository. */
export function reportedLines({
  path,
  line,
  endLine,
}: ReportedFinding): { start: number; end: number } | null {
  if (line === null || !isPathOfRepository(path)) return null;
  return { start: line, end: Math.max(line, endLine ?? line) };
}

/** Whether it can be the name of a file, exactly as it is written. */
export function isPathOfRepository(path: string): boolean {
  const verdict = parseRepoPath(path);
  return verdict.ok && verdict.path === path && path !== '' && !/[\p{Cc}\p{Cs}]/u.test(path);
}

/** The lines of a file that a diff shows of its new version, as GitHub writes it: comments can only be on these. */
export function shownLines(patch: string): { start: number; end: number }[] {
  return [...patch.matchAll(/^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm)].flatMap(([, from, count = '1']) =>
    Number(count) === 0 ? [] : [{ start: Number(from), end: Number(from) + Number(count) - 1 }],
  );
}

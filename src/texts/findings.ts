/** What a review and a check run say about the findings of a run. All of it is text from outside. */

import {
  countReported,
  isPathOfRepository,
  type ReportedFinding,
  reportedLines,
} from '../domain/findings/reported.ts';
import {
  fenced,
  pathCode,
  quoted,
  suggestionBlock,
  visibleLines,
} from '../domain/github/publishing/markdown.ts';
import { plainLine } from '../domain/github/publishing/plain-text.ts';
import { prose } from '../domain/github/publishing/prose.ts';
import type { RunResult } from '../domain/run/result.ts';
import { costText, paragraphs } from './run-parts.ts';

/** A comment at lines of the diff. `marker` stands at its end, to find it again. What `isProtected` cannot be changed with a click. */
export function findingComment(finding: ReportedFinding, marker: string, isProtected: boolean): string {
  const { severity, suggestion } = finding;
  const isShown = isProtected || (suggestion !== null && COMMAND.test(suggestion));
  const block =
    suggestion === null || isShown
      ? insteadOf(suggestion)
      : (suggestionBlock(suggestion) ?? UNSEEN_SUGGESTION);
  return paragraphs([`**${NAMES[severity]}**`, textOf(finding), block, marker]);
}

/** What bots that read the source of comments take for a command to them, such as `/approve`. */
const COMMAND = /^[ \t]*\/[a-z]/im;

/** Quoted where such a line stands in code. */
function unheard(markdown: string): string {
  return COMMAND.test(markdown) ? quoted(markdown) : markdown;
}

function insteadOf(suggestion: string | null): string {
  return suggestion === null ? '' : `Instead:\n\n${unheard(fenced(suggestion, 4_500))}`;
}

/** The facts of a report besides its findings. */
export interface ReportFacts {
  readonly result: Pick<RunResult, 'costUsd' | 'estimated' | 'runId'>;
  readonly all: readonly ReportedFinding[];
  /** Those that are shown nowhere else. */
  readonly rest: readonly ReportedFinding[];
  readonly title: string;
  readonly runUrl: string | null;
}

/** Markdown of at most 60,000 characters, for the body of a review and the summary of a check run. */
export function reportBody({ result, all, rest, title, runUrl }: ReportFacts): string {
  const link = runUrl === null ? '' : ` · [log and artifacts](${runUrl})`;
  const head = `**${title}**: ${countReported(all)} · ${costText(result)}${link}\n\nA model wrote this; nobody has checked it.`;
  const parts = [head];
  let room = 58_000 - head.length;
  for (const finding of rest) {
    const section = sectionOf(finding);
    room -= section.length + 2;
    if (room < 0) break;
    parts.push(section);
  }
  const missing = rest.length - (parts.length - 1);
  if (missing > 0) parts.push(`… ${missing} more in the artifacts of the run`);
  return parts.join('\n\n');
}

function sectionOf(finding: ReportedFinding): string {
  const { path, severity, suggestion } = finding;
  const lines = reportedLines(finding);
  const at = lines === null ? '' : `:${lines.start}${lines.end > lines.start ? `–${lines.end}` : ''}`;
  const head = `**${NAMES[severity]}** ${pathCode(`${path}${at}`)}`;
  return paragraphs([head, textOf(finding), insteadOf(suggestion)]);
}

function textOf({ text }: ReportedFinding): string {
  return unheard(prose(text, 5_000));
}

const NAMES = { error: 'Error', warning: 'Warning', note: 'Note' } as const;

const UNSEEN_SUGGESTION = 'Its suggestion is left out: it has characters that cannot be seen.';

/** An annotation of a check run; null if it is at no line, or if GitHub, which shows all texts as they are, would show another name. */
export function checkAnnotation(finding: ReportedFinding) {
  const lines = reportedLines(finding);
  if (lines === null || visibleLines(finding.path).join() !== finding.path) return null;
  const { path, severity, suggestion } = finding;
  return {
    path,
    start_line: lines.start,
    end_line: lines.end,
    annotation_level: ANNOTATION_LEVELS[severity],
    message: plainLines(finding),
    ...(suggestion === null ? {} : { raw_details: visibleLines(suggestion).join('\n') || '(remove)' }),
  };
}

const ANNOTATION_LEVELS = { error: 'failure', warning: 'warning', note: 'notice' } as const;

/** Text without Markdown, in which nothing is live. */
function plainLines({ text }: ReportedFinding): string {
  const lines = text.split(/\r\n|\n|\r/).map((line) => plainLine(line, 2_000));
  return lines.join('\n').trim() || '(no text)';
}

/** SARIF 2.1.0; findings whose path is none of a repository are left out. */
export function sarifOf({
  findings,
  version,
  title,
}: {
  findings: readonly ReportedFinding[];
  version: string;
  title: string;
}) {
  const results = findings
    .filter(({ path }) => isPathOfRepository(path))
    .map((finding) => {
      const lines = reportedLines(finding);
      return {
        ruleId: 'finding',
        level: finding.severity,
        // Brackets would be links.
        message: { text: plainLines(finding).replace(/[\\[\]]/g, '\\$&') },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: finding.path.split('/').map(encodeURIComponent).join('/') },
              ...(lines === null ? {} : { region: { startLine: lines.start, endLine: lines.end } }),
            },
          },
        ],
      };
    });
  const rules = [{ id: 'finding', shortDescription: { text: 'What a model found in a run of patchsmith' } }];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'patchsmith', semanticVersion: version, rules } },
        // Alerts of another title are not those that this report replaces.
        automationDetails: { id: `${title}/` },
        results,
      },
    ],
  };
}

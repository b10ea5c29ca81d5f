/** `docs/errors.md`: every code of an error and a warning, with its meaning and what to do. */

import { FAILURE_MEANINGS } from '../../src/domain/conversation/failure-meanings.ts';
import { ERROR_AREAS, type ErrorEntry, errorsIn } from '../../src/domain/errors/registry.ts';
import { exitCodesOfError } from '../../src/domain/run/exit-code.ts';
import { WARNING_AREAS } from '../../src/domain/warnings/registry.ts';

/** The page as Markdown. */
export function errorsPage(): string {
  const errors = Object.entries(ERROR_AREAS).map(([area, entries]) =>
    list(area, errorsIn(entries).map(errorLine)),
  );
  const warnings = Object.entries(WARNING_AREAS).map(([area, entries]) =>
    list(area, Object.entries(entries).map(plainLine)),
  );
  const failures = list('Failed calls', Object.entries(FAILURE_MEANINGS).map(plainLine), FAILURES);
  return `${[INTRODUCTION, ...errors, ...warnings, failures].join('\n\n')}\n`;
}

function list(title: string, lines: readonly string[], introduction = ''): string {
  return `## ${title}\n\n${introduction}${lines.join('\n')}`;
}

function errorLine({ code, outcome, text }: ErrorEntry): string {
  return `- \`${code}\` (${exitCodesOfError(outcome).join(', ')}): ${text}`;
}

function plainLine([code, text]: [string, string]): string {
  return `- \`${code}\`: ${text}`;
}

const INTRODUCTION = `# Errors and warnings

Every failure has a code: in brackets in the last line on stderr, in the title of the annotation and of the step summary, as
\`errorCode\` in \`result.json\`, \`publish.json\` and the document of \`check\`, and as the output \`error-code\` of the action. It
stands for one cause with one fix, for which the message has the details, and keeps its meaning in later versions, while messages may
change: scripts should compare codes. \`patchsmith help CODE\` prints the text of this page, which \`npm run docs\` generates. Exit
codes are in brackets.

    patchsmith: usage_error (exit 2) [ERR_NO_TASK]: there is no plan: give one with --plan FILE, …

If several things are wrong with the command line and the settings, all are reported, and the code of the whole is
\`ERR_SEVERAL_PROBLEMS\`. If the outcome of a run prevents its publication, that has the code of the run. A failed line of \`check\` or
\`doctor\` has the code that a run would end with.

Warnings end nothing. They begin with their code (\`warning: [WARN_SUBMODULES_LEFT_OUT] …\`), are printed as soon as they are known,
and are kept in \`warnings\` of \`result.json\`, in the report, the pull request and the step summary; those of a publication in
\`publish.json\`.`;

const FAILURES = `These are reasons of single calls: \`[2] write_file ../.bashrc → failed: path_refused\`. The model reads a separate text that says
what to do next, and continues; usually there is nothing to do. \`denied\` in \`result.json\` lists requests that were denied.

`;

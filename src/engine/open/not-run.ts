/** Decides whether verify commands that ran before the work were able to check anything. */

import { succeeded } from '../../domain/conversation/tool.ts';
import { missingProgram } from '../../domain/review/denial-signs.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import { wasNotRun } from '../../domain/run/verify-baseline.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { Session } from '../session.ts';
import {
  cacheHint,
  folderOfCommand,
  installHint,
  missingPackage,
  missingProgramHint,
} from './install-hint.ts';
import { quotedCommand } from './preflight.ts';

/** Why commands that ran before the work say nothing about it; null when they do. */
export async function whyNotRun(
  { root, input }: Pick<Session, 'root' | 'input'>,
  reports: readonly CommandReport[],
): Promise<string | null> {
  for (const { command, end, output } of reports) {
    const folder = await folderOfCommand(command);
    if (wasNotRun(end)) {
      const missing = missingProgram(output);
      const last = missing?.line ?? output.trimEnd().split('\n').at(-1) ?? '';
      const hint = missingProgramHint(root, missing?.program ?? '', `${command} ${last}`, folder);
      return `The verify command ${quotedCommand(command)} ended with exit code ${end.exitCode} before the work, so a program that it needs is missing or cannot be executed: ${oneLine(last.replace(/\.$/, ''), 300)}${hint && `.${hint}`}`;
    }
    if (succeeded(end)) continue;
    // Nothing that a run may do could make such a command pass.
    const fails = `The verify command ${quotedCommand(command)} fails before the work, since`;
    const lacking = missingPackage(output);
    const hint = lacking && installHint(root, command, folder);
    if (hint) return `${fails} something is not installed: ${lacking}.${hint}`;
    const uncached = cacheHint(input.settings.caches, output);
    if (uncached !== '') return `${fails} packages are missing.${uncached}`;
  }
  return null;
}

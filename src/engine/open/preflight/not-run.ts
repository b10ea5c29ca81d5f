/** Decides whether verify commands that ran before the work were able to check anything. */

import { succeeded } from '../../../domain/conversation/tool.ts';
import { missingProgram } from '../../../domain/review/denial-signs.ts';
import type { CommandReport } from '../../../domain/run/events.ts';
import { wasNotRun } from '../../../domain/run/verify-baseline.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import type { Session } from '../../session.ts';
import { refusalsSaid } from '../egress-record.ts';
import {
  cacheHint,
  folderOfCommand,
  installHint,
  loadingIn,
  missingPackage,
  missingProgramHint,
} from '../install-hint.ts';
import { quotedCommand } from './quoted-command.ts';

/** Why commands that ran before the work say nothing about it; null when they do. */
export async function whyNotRun(
  session: Pick<Session, 'root' | 'input'>,
  reports: readonly CommandReport[],
): Promise<string | null> {
  const { root } = session;
  const report = reports.find(({ end }) => wasNotRun(end));
  if (report === undefined) return whyNotInstalled(session, reports);
  const folder = await folderOfCommand(report.command);
  const missing = missingProgram(report.output);
  const last = missing?.line ?? report.output.trimEnd().split('\n').at(-1) ?? '';
  const what = `The verify command ${quotedCommand(report.command)} ended with exit code ${report.end.exitCode} before the work`;
  const hint = missingProgramHint(root, missing?.program ?? '', `${report.command} ${last}`, folder);
  return `${what}, so a program that it needs is missing or cannot be executed: ${oneLine(last.replace(/\.$/, ''), 300)}${hint && `.${hint}`}`;
}

/** Nothing that a run may do could make such a command pass. */
async function whyNotInstalled(
  { root, input }: Pick<Session, 'root' | 'input'>,
  reports: readonly CommandReport[],
): Promise<string | null> {
  const { caches } = input.settings;
  for (const { command, end, output } of reports) {
    if (succeeded(end)) continue;
    const lacking = missingPackage(output);
    const hint = lacking && installHint(root, command, await folderOfCommand(command));
    const fails = `The verify command ${quotedCommand(command)} fails before the work, since`;
    if (hint) return `${fails} something is not installed: ${lacking}.${hint}`;
    const refused = await packagesRefused(root, command, output);
    if (refused !== null) return `${fails} it loads packages. ${refused}`;
    const uncached = await cacheHint({ root, caches }, command, output);
    if (uncached !== '') return `${fails} packages are missing.${uncached}`;
  }
  return null;
}

/** If the command's package manager was refused a host: which one, and what to do. */
async function packagesRefused(root: string | null, command: string, output: string): Promise<string | null> {
  const loading = await loadingIn(root, command);
  const refused = refusalsSaid(output).find((line) =>
    loading?.hosts.some((host) => line.includes(` ${host} `)),
  );
  if (loading === null || refused === undefined) return null;
  const domains = loading.hosts.map((host) => `--allow-domain ${host}`).join(' ');
  const all = loading.hosts.length > 1 ? ` All hosts that it asks: ${domains}.` : '';
  const show =
    loading.cache === null ? '' : ` Or show what this machine has loaded: --cache ${loading.cache}.`;
  return `${refused}.${all}${show}`;
}

/**
 * `patchsmith doctor`: how commands would be contained here, what they would see, and which tools work in there.
 */

import { type Diagnosis, diagnose } from '../../adapters/sandboxes/diagnose.ts';
import { findCheckout, whyReadOnly } from '../../adapters/workspace/find-checkout.ts';
import { absolutePath } from '../../domain/changes/path.ts';
import { done, type RunOutcome, usageError, verifyFailed } from '../../domain/run/outcome.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { pluralize } from '../../domain/text/words.ts';
import { notOpened, sandboxSettings, wantedCaches } from '../../engine/open/sandbox-settings.ts';
import { type Work, working } from '../work.ts';

/** The outcome is that of a run that stops there: the sandbox is unavailable, or a tool does not work in it. */
export const startDoctor = working(examineMachine);

async function examineMachine({ cwd, env, redact, print, settings }: Work): Promise<RunOutcome> {
  const found = await findCheckout(absolutePath(cwd, settings.repo ?? '.'), env);
  const checkout = found.status === 'ok' ? found.checkout : null;
  const readOnly = checkout === null ? null : whyReadOnly(checkout.root);
  // Whether a run would continue without one does not matter here.
  const mode = settings.sandbox === 'off' ? 'off' : 'required';
  const caches = await wantedCaches({ settings, env }, checkout);
  const diagnosis = await diagnose({
    ...sandboxSettings({ settings, cwd, env }),
    ...caches,
    mode,
    checkout,
  });
  const isReadOnly = readOnly === null ? '' : ', where nothing can be written';
  const where = checkout
    ? `${checkout.root}${isReadOnly}`
    : `none (${found.status === 'failed' ? found.message : ''})`;
  const isJson = settings.output === 'json';
  const document = { ...diagnosis, readOnly };
  const shown = (line: string) => oneLine(redact(line), 1_000);
  const closed = readOnly === null ? null : (checkout?.root ?? null);
  const lines = page(diagnosis, { where, closed }).map(shown);
  const text = lines.map((line) => `${line}\n`).join('');
  const unread = await print(redact(isJson ? `${JSON.stringify(document, null, 2)}\n` : text));
  const verdict = readOnly === null ? verdictOn(diagnosis) : usageError('ERR_UNWRITABLE', readOnly);
  // A person who stops reading has seen enough; a program would have half a document.
  return isJson && verdict.exitCode === 0 ? (unread ?? verdict) : verdict;
}

function verdictOn(diagnosis: Diagnosis): RunOutcome {
  if (diagnosis.status !== 'ok') return notOpened(diagnosis);
  const { level, tools } = diagnosis;
  const failing = tools.filter(({ status }) => status === 'fails').map(({ name }) => name);
  if (failing.length > 0) {
    const reason = `These work on this machine but not in the sandbox: ${failing.join(', ')}. Use --mount to show commands more of the machine.`;
    return verifyFailed('ERR_TOOL_FAILS_INSIDE', reason);
  }
  const working = tools.filter(({ status }) => status === 'works').length;
  const broken = tools.filter(({ status }) => status === 'broken').map(({ name }) => name);
  const repair = broken.length === 0 ? '' : ` Broken on this machine itself: ${broken.join(', ')}.`;
  return done(`Commands run with level ${level}; ${pluralize(working, 'tool')} tried in it.${repair}`);
}

/** `closed` is the work tree where nothing can be written to it, whatever the sandbox permits; else null. */
function page(diagnosis: Diagnosis, { where, closed }: { where: string; closed: string | null }): string[] {
  const levels = 'refused' in diagnosis ? (diagnosis.refused ?? []) : [];
  const refused = levels.map((one) => `  no ${one.levels.join(', ')}: ${one.reason}`);
  if (diagnosis.status !== 'ok')
    return [`sandbox: ${diagnosis.status}`, ...(refused.length > 0 ? refused : [`  ${diagnosis.reason}`])];
  const { level, shown, limits, warnings, tools } = diagnosis;
  const { processes, memoryBytes, fileBytes, openFiles, diskBytes } = limits;
  const size = (bytes: number) => `${Math.round((bytes / 1024 ** 3) * 10) / 10} GiB`;
  const keptBy = { kernel: 'enforced by the kernel', watch: 'watched' };
  return [
    `sandbox: ${level}`,
    ...refused,
    ...warnings.map((warning) => `  warning: ${warning}`),
    `checkout: ${where}`,
    'what commands see of this machine:',
    ...(level === 'none' ? ['  everything that you see'] : []),
    ...shown.map(
      ({ path, writable }) => `  ${writable && path !== closed ? 'writable ' : 'read-only'}  ${path}`,
    ),
    'limits:',
    `  processes of a command   ${processes.limit} (${keptBy[processes.keptBy]})`,
    `  memory of all commands   ${size(memoryBytes.limit)} (${keptBy[memoryBytes.keptBy]})`,
    `  one file                 ${size(fileBytes.limit)} (${keptBy[fileBytes.keptBy]})`,
    `  open files of a process  ${openFiles.limit} (${keptBy[openFiles.keptBy]})`,
    `  disk space of the run    ${size(diskBytes.limit)} (${keptBy[diskBytes.keptBy]})`,
    'tools on PATH, tried inside:',
    ...tools.map(
      ({ name, path, status, said }) =>
        `  ${status.padEnd(6)}  ${name}  ${said}  (${path}${status === 'broken' ? ', outside the sandbox as well' : ''})`,
    ),
  ];
}

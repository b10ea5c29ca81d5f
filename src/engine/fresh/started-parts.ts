/** What `run.started` records of the task, the settings and the commands before the work. */

import type { PathChange } from '../../domain/changes/change.ts';
import { JOURNAL_VERSION } from '../../domain/journal/base.ts';
import type { ServerTool } from '../../domain/mcp/server-tool.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import type { RanBefore } from '../open/setup-commands.ts';
import type { Session } from '../session.ts';
import { searchesWeb } from '../web.ts';
import { priceIn } from './first-request.ts';
import type { Task } from './task.ts';

/** What the plan and the principles say about the run. */
export function taskPart({ plan, paths, principles }: Task) {
  const { title, sha256, source, allow, protect, followUp } = plan;
  return {
    followUp: followUp?.facts ?? null,
    plan: { title, sha256, source, allow: [...allow], protect: [...protect] },
    paths,
    principles: principles.map(({ text: _, ...file }) => file),
  };
}

/** What the settings and the commands before the work say about it. */
export function settledPart(
  session: Session,
  { verify, toolNames, answer }: Task,
  { setup, changes, verifyBaseline }: Pick<RanBefore, 'setup' | 'verifyBaseline'> & { changes: PathChange[] },
  serverTools: readonly ServerTool[],
) {
  const { runId, limits } = session;
  const { settings } = session.input;
  return {
    type: 'run.started',
    journalVersion: JOURNAL_VERSION,
    runId,
    setup,
    setupChanges: changes,
    acceptSecrets: settings.acceptSecrets,
    verify: [...verify],
    verifyIn: settings.verifyIn,
    verifyBaseline,
    includeForeign: settings.includeForeign,
    limits,
    toolSettings: {
      maxOutputChars: settings.maxToolOutput,
      commandTimeoutMs: settings.commandTimeoutMs,
      maxCommandTimeoutMs: settings.maxCommandTimeoutMs,
      verifyTimeoutMs: settings.verifyTimeoutMs,
      tools: toolNames === null ? null : [...toolNames],
      answerSchema: answer?.schema ?? null,
      webFetch: settings.webFetch,
      webSearch: searchesWeb(session.input),
      serverTools: [...serverTools],
      ownTools: [...(session.input.ownTools ?? [])],
    },
    ifNoChanges: settings.ifNoChanges,
    ifDenied: settings.ifDenied,
    price: priceIn(session),
  } satisfies Partial<RunStarted>;
}

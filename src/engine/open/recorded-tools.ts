/** The tools that a recorded run had, for its resumption and its replay. */

import { documentReader } from '../../adapters/documents/reader.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/words.ts';
import type { Tool } from '../../ports.ts';
import { createTools } from '../../tools/registry.ts';
import { failedCall } from '../../tools/result.ts';
import { type AskServer, serverTool } from '../../tools/server-tool.ts';
import type { RunInput } from '../run-input.ts';
import type { Session } from '../session.ts';
import { pagesOf } from '../web.ts';

type RecordingSession = Pick<Session, 'asked'> & { input: Pick<RunInput, 'env' | 'version'> };

/** The same tools as at the start; fails if the recorded schema of the answer is invalid. */
export async function recordedTools(
  { input, asked }: RecordingSession,
  { toolSettings, workingDirectory: folder }: RunStarted,
): Promise<{ status: 'ok'; tools: readonly Tool[] } | Failed> {
  const { answerSchema } = toolSettings;
  const { ownTools } = toolSettings;
  if (ownTools.length > 0)
    return failed(`The run had tools that only the program that started it has: ${listed(ownTools, 5)}.`);
  const choice = {
    ...toolSettings,
    pages: pagesOf(input, asked, toolSettings.webFetch),
    folder,
    documents: documentReader(),
  };
  // Whoever makes their calls gives them what they take.
  const ofServers = toolSettings.serverTools.map((tool) => serverTool(tool, notHere));
  if (answerSchema === null) return { status: 'ok', tools: [...createTools(choice), ...ofServers] };
  const { openAnswerSchema } = await import('../../adapters/plan/answer-schema.ts');
  const opened = await openAnswerSchema(answerSchema);
  if (opened.status === 'failed')
    return failed(`The schema of the answer that the run has recorded ${opened.message}`);
  const own = createTools({ ...choice, answer: opened.answer });
  return { status: 'ok', tools: [...own, ...ofServers] };
}

const notHere: AskServer = async ({ server }) =>
  failedCall('server', `The MCP server ${server} is not there.`);

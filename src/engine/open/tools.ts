/** The tools of a run, as its settings or its record have them. What reads pages of the web is loaded with the first call. */

import { documentReader } from '../../adapters/documents/reader.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/words.ts';
import type { PageReader } from '../../ports/network.ts';
import type { Tool } from '../../ports.ts';
import { createTools, type ToolChoice } from '../../tools/registry.ts';
import { failedCall } from '../../tools/result.ts';
import { type AskServer, serverTool } from '../../tools/server-tool.ts';
import type { RunInput } from '../run-input.ts';
import type { Session } from '../session.ts';

type ToolSession = Pick<Session, 'asked'> & { input: Pick<RunInput, 'env' | 'version'> };

/** The tools in a working directory. `webFetch` are the hosts whose pages may be read. */
export function openTools(
  session: ToolSession,
  { webFetch, ...choice }: Omit<ToolChoice, 'documents' | 'pages'> & { webFetch: readonly string[] },
): readonly Tool[] {
  const pages: PageReader = {
    read: async (url, signal) => (await openPages(session, webFetch)).read(url, signal),
  };
  return createTools({
    ...choice,
    documents: documentReader(),
    pages: webFetch.length === 0 ? null : pages,
  });
}

async function openPages(
  { input: { env, version }, asked }: ToolSession,
  hosts: readonly string[],
): Promise<PageReader> {
  const { openPageReader } = await import('../../adapters/network/web/page-reader.ts');
  const { htmlReader } = await import('../../adapters/documents/reader.ts');
  const { upstreamByEnvironment } = await import('../../adapters/network/machine-proxy.ts');
  const upstream = upstreamByEnvironment(env);
  return openPageReader({
    ...{ hosts, upstream, agent: `patchsmith/${version}`, markdownOf: htmlReader() },
    onUsed: (use) => asked.used(use, 'web_fetch'),
  });
}

/** The tools that a recorded run had at its start, for its resumption and its replay. */
export async function recordedTools(
  session: ToolSession,
  { toolSettings, workingDirectory: folder }: RunStarted,
): Promise<{ status: 'ok'; tools: readonly Tool[] } | Failed> {
  const { answerSchema, ownTools, serverTools } = toolSettings;
  if (ownTools.length > 0)
    return failed(`The run had tools that only the program that started it has: ${listed(ownTools, 5)}.`);
  const opened = answerSchema === null ? null : await openAnswer(answerSchema);
  if (opened?.status === 'failed')
    return failed(`The schema of the answer that the run has recorded ${opened.message}`);
  const own = openTools(session, { ...toolSettings, folder, answer: opened?.answer ?? null });
  // Whoever makes their calls gives them what they take.
  return { status: 'ok', tools: [...own, ...serverTools.map((tool) => serverTool(tool, notHere))] };
}

/** The library that checks answers is loaded only where one is asked for. */
async function openAnswer(schema: NonNullable<RunStarted['toolSettings']['answerSchema']>) {
  const { openAnswerSchema } = await import('../../adapters/plan/answer-schema.ts');
  return openAnswerSchema(schema);
}

const notHere: AskServer = async ({ server }) =>
  failedCall('server', `The MCP server ${server} is not there.`);

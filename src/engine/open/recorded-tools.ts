/** The tools that a recorded run had, for its resumption and its replay. */

import { type Failed, failed } from '../../domain/failed.ts';
import type { RunStarted } from '../../domain/run/events.ts';
import type { Tool } from '../../ports.ts';
import { type ToolMaker, toolsOf } from '../../tools/registry.ts';

/** The same tools as at the start; fails when the recorded schema of the answer is none. */
export async function recordedTools(
  input: { makeTools?: ToolMaker },
  { toolSettings }: RunStarted,
): Promise<{ status: 'ok'; tools: readonly Tool[] } | Failed> {
  const { answerSchema } = toolSettings;
  if (answerSchema === null) return { status: 'ok', tools: toolsOf(input, toolSettings) };
  const { openAnswerSchema } = await import('../../adapters/plan/answer-schema.ts');
  const opened = await openAnswerSchema(answerSchema);
  if (opened.status === 'failed')
    return failed(`The schema of the answer that the run has recorded ${opened.message}`);
  return { status: 'ok', tools: toolsOf(input, { ...toolSettings, answer: opened.answer }) };
}

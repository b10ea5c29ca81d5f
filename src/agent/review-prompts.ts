/** The runner's messages to a reviewer, and about its findings. Loaded only for a run that is reviewed. */

import again from '../../prompts/review/again.md';
import findingsTemplate from '../../prompts/review/findings.md';
import request from '../../prompts/review/request.md';
import system from '../../prompts/review/system.md';
import { asData, type Conversation } from '../domain/conversation/conversation.ts';
import { describeEnd } from '../domain/conversation/tool.ts';
import type { NumberedPatch } from '../domain/findings/numbered-patch.ts';
import { type Finding, placeOf } from '../domain/findings/review.ts';
import type { CommandReport } from '../domain/run/events.ts';
import { render } from '../domain/text/template.ts';
import { formatNumber } from '../domain/text/words.ts';

/** The system prompt of a review. */
export function reviewSystemPrompt(): string {
  return render(system, {});
}

/** Shows a reviewer the task and the patch. Neither can close the tag that encloses it. */
export function reviewPrompt(
  {
    conversation,
    reports,
  }: {
    readonly conversation: Pick<Conversation, 'task'>;
    readonly reports: readonly CommandReport[];
  },
  patch: NumberedPatch,
): string {
  const task = conversation.task.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
  const bullets = reports.map(({ command, end }) => `- ${JSON.stringify(command)}: ${describeEnd(end)}`);
  const missing = `; ${formatNumber(patch.leftOut)} characters of long files are left out`;
  return render(request, {
    task: REVIEW_TAGS.reduce((text, tag) => asData(tag, text), task.trim()),
    verify: bullets.join('\n') || '- none',
    patch: REVIEW_TAGS.reduce((text, tag) => asData(tag, text), patch.text.trimEnd()),
    left_out: patch.leftOut === 0 ? '' : missing,
  });
}

const REVIEW_TAGS = ['task', 'patch'];

/** Tells a reviewer what is wrong with its answer. */
export function reviewAgainPrompt(problem: string): string {
  return render(again, { problem }).trim();
}

/** Tells the model that did the work about a reviewer's objections. The findings cannot close the tag that encloses them. */
export function reviewFindingsPrompt(findings: readonly Finding[]): string {
  const lines = findings.map((finding) => `${placeOf(finding)}: ${finding.problem}`);
  return render(findingsTemplate, { findings: asData('findings', lines.join('\n\n')) }).trim();
}

/**
 * Has the finished work reviewed: a separate conversation, which knows the task and the patch, ends with findings. The patch may
 * contain any text, so the reviewer's only tool is the one that takes the findings.
 */

import type * as z from 'zod';
import again from '../../prompts/review/again.md';
import findingsTemplate from '../../prompts/review/findings.md';
import request from '../../prompts/review/request.md';
import system from '../../prompts/review/system.md';
import toolDescription from '../../prompts/review/tool.md';
import { windowOf } from '../domain/conversation/compaction.ts';
import {
  asData,
  type Conversation,
  jsonSchemaOf,
  type LlmTurn,
  openConversation,
  type ToolDefinition,
  type UserBlock,
} from '../domain/conversation/conversation.ts';
import { describeEnd } from '../domain/conversation/tool.ts';
import { type NumberedPatch, numberedPatch } from '../domain/findings/numbered-patch.ts';
import {
  blockingAmong,
  type Finding,
  FindingsAnswer,
  placeOf,
  type ReviewFailed,
} from '../domain/findings/review.ts';
import { answerTokens } from '../domain/run/budget.ts';
import type { CommandReport, RunAction } from '../domain/run/events.ts';
import { withSpent } from '../domain/run/fold/bill.ts';
import { askedNow, type RunState } from '../domain/run/state.ts';
import { formatNumber } from '../domain/text/words.ts';
import type { Workspace } from '../ports/workspace.ts';
import type { LlmProvider } from '../ports.ts';
import { render } from '../prompts.ts';
import { askModel } from './ask-model.ts';
import type { AgentParts } from './parts.ts';

/** What a review is made with. */
interface ReviewParts extends Pick<AgentParts, 'redact' | 'interrupt'> {
  readonly provider: Pick<LlmProvider, 'complete'>;
  readonly workspace: Pick<Workspace, 'makePatch'>;
  /** The state after the last yielded event. */
  now(): RunState;
}

/** Characters of a patch that a reviewer is shown; fewer for a model whose window has fewer tokens. */
const MAX_PATCH_CHARS = 200_000;

/** How often a reviewer is asked before its answer is given up on. */
const MAX_ASKED = 3;

/**
 * Takes the next step of the review: has the work reviewed, or tells the model that did it about blocking findings. The work tree
 * is not changed.
 */
export async function* reviewWork(state: RunState, parts: ReviewParts): AsyncGenerator<RunAction> {
  if (state.phase.at === 'review') yield* askReviewer(state, parts);
  else
    yield { type: 'message.added', text: reviewFindingsPrompt(blockingAmong(state.review?.findings ?? [])) };
}

async function* askReviewer(state: RunState, parts: ReviewParts): AsyncGenerator<RunAction> {
  const { provider, workspace, redact, interrupt: signal, now } = parts;
  const made = await workspace.makePatch(state.changes.net());
  if (made.status === 'failed') {
    yield failure('no_patch', made.message);
    return;
  }
  const { model } = askedNow(state);
  const text = redact(new TextDecoder().decode(made.patch.bytes));
  const patch = numberedPatch(text, Math.min(MAX_PATCH_CHARS, windowOf(model) ?? MAX_PATCH_CHARS));
  let conversation = openConversation(render(system, {}), [TOOL], reviewPrompt(state, patch));
  for (let asked = 1; ; asked += 1) {
    const current = conversation;
    const tokensAfter: Parameters<LlmProvider['complete']>[0]['answerTokens'] = (spent) =>
      answerTokens(spent.reduce(withSpent, spendingOn(current, now())), state.limits);
    if (tokensAfter([]) === null) {
      yield failure('budget', NO_ROOM);
      return;
    }
    const result = yield* askModel({
      provider,
      spending: spendingOn(current, now()),
      conversation: current,
      purpose: 'review',
      answerTokens: tokensAfter,
      signal,
    });
    if (result === null) return;
    if (result.status === 'failed') {
      const { kind, message, spent } = result;
      yield { ...failure(kind, message), ...(spent === undefined ? {} : { spent }) };
      return;
    }
    const { turn } = result;
    const read = findingsIn(turn);
    if (read.status === 'ok') {
      yield { type: 'review.completed', findings: read.findings, leftOut: patch.leftOut, turn };
      return;
    }
    const isAgain = read.again && asked < MAX_ASKED;
    yield { ...failure('no_findings', `The reviewer's answer ${read.problem}.`), again: isAgain, turn };
    if (!isAgain) return;
    conversation = withProblem(current, turn, render(again, { problem: read.problem }).trim());
  }
}

const NO_ROOM = 'The remaining caps of this run leave no room for a review.';

function failure(kind: ReviewFailed['kind'], message: string): ReviewFailed {
  return { type: 'review.failed', kind, message, again: false };
}

/** Reckoned by the reviewer's model, in a conversation that was never counted. */
function spendingOn(conversation: Conversation, state: RunState): RunState {
  return {
    ...state,
    ...askedNow(state),
    conversation,
    counted: null,
    lastTurn: null,
  };
}

const TOOL: ToolDefinition = {
  name: 'submit_review',
  description: toolDescription.trim(),
  inputSchema: jsonSchemaOf(FindingsAnswer),
};

type FindingsRead =
  | ({ status: 'ok' } & z.infer<typeof FindingsAnswer>)
  | { status: 'none'; problem: string; again: boolean };

/** `again`: the same reviewer may well answer otherwise. `problem` follows "the answer". */
function findingsIn({ stop, stopDetail, calls }: LlmTurn): FindingsRead {
  const none = (problem: string, again: boolean): FindingsRead => ({ status: 'none', problem, again });
  switch (stop) {
    case 'refusal':
      return none(`is a refusal${stopDetail === '' ? '' : ` (${stopDetail})`}`, false);
    case 'max_tokens':
    case 'context_window':
      return none('was cut off', false);
    case 'tool_use':
    case 'pause_turn':
    case 'compaction':
    case 'end_turn':
      break;
  }
  const call = calls.find(({ name }) => name === TOOL.name);
  if (call === undefined || stop !== 'tool_use') return none(`has no call of ${TOOL.name}`, true);
  if (call.malformed !== undefined) return none(`holds no findings: ${call.malformed}`, true);
  const parsed = FindingsAnswer.safeParse(call.input);
  if (parsed.success) return { status: 'ok', ...parsed.data };
  const [issue] = parsed.error.issues;
  return none(`does not fit its schema: ${issue?.path.join('.')}: ${issue?.message}`, true);
}

function withProblem(conversation: Conversation, { content, calls }: LlmTurn, text: string): Conversation {
  const answers: UserBlock[] =
    calls.length === 0
      ? [{ type: 'text', text }]
      : calls.map(({ id }) => ({ type: 'tool_result', callId: id, text, isError: true }));
  const more = [
    { role: 'assistant' as const, content },
    { role: 'user' as const, content: answers },
  ];
  return { ...conversation, messages: [...conversation.messages, ...more] };
}

/** Shows a reviewer the task and the patch. Neither can close the tag that encloses it. */
function reviewPrompt(
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

/** Tells the model that did the work about a reviewer's objections. The findings cannot close the tag that encloses them. */
function reviewFindingsPrompt(findings: readonly Finding[]): string {
  const lines = findings.map((finding) => `${placeOf(finding)}: ${finding.problem}`);
  return render(findingsTemplate, { findings: asData('findings', lines.join('\n\n')) }).trim();
}

/** The unfinished work of a killed run: calls and commands in progress, and their changes so far. */

import type { PathChange } from '../domain/changes/change.ts';
import type { ToolCall } from '../domain/conversation/conversation.ts';
import type { ToolsPhase } from '../domain/conversation/tools-phase.ts';
import type { RunAction } from '../domain/run/events.ts';
import type { RunState } from '../domain/run/state.ts';
import type { Tool } from '../ports.ts';
import { interruptedPrompt } from '../prompts.ts';
import type { AgentParts } from './parts.ts';
import type { CommandChanges } from './policy.ts';

/** What to record for calls during which the runner died. */
interface Settlement {
  /**
   * The changes found, grouped by their cause. They have to be checked against the policy and recorded before the run continues.
   */
  readonly made: CommandChanges[];
  /** To be recorded after `made`. */
  readonly answers: RunAction[];
  /** Changes that nothing of the run explains. */
  readonly foreign: PathChange[];
}

/** Changes to paths that are not permitted are put back, so they are not reported. */
type SettlementRules = Pick<AgentParts, 'tools' | 'permits'>;

/**
 * Attributes the changes `found` since the last event to the calls in progress. A call that changed something is answered as
 * interrupted. One that changed nothing runs as if it had not begun, except a command or a call to the outside, since these may
 * have had other effects.
 */
export function settleInterrupted(
  state: RunState,
  found: readonly PathChange[],
  { tools, permits }: SettlementRules,
): Settlement {
  const { workingDirectory } = state;
  switch (state.phase.at) {
    case 'verify':
      return {
        made: [{ changes: found, source: { by: 'verify' }, iteration: state.iterations }],
        answers: [],
        foreign: [],
      };
    case 'tools':
      return settleCalls(state.phase, {
        found,
        tools,
        permits,
        workingDirectory,
        iteration: state.iterations,
      });
    case 'model':
    case 'continue':
    case 'unanswered':
    case 'fix':
    case 'review':
    case 'objections':
    case 'ended':
      return { made: [], answers: [], foreign: [...found] };
  }
}

interface LeftTraces extends SettlementRules, Pick<RunState, 'workingDirectory'> {
  readonly found: readonly PathChange[];
  readonly iteration: number;
}

function settleCalls(
  phase: ToolsPhase,
  { found, tools, permits, iteration, workingDirectory }: LeftTraces,
): Settlement {
  const open = openCalls(phase, tools);
  const claimed = new Set<PathChange>();
  const made: CommandChanges[] = [];
  const answers: RunAction[] = [];
  for (const group of groupsOf(open)) {
    const { lane, isOutside = false } = group[0].tool;
    const isCommand = lane === 'command';
    // All changes are already recorded: the next scan came after the calls had ended.
    const isSettled = phase.captured || group.some(({ changed }) => changed.length > 0);
    const own = isSettled ? [] : found.filter(({ path }) => isCommand || path === group[0].target);
    if (own.length > 0) {
      const source = {
        by: 'tool' as const,
        tool: group[0].tool.name,
        calls: group.map(({ call }) => call.id),
      };
      made.push({ changes: own, source, iteration });
      for (const change of own) claimed.add(change);
    }
    for (const { call, changed } of group) {
      const paths = [...changed, ...own.map(({ path }) => path)].filter(permits);
      if (paths.length > 0 || isCommand || isOutside)
        answers.push(interrupted(call, interruptedPrompt(paths, workingDirectory)));
    }
  }
  return { made, answers, foreign: found.filter((change) => !claimed.has(change)) };
}

function interrupted(call: ToolCall, text: string): RunAction {
  const outcome = { status: 'failed', reason: 'interrupted', text } as const;
  return { type: 'tool.completed', call: call.id, outcome, durationMs: 0 };
}

interface OpenCall {
  readonly call: ToolCall;
  readonly tool: Tool;
  /** The path that it writes; null when it writes none. */
  readonly target: string | null;
  /** Paths that are already recorded as changed by it. */
  readonly changed: readonly string[];
}

function openCalls({ calls, underWay }: ToolsPhase, tools: readonly Tool[]): OpenCall[] {
  return calls.flatMap((call) => {
    const changed = underWay.get(call.id);
    const tool = tools.find(({ name }) => name === call.name);
    return changed && tool ? [{ call, tool, target: targetOf(call, tool), changed }] : [];
  });
}

/** Commands ran together, so their changes cannot be separated; every other call is its own group. */
function groupsOf(open: readonly OpenCall[]): [OpenCall, ...OpenCall[]][] {
  const [first, ...more] = open.filter(({ tool }) => tool.lane === 'command');
  const alone = open.filter(({ tool }) => tool.lane !== 'command').map((call): [OpenCall] => [call]);
  return first ? [[first, ...more], ...alone] : alone;
}

/** The files these calls were asked to write, whether they did or not. */
export function writtenPaths(calls: readonly ToolCall[], tools: readonly Tool[]): string[] {
  return calls.flatMap((call) => {
    const tool = tools.find(({ name }) => name === call.name);
    return (tool && targetOf(call, tool)) ?? [];
  });
}

/** Null for a call that writes no file, or whose input its tool refuses. */
function targetOf({ input }: ToolCall, tool: Tool): string | null {
  const parsed = tool.schema.safeParse(input);
  return parsed.success ? (tool.target?.(parsed.data) ?? null) : null;
}

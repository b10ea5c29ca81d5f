/** A call before it runs: its tool is looked up, its input is parsed, and the path it would write to is checked. */

import type { ChangeSource } from '../../domain/changes/change.ts';
import { pathFrom } from '../../domain/changes/path.ts';
import type { ToolCall } from '../../domain/conversation/conversation.ts';
import type { FailureReason, Lane } from '../../domain/conversation/tool.ts';
import { belongsTo } from '../../domain/review/git-folder.ts';
import type { Workspace } from '../../ports/workspace.ts';
import type { Tool, ToolResult } from '../../ports.ts';
import { repositoriesPrompt } from '../../prompts.ts';

/** A call whose tool is known and whose input has been parsed, or the reason why it cannot run. */
export type PreparedCall = RunnableCall | RefusedCall;

/** A call that can be run. */
export interface RunnableCall {
  readonly call: ToolCall;
  readonly lane: Lane;
  readonly isOutside: boolean;
  readonly tool: Tool;
  readonly input: unknown;
  /** The path that it writes to; null for none. */
  readonly target: string | null;
}

/** A call that is answered without being run. */
interface RefusedCall {
  readonly call: ToolCall;
  readonly lane: 'read';
  readonly isOutside: false;
  readonly refusal: ToolResult;
}

/** What a call is checked against. */
interface Preparing {
  readonly tools: ReadonlyMap<string, Tool>;
  /** False for a path that the plan or the settings do not allow to be changed. */
  readonly permits: (path: string) => boolean;
  /** The working directory. */
  readonly folder: string;
}

/** Parses the input of a call and checks its target against the policy. */
export function prepareCall(call: ToolCall, { tools, permits, folder }: Preparing): PreparedCall {
  const tool = tools.get(call.name);
  if (!tool) {
    return refused(
      call,
      'unknown_tool',
      `Unknown tool ${JSON.stringify(call.name)}. Available tools: ${[...tools.keys()].join(', ')}.`,
    );
  }
  if (call.malformed !== undefined)
    return refused(call, 'invalid_input', `Invalid input for ${tool.name}: ${call.malformed}`);
  const parsed = tool.schema.safeParse(call.input);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
    return refused(call, 'invalid_input', `Invalid input for ${tool.name}: ${issues.join('; ')}`);
  }
  const target = tool.target?.(parsed.data) ?? null;
  if (target !== null && !permits(target)) {
    return refused(
      call,
      'policy',
      `The plan and the settings do not allow changes to ${JSON.stringify(pathFrom(folder, target))}. Leave it as it is.`,
    );
  }
  const { lane, isOutside = false } = tool;
  return { call, lane, isOutside, tool, input: parsed.data, target };
}

/** Refuses writes that would turn a folder into a repository, or change one; the writes of a lane count together. */
export async function refuseRepositories(
  lane: readonly PreparedCall[],
  workspace: Workspace,
  folder: string,
): Promise<PreparedCall[]> {
  const targets = targetsOf(lane);
  const repositories = targets.length > 0 ? await workspace.repositoriesAround(targets, targets) : [];
  return lane.map((prepared) => {
    if ('refusal' in prepared || prepared.target === null) return prepared;
    const { call, target } = prepared;
    if (!repositories.some((one) => belongsTo(target, one))) return prepared;
    return refused(call, 'policy', repositoriesPrompt(repositories, folder).trim());
  });
}

/** Paths the calls will write. */
export function targetsOf(lane: readonly PreparedCall[]): string[] {
  return lane.flatMap((prepared) => ('refusal' in prepared ? [] : (prepared.target ?? [])));
}

/** Calls of one tool, as the source of a change. */
export function sourceOf(
  first: { call: ToolCall },
  ...more: readonly { call: ToolCall }[]
): ChangeSource & { by: 'tool' } {
  const calls = [first, ...more].map(({ call }) => call.id);
  return { by: 'tool', tool: first.call.name, calls };
}

function refused(call: ToolCall, reason: FailureReason, message: string): RefusedCall {
  return { call, lane: 'read', isOutside: false, refusal: failedResult(reason, message) };
}

/** The result of a call that failed before or beside its tool. */
export function failedResult(reason: FailureReason, message: string): ToolResult {
  return { status: 'failed', reason, output: { head: message, omitted: 0, tail: '' } };
}

/** The calls with their parameters under the names that our tools use. */
export function withOwnNames(calls: readonly ToolCall[], tools: ReadonlyMap<string, Tool>): ToolCall[] {
  return calls.map((call) => ownNames(call, tools.get(call.name)?.aliases ?? {}));
}

/** A parameter that is also given under its own name stays: it is not clear which of the two is meant. */
function ownNames(call: ToolCall, aliases: Readonly<Record<string, string>>): ToolCall {
  const { input } = call;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return call;
  const names = new Set(Object.keys(input));
  const fields = Object.entries(input).map(([name, value]) => {
    const own = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    if (own === undefined || names.has(own)) return [name, value];
    names.add(own);
    return [own, value];
  });
  return { ...call, input: Object.fromEntries(fields) };
}

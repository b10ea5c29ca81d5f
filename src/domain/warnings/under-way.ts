/** Warnings about what happens during a run. */

import { warns } from './entry.ts';

/** Codes with their meaning and what to do. */
export const RUNNING_WARNINGS = {
  WARN_BUDGET_NEAR: warns(
    "Most of the run's tokens or money is used up.",
    'Nothing to do yet; if the run reaches the limit, `patchsmith resume` continues with a higher one.',
  ),
  WARN_MODEL_REPLACED: warns(
    'The model refused or could not be reached, and the `--fallback-model` takes over.',
    '`models` in `result.json` says which one did what.',
  ),
  WARN_NOT_REVIEWED: warns(
    'The reviewer could not be asked, or gave no usable answer, so the work was not reviewed.',
    'Review the patch yourself; `--if-not-reviewed error` counts that as a failure.',
  ),
  WARN_NOT_COMPACTED: warns(
    'The conversation could not be summarised, and continues at its full length.',
    'Nothing to do; the run costs more, and may reach the context window.',
  ),
  WARN_CUT_WITHOUT_SUMMARY: warns(
    'The beginning of the conversation was dropped without a summary, because of its length.',
    'Check that the work is complete; split the plan, or use `--compaction`.',
  ),
  WARN_MCP_SERVER_GONE: warns(
    'An MCP server ended during the run, or could not be reached, and calls to its tools fail.',
    'Read what it reported, in the message or in its own log.',
  ),
  WARN_MCP_TOOLS_CHANGED: warns(
    'An MCP server reports that its tools have changed. A run keeps the tools that it started with.',
    'Nothing to do; the next run uses the new ones.',
  ),
  WARN_MCP_TOOLS_GONE: warns(
    'A resumed run had tools of MCP servers that are no longer offered; calls to them fail.',
    'Start the servers as before, or start a new run.',
  ),
  WARN_HOSTS_REFUSED: warns(
    'Commands tried to reach hosts that are not allowed.',
    'Allow those that they need, with the flags that the message shows.',
  ),
  WARN_HOSTS_FORBIDDEN: warns(
    'Commands tried to reach what no flag allows, such as an address of the cloud provider or a protocol other than https.',
    'Have the commands do without them; see docs/network.md.',
  ),
  WARN_TRACE_NOT_SENT: warns(
    'The trace of the run, or part of it, did not reach its collector. The run is otherwise unaffected.',
    'Fix the variable or the collector that the message names; see docs/observability.md.',
  ),
} as const;

/** Warnings about what happens during a run. */

/** What each code means, and what to do. */
export const RUNNING_WARNINGS = {
  WARN_BUDGET_NEAR:
    'Most of the tokens or the money is used up. At the limit, `patchsmith resume` continues with a higher one.',
  WARN_MODEL_REPLACED:
    'The model refused or could not be reached, so the `--fallback-model` took over. `models` in `result.json` says who did what.',
  WARN_NOT_REVIEWED:
    'The reviewer gave no usable answer. Review the patch yourself; `--if-not-reviewed error` counts this as a failure.',
  WARN_NOT_COMPACTED:
    'The conversation could not be summarised. It continues at full length, costs more, and may reach the context window.',
  WARN_CUT_WITHOUT_SUMMARY:
    'The beginning of the conversation was dropped without a summary. Check the work; split the plan, or use `--compaction`.',
  WARN_MCP_SERVER_GONE:
    'An MCP server ended or cannot be reached, so calls to its tools fail. Read the message or its own log.',
  WARN_MCP_TOOLS_CHANGED:
    'An MCP server has new tools. The run keeps those that it started with; the next run uses the new ones.',
  WARN_MCP_TOOLS_GONE:
    'MCP servers lack tools that the run had, so calls to them fail. Start them as before, or start a new run.',
  WARN_HOSTS_REFUSED:
    'Commands tried to reach hosts that are not allowed. Allow those that they need, with the flags shown.',
  WARN_HOSTS_FORBIDDEN:
    "Commands tried to reach what no flag allows, such as a cloud's metadata or another protocol than https. See docs/network.md.",
  WARN_TRACE_NOT_SENT:
    'The trace did not all reach its collector; the run is unaffected. Fix the variable or the collector; see docs/observability.md.',
} as const;

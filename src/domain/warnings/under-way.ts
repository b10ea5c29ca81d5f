/** Warnings about what happens during a run. */

/** What each code means, and what to do. */
export const RUNNING_WARNINGS = {
  WARN_BUDGET_NEAR:
    'Most of the tokens or the money is used up. At the limit, `patchsmith resume` continues with a higher one.',
  WARN_MODEL_REPLACED:
    'The model refused or could not be reached, so the `--fallback-model` took over. `models` in `result.json` says who did what.',
  WARN_NOT_REVIEWED:
    'The reviewer could not be asked, or gave no usable answer. Review the patch yourself; `--if-not-reviewed error` counts this as a failure.',
  WARN_NOT_COMPACTED:
    'The conversation could not be summarised. It continues at full length, costs more, and may reach the context window.',
  WARN_CUT_WITHOUT_SUMMARY:
    'The beginning of the conversation was dropped without a summary. Check that the work is complete; split the plan, or use `--compaction`.',
  WARN_MCP_SERVER_GONE:
    'An MCP server ended or could not be reached, and calls to its tools fail. Read what it reported, in the message or its own log.',
  WARN_MCP_TOOLS_CHANGED:
    'An MCP server has new tools. The run keeps those that it started with; the next run uses the new ones.',
  WARN_MCP_TOOLS_GONE:
    'MCP servers no longer offer tools that the run had, and calls to them fail. Start the servers as before, or start a new run.',
  WARN_HOSTS_REFUSED:
    'Commands tried to reach hosts that are not allowed. Allow those that they need, with the flags shown.',
  WARN_HOSTS_FORBIDDEN:
    "Commands tried to reach what no flag allows, such as a cloud's metadata address or a protocol other than https. See docs/network.md.",
  WARN_TRACE_NOT_SENT:
    'The trace, or part of it, did not reach its collector; the run is unaffected. Fix the variable or the collector; see docs/observability.md.',
} as const;

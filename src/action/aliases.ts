/** Names of inputs in other actions, and the inputs here with the same meaning. */

const INPUT_OF: Readonly<Record<string, string>> = {
  token: 'github-token',
  prompt: 'plan',
  'direct-prompt': 'plan',
  'prompt-file': 'plan-file',
  'anthropic-api-key': 'api-key',
  'claude-api-key': 'api-key',
  'max-turns': 'max-iterations',
  'base-branch': 'base',
  'push-to-fork': 'head-repo',
  labels: 'label',
  reviewers: 'reviewer',
  'team-reviewers': 'team-reviewer',
  assignees: 'assignee',
};

/**
 * The input for such a name, also with underscores: `anthropic_api_key`, `github_token`. Null if there is no such name, or if its
 * values mean something else here.
 */
export function inputNamed(name: string, known: ReadonlySet<string>): string | null {
  const dashed = name.replaceAll('_', '-');
  if (known.has(dashed)) return dashed;
  return Object.hasOwn(INPUT_OF, dashed) ? (INPUT_OF[dashed] ?? null) : null;
}

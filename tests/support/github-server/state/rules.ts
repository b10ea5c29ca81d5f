/** The rules of branches, and what they refuse, for pushes and for refs of the API alike: a part of the update hook. */

import type { RepositorySettings } from './world.ts';

/** For the hook: a line for each rule that is not bypassed, with its type, whether it is negated, and its pattern. */
export function rulesText({ rules }: Pick<RepositorySettings, 'rules'>): string {
  const lines = rules.flatMap(({ type, parameters, bypass }) => {
    const { operator = 'regex', pattern = '', negate } = (parameters ?? {}) as Record<string, string>;
    return bypass === 'always' ? [] : [`${type}|${negate ? 'not' : ''}|${extended(operator, pattern)}`];
  });
  return lines.join('\n');
}

function extended(operator: string, pattern: string): string {
  if (operator === 'regex') return pattern;
  const literal = pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return operator === 'starts_with' ? `^${literal}` : operator === 'ends_with' ? `${literal}$` : literal;
}

/** Arguments as git gives them to the hook; SERVER_RULES and SERVER_DEFAULT in the environment. */
export const CHECK_RULES = `
broken() {
  printf 'error: GH013: Repository rule violations found for %s.\\n\\n- %s\\n' "$ref" "$1" >&2
  exit 1
}
ref=$1 old=$2 new=$3
case "$ref" in "refs/heads/$SERVER_DEFAULT") ;; refs/heads/*)
  test -z "$SERVER_RULES" || printf '%s\\n' "$SERVER_RULES" | while IFS='|' read -r type not pattern; do
    commits=$(git rev-list "$new" --not --branches)
    case "$type" in
      creation) case "$old" in *[!0]*) ;; *) broken 'Cannot create ref due to creations being restricted.';; esac;;
      update) case "$old" in *[!0]*) broken 'Cannot update this protected ref.';; esac;;
      required_linear_history)
        test -z "$(git rev-list --min-parents=2 "$new" --not --branches)" || broken 'This branch must not contain merge commits.';;
      required_signatures)
        for commit in $commits; do
          git cat-file commit "$commit" | grep -q '^gpgsig ' || broken 'Commits must have verified signatures.'
        done;;
      commit_message_pattern)
        for commit in $commits; do
          fits=; git log -1 --format=%B "$commit" | grep -zqE -e "$pattern" || fits=not
          test "$fits" = "$not" || broken "Commit message must match a given regex pattern: $pattern"
        done;;
    esac
  done || exit 1;;
esac
`;

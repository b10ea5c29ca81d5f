/** The rules that a repository has for a branch, and what they refuse. Pure. */

import * as z from 'zod';

/** A rule in GitHub's answer. */
export const BranchRule = z.object({
  type: z.string(),
  ruleset_id: z.int().optional(),
  parameters: z.unknown().optional(),
});
/** See `BranchRule`. */
export type BranchRule = z.infer<typeof BranchRule>;

/** A commit that is to be made, as far as it is known. */
export interface CommitAhead {
  readonly branch: string;
  /** The branch does not exist yet. */
  readonly isNew: boolean;
  readonly isSigned: boolean;
  readonly isMerge: boolean;
  readonly message: string;
  /** Email addresses. */
  readonly author: string;
  readonly committer: string;
}

const Pattern = z.object({
  operator: z.enum(['starts_with', 'ends_with', 'contains', 'regex']),
  pattern: z.string(),
  negate: z.boolean().nullish(),
});

/** What the rule refuses and how to fix it, after "its rules "; null if it permits the commit, or is one that only GitHub knows. */
export function whyRefused({ type, parameters }: BranchRule, ahead: CommitAhead): string | null {
  switch (type) {
    case 'creation':
      return ahead.isNew ? 'restrict who may create it: choose another name with --branch' : null;
    case 'update':
      return ahead.isNew ? null : 'restrict who may update it: choose another name with --branch';
    case 'required_signatures':
      return ahead.isSigned
        ? null
        : 'require signed commits: use --sign required, with GITHUB_TOKEN or the token of a GitHub App';
    case 'required_linear_history':
      return ahead.isMerge ? 'permit no merges, and the base has moved: delete the branch' : null;
    case 'branch_name_pattern':
      return against(parameters, ahead.branch, 'its name', '--branch');
    case 'commit_message_pattern':
      return against(parameters, ahead.message, 'the commit message', '--commit-message');
    case 'commit_author_email_pattern':
      return against(parameters, ahead.author, `the author ${ahead.author}`, '--author');
    case 'committer_email_pattern':
      return against(parameters, ahead.committer, `the committer ${ahead.committer}`, '--committer');
    default:
      return null;
  }
}

function against(parameters: unknown, text: string, what: string, flag: string): string | null {
  const read = Pattern.safeParse(parameters);
  if (!read.success) return null;
  const { operator, pattern, negate } = read.data;
  const fits = matches(operator, pattern, text);
  if (fits === null || fits !== (negate === true)) return null;
  const how = `${negate ? 'not ' : ''}${WORDS[operator]} ${JSON.stringify(pattern)}`;
  return `want ${what} to ${how}: set it with ${flag}`;
}

const WORDS = {
  starts_with: 'start with',
  ends_with: 'end with',
  contains: 'contain',
  regex: 'match',
} as const;

/** Null for a regular expression that only GitHub's engine knows, such as `(?i)x`. */
function matches(operator: keyof typeof WORDS, pattern: string, text: string): boolean | null {
  switch (operator) {
    case 'starts_with':
      return text.startsWith(pattern);
    case 'ends_with':
      return text.trimEnd().endsWith(pattern);
    case 'contains':
      return text.includes(pattern);
    case 'regex':
      try {
        return new RegExp(pattern).test(text);
      } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
      }
  }
}

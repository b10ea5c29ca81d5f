/** The rules that a repository has for a branch, and what they refuse. Pure. */

import * as z from 'zod';
import { whyNoGlob } from '../../changes/glob.ts';
import { pathMatcher } from '../../changes/path-policy.ts';
import { listed } from '../../text/words.ts';

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
  /** What the commit changes, with the size in bytes; empty before a run. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

const Pattern = z.object({
  operator: z.enum(['starts_with', 'ends_with', 'contains', 'regex']),
  pattern: z.string(),
  negate: z.boolean().nullish(),
});

/** What the rule refuses and how to fix it, after "its rules "; null if it permits the commit. Unknown rules permit all. */
export function whyRefused({ type, parameters }: BranchRule, ahead: CommitAhead): string | null {
  const { branch, files } = ahead;
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
      return against(parameters, branch, 'its name', '--branch');
    case 'commit_message_pattern':
      return against(parameters, ahead.message, 'the commit message', '--commit-message');
    case 'commit_author_email_pattern':
      return against(parameters, ahead.author, `the author ${ahead.author}`, '--author');
    case 'committer_email_pattern':
      return against(parameters, ahead.committer, `the committer ${ahead.committer}`, '--committer');
    case 'file_path_restriction': {
      const { restricted_file_paths: globs } = FILES.parse(parameters);
      const isRestricted = pathMatcher(globs.filter((glob) => whyNoGlob(glob) === null));
      return filesThat(files, ({ path }) => isRestricted(path), 'restrict changes of');
    }
    case 'file_extension_restriction': {
      const { restricted_file_extensions: given } = FILES.parse(parameters);
      const ends = given.map((one) => one.toLowerCase().replace(/^\*?\.?/, '.'));
      const isRestricted = (path: string) => ends.some((end) => path.toLowerCase().endsWith(end));
      return filesThat(files, ({ path }) => isRestricted(path), 'restrict changes of');
    }
    case 'max_file_path_length': {
      const { max_file_path_length: most } = FILES.parse(parameters);
      return filesThat(files, ({ path }) => path.length > most, `limit names to ${most} characters:`);
    }
    case 'max_file_size': {
      const { max_file_size: most } = FILES.parse(parameters);
      return filesThat(files, ({ bytes }) => bytes > most * 1024 ** 2, `limit files to ${most} MB:`);
    }
    default:
      return null;
  }
}

/** Without a limit, all is permitted. */
const FILES = z
  .object({
    restricted_file_paths: z.array(z.string()).default([]),
    restricted_file_extensions: z.array(z.string()).default([]),
    max_file_path_length: z.number().default(Number.POSITIVE_INFINITY),
    max_file_size: z.number().default(Number.POSITIVE_INFINITY),
  })
  .catch({
    restricted_file_paths: [],
    restricted_file_extensions: [],
    max_file_path_length: Number.POSITIVE_INFINITY,
    max_file_size: Number.POSITIVE_INFINITY,
  });

function filesThat(
  files: CommitAhead['files'],
  isRefused: (file: CommitAhead['files'][number]) => boolean,
  what: string,
): string | null {
  const paths = files.filter(isRefused).map(({ path }) => path);
  return paths.length === 0 ? null : `${what} ${listed(paths, 10, 'file')}: take them out of the plan`;
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

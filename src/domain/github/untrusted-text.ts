/** Text of an issue or a comment: anyone may have written it, so it can request work but never set rules. */

import * as z from 'zod';
import type { PlanSource } from '../run/plan.ts';

/** An account that did something on GitHub. Names can be changed and taken over by others; ids cannot. */
export interface Account {
  readonly login: string;
  readonly id: number;
  readonly type: string;
}

/** As received from GitHub, not cleaned yet. */
export interface UntrustedText {
  readonly source: PlanSource & { kind: 'issue' | 'comment' };
  readonly author: Account;
  /** GitHub's `author_association`, such as `MEMBER` or `NONE`. */
  readonly association: string;
  /** Title of the issue itself, or of the one it was posted on. */
  readonly title: string;
  readonly body: string;
  /** When it was last written to, in ISO 8601, to the second and in UTC; null if GitHub does not say. */
  readonly at: string | null;
  /** Number of comments on the issue; 0 for a comment. */
  readonly comments: number;
}

/** The accounts known to have write access. */
export interface Writers {
  has(id: number): boolean;
  /** As GitHub names it, or `unknown`, with the reason. */
  permission(id: number): string;
}

/** Who may write tasks, besides those with write access. */
export interface AuthorRules {
  /** Associations; `any` for everyone. */
  readonly trusted: readonly string[];
  /** Ids of bots. */
  readonly bots: readonly string[];
  /** Null for a text of another repository, whose maintainers can edit it. */
  readonly writers: Writers | null;
}

/** An account, as in GitHub's API and payloads. */
export const GitHubUser = z.object({ login: z.string(), id: z.int(), type: z.string().default('') });

/** The fields used from a comment, an issue or a pull request. */
export const GitHubComment = z.object({
  id: z.int().positive(),
  html_url: z.string(),
  user: GitHubUser.nullable(),
  author_association: z.string().default('NONE'),
  body: z.string().nullish(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
});

/** The fields used from an issue in GitHub's answers. */
export const GitHubIssue = GitHubComment.extend({
  number: z.int().positive(),
  title: z.string(),
  comments: z.int().default(0),
  pull_request: z.unknown().optional(),
});

type Issue = z.infer<typeof GitHubIssue>;

/** `repository` is OWNER/NAME. */
export function textOfIssue(repository: string, issue: Issue): UntrustedText {
  const author = issue.user ?? GHOST;
  const { number, html_url: url, title } = issue;
  const source = { kind: 'issue', repository, number, url, author: author.login } as const;
  const { author_association: association, comments, updated_at: at = null } = issue;
  return { source, author, association, title, body: issue.body ?? '', at, comments };
}

/** `title` is that of the issue or pull request. */
export function textOfComment(
  { repository, number, title }: { repository: string; number: number; title: string },
  comment: z.infer<typeof GitHubComment>,
): UntrustedText {
  const author = comment.user ?? GHOST;
  const { id: commentId, html_url: url } = comment;
  const source = { kind: 'comment', repository, number, commentId, url, author: author.login } as const;
  const { author_association: association, created_at = null, updated_at: at = created_at } = comment;
  return { source, author, association, title, body: comment.body ?? '', at, comments: 0 };
}

/** Stands in for deleted accounts. */
const GHOST: Account = { login: 'ghost', id: 10_137, type: 'User' };

/** Null if its author may write tasks, otherwise why not and how to fix it. */
export function whyNotAccepted(
  { author, association, source }: UntrustedText,
  rules: AuthorRules,
): string | null {
  const { login, id } = author;
  const what = source.kind === 'issue' ? `Issue ${source.number}` : `Comment ${source.commentId}`;
  if (isBot(author)) {
    if (rules.bots.includes(String(id))) return null;
    return `${what} was written by the bot ${login}, whose id ${id} is not allowed. If it may write tasks, use --allow-bot ${id}.`;
  }
  if (rules.writers?.has(id) || rules.trusted.includes('any')) return null;
  const is = association.toLowerCase();
  if (rules.trusted.some((trusted) => trusted === is)) return null;
  const permission = rules.writers?.permission(id) ?? 'none, since the text is in another repository';
  return `${what} was written by ${login}, who may not give tasks here (permission: ${permission}; association: ${association || 'unknown'}). It takes write access, or one of these associations: ${rules.trusted.join(', ')}. Write the task in a comment of your own and use --plan-from-comment, or, if somebody with write access reads the text before a run starts, widen this with --trust-author.`;
}

/** Apps and machine accounts that GitHub marks as such. */
export function isBot({ login, type }: Account): boolean {
  return type === 'Bot' || login.endsWith('[bot]');
}

/** What people cannot see of a text, and how often it was found. */
export interface Hidden {
  readonly characters: number;
  readonly comments: number;
  readonly images: number;
  /** Tags, titles of links, and unused definitions. */
  readonly others: number;
}

/** One sentence for people; null when nothing was hidden. */
export function describeHidden(
  { characters, comments, images, others }: Hidden,
  what: string,
): string | null {
  const parts = [
    [characters, 'invisible characters'],
    [comments, 'HTML comments'],
    [images, 'images and their texts'],
    [others, 'attributes, titles of links and unused definitions'],
  ] as const;
  const found = parts.flatMap(([n, name]) => (n > 0 ? [`${name} (${n})`] : []));
  return found.length === 0
    ? null
    : `Left out of ${what}, because it is invisible there: ${found.join(', ')}.`;
}

/** A task without its leading command, such as `/patchsmith` or `@patchsmith`. */
export function withoutCommand(text: string): string {
  return text.replace(/^\s*[/@][\w-]+[ \t:]*\n?/, '').trim();
}

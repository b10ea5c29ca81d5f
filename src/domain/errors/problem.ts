/** Something that is wrong with what a command was given, found before it did anything. */

import * as z from 'zod';
import type { CodeFor } from './registry.ts';

/** `message` says for people what is wrong, where, and how to fix it. */
export interface Problem {
  readonly code: CodeFor<'usage_error'>;
  readonly message: string;
}

/** The problem with this code and message. */
export function problem(code: Problem['code'], message: string): Problem {
  return { code, message };
}

/** The same problems, each prefixed with its place. */
export function prefixedProblems(prefix: string, problems: readonly Problem[]): Problem[] {
  return problems.map(({ code, message }) => ({ code, message: `${prefix}${message}` }));
}

/** A line for people: `[ERR_NO_TASK] there is no plan`. */
export function problemLine({ code, message }: Problem): string {
  return `[${code}] ${message}`;
}

/** Also one of another version, which this one does not have: a document is read by its form. */
export const ErrorCodeText = z.string().regex(/^ERR_[A-Z][A-Z_]{0,60}$/);

/** Whom settings name: people as commits do, logins and teams of GitHub, repositories and branches. */

import { isBranchName } from '../../domain/github/publishing/identity.ts';
import { entry } from './text.ts';
import { shown, value } from './value.ts';

/** Somebody's name and e-mail address, as in a commit. */
export interface NameAndEmail {
  readonly name: string;
  readonly email: string;
}

/** `Ann Onym <ann@example.org>`. */
export function person() {
  return value(A_PERSON, personFrom);
}

/** Several of them, one per line. */
export function people() {
  return value(`${A_PERSON}, or a list of them`, (given) => {
    const list = typeof given === 'string' ? given.split('\n').filter((line) => line.trim() !== '') : given;
    if (!Array.isArray(list)) return undefined;
    const found = list.flatMap((one) => personFrom(one) ?? []);
    return found.length === list.length && found.length > 0 ? found : undefined;
  });
}

const A_PERSON = 'a name and an address such as Ann Onym <ann@example.org>';

function personFrom(given: unknown): NameAndEmail | undefined {
  const match = /^([^<>\x00-\x1f\x7f]{1,200}?) *<([^<>\s@]{1,200}@[^<>\s@]{1,200})>$/.exec(
    String(given).trim(),
  );
  const [, name, email] = match ?? [];
  return name === undefined || email === undefined ? undefined : { name, email };
}

/** A login of GitHub, also as people mention it: `@octocat`. */
export function login() {
  return entry().transform((given) => given.replace(/^@(?=.)/, ''));
}

/** A team by its slug, also with its organisation: `octo/core`, `@octo/core`. */
export function team() {
  return entry()
    .transform((given) => given.replace(/^@(?=.)/, ''))
    .refine((given) => /^(?:[^/\s]+\/)?[^/\s]+$/.test(given), {
      error: ({ input }) => `expected the slug of a team, also as ORGANISATION/SLUG, got ${shown(input)}`,
    });
}

/** `OWNER/NAME` of a GitHub repository. */
export function repositoryName() {
  return value('OWNER/NAME', (given) =>
    typeof given === 'string' && /^[\w-]+\/(?!\.{1,2}$)[\w.-]+$/.test(given.trim())
      ? given.trim()
      : undefined,
  );
}

/** The name of a branch, without `refs/heads/`. */
export function branchName() {
  return value('the name of a branch, such as main', (given) => {
    const name = typeof given === 'string' ? given.trim() : '';
    return isBranchName(name) ? name : undefined;
  });
}

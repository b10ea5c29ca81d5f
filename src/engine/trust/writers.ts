/** Who has write access to the repository, as GitHub says: that is what "maintainer" means here. */

import { askPermission } from '../../adapters/github/access.ts';
import { type Account, isBot, type Writers } from '../../domain/github/untrusted-text.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { GitHub } from '../../ports/github.ts';
import { notAnswered } from './trust.ts';

/** Most accounts that are asked for; others count as having no write access. */
const MAX_ASKED = 50;

/** Permissions that let an account push. */
export const WRITING = ['admin', 'maintain', 'write'];

/** The accounts known to have write access, and those that were asked for: each once. */
export class KnownWriters implements Writers {
  readonly #said = new Map<number, string>();
  readonly #github: (() => Promise<GitHub>) | null;

  /** `ids` are known already; `github` is null without a token. */
  constructor(ids: ReadonlySet<number>, github: (() => Promise<GitHub>) | null) {
    for (const id of ids) this.#said.set(id, 'write');
    this.#github = github;
  }

  has(id: number): boolean {
    return WRITING.includes(this.permission(id));
  }

  permission(id: number): string {
    return this.#said.get(id) ?? 'unknown';
  }

  /**
   * Asks for those accounts among them that are not known yet, in this order; bots have no permission of this kind. The outcome
   * of a run for which GitHub does not say, or null.
   */
  async learn(repository: string, accounts: readonly Account[]): Promise<RunOutcome | null> {
    for (const account of accounts) {
      const { id, login } = account;
      if (isBot(account) || this.#said.has(id) || this.#said.size >= MAX_ASKED) continue;
      if (this.#github === null) {
        this.#said.set(id, 'unknown, since GITHUB_TOKEN is not set');
        continue;
      }
      const answer = await askPermission(await this.#github(), repository, login);
      if (answer.status === 'refused' && answer.refusal.status !== 404) {
        const what = `Whether ${login} has write access to ${repository} cannot be asked`;
        return notAnswered(what, answer.refusal, 'metadata: read');
      }
      // A login may since have been given to someone else.
      const isSame = answer.status === 'ok' && answer.data.user?.id === id;
      this.#said.set(id, isSame ? answer.data.permission : 'none');
    }
    return null;
  }
}

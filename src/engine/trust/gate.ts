/** The gate before the first token: who triggered the run, and who has write access, which is what "maintainer" means here. */

import { askAccount, askPermission } from '../../adapters/github/access.ts';
import type { Settings } from '../../config/schema.ts';
import {
  type GitHubEvent,
  isByWriters,
  whoMustHaveWriteAccess,
  whyNoBot,
} from '../../domain/github/event.ts';
import { type Account, isBot, type Writers } from '../../domain/github/untrusted-text.ts';
import {
  policyViolation,
  type RunOutcome,
  type Stopped,
  stopped,
  usageError,
} from '../../domain/run/outcome.ts';
import type { GitHub } from '../../ports/github.ts';
import { notAnswered, type Trust } from './trust.ts';

/** `writers` are the ids of people known to have write access. */
type TrustGate = { status: 'open'; writers: ReadonlySet<number> } | Stopped;

/** What a run or its preparation knows about its start. */
interface GatePlace {
  readonly input: {
    readonly trust?: Pick<Trust, 'event' | 'refusal' | 'token' | 'openGitHub'>;
    readonly settings: Pick<Settings, 'allowBots'>;
  };
  readonly interrupt: AbortSignal;
}

/** Asks GitHub only when the event does not already show that the one who triggered it has write access. */
export async function passGate({ input: { trust, settings }, interrupt }: GatePlace): Promise<TrustGate> {
  if (trust === undefined) return OPEN;
  const { event, refusal } = trust;
  if (refusal !== null) return stopped(refusal);
  if (event === null || isByWriters(event)) return OPEN;
  const { people, rerunBy } = whoMustHaveWriteAccess(event);
  if (people.length === 0) {
    return stopped(
      policyViolation(
        'ERR_NO_STARTER',
        `The event ${event.name} does not say who triggered it, so it cannot be trusted.`,
      ),
    );
  }
  const bots = settings.allowBots;
  const barred = people.map((account) => whyNoBot(account, bots)).find((why) => why !== null);
  if (barred !== undefined) return stopped(policyViolation('ERR_BOT_NOT_ALLOWED', barred));
  const asking: Asking = {
    github: await trust.openGitHub(interrupt),
    event,
    hasToken: trust.token !== null,
    bots,
  };
  const writers = new Set<number>();
  for (const account of people.filter((one) => !isBot(one))) {
    const why = await whyNoWriter(asking, account);
    if (why !== null) return stopped(why);
    writers.add(account.id);
  }
  const why = rerunBy === null ? null : await whyNoRerun(asking, rerunBy);
  return why === null ? { status: 'open', writers } : stopped(why);
}

const OPEN: TrustGate = { status: 'open', writers: new Set() };

interface Asking {
  readonly github: GitHub;
  readonly event: GitHubEvent;
  readonly hasToken: boolean;
  /** Ids. */
  readonly bots: readonly string[];
}

/** `login` may since have been given to someone else, or may be another account altogether. */
async function whyNoWriter(
  { github, event, hasToken }: Asking,
  account: Pick<Account, 'login'> & { id: number | null },
): Promise<RunOutcome | null> {
  const { login, id } = account;
  const asked = `Whether ${login}, who started this job by ${event.name}, has write access`;
  if (!hasToken) {
    return usageError(
      'ERR_NO_TOKEN',
      `${asked} cannot be asked without a token. Set GITHUB_TOKEN, or github-token of the action, to the token of the job (github.token): it needs no more than metadata: read, which it always has.`,
    );
  }
  if (event.repository === null)
    return usageError('ERR_NO_REPOSITORY_NAME', `${asked} cannot be asked: the event names no repository.`);
  const answer = await askPermission(github, event.repository, login);
  if (answer.status === 'refused')
    return notAnswered(`${asked} cannot be asked`, answer.refusal, 'metadata: read');
  const { permission, user } = answer.data;
  if (id !== null && user?.id !== id) {
    return policyViolation(
      'ERR_NO_WRITE_ACCESS',
      `${login} is no longer the account that started this job, so its write access proves nothing.`,
    );
  }
  if (WRITING.includes(permission)) return null;
  return policyViolation(
    'ERR_NO_WRITE_ACCESS',
    `${login} started this job by ${event.name}, which takes write access to ${event.repository}, and has the permission ${permission}. Someone with write access can start it.`,
  );
}

/** GitHub lets only writers re-run a job, people and apps alike; it names them and says no more. */
async function whyNoRerun(asking: Asking, login: string): Promise<RunOutcome | null> {
  if (!login.endsWith('[bot]')) return whyNoWriter(asking, { login, id: null });
  const account = await askAccount(asking.github, login);
  if (account.status === 'refused')
    return notAnswered(`Which bot ${login} is cannot be asked`, account.refusal, 'metadata: read');
  const why = whyNoBot(account.data, asking.bots);
  return why === null ? null : policyViolation('ERR_BOT_NOT_ALLOWED', why);
}

/** Most accounts that are asked for; others count as having no write access. */
const MAX_ASKED = 50;

/** Permissions that let an account push. */
const WRITING = ['admin', 'maintain', 'write'];

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

/** The gate before the first token: who triggered the run, and what credentials git keeps here. */

import { askAccount, askPermission } from '../../adapters/github/access.ts';
import type { Settings } from '../../config/schema.ts';
import {
  type GitHubEvent,
  isByWriters,
  whoMustHaveWriteAccess,
  whyNoBot,
} from '../../domain/github/event.ts';
import { type Account, isBot } from '../../domain/github/untrusted-text.ts';
import {
  policyViolation,
  type RunOutcome,
  type Stopped,
  stopped,
  usageError,
} from '../../domain/run/outcome.ts';
import type { GitHub } from '../../ports/github.ts';
import { notAnswered, type Trust } from './trust.ts';
import { WRITING } from './writers.ts';

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

/** Decides what a run may trust before its settings are read: the event, the checkout, and whose rules apply. */

import { resolve } from 'node:path';
import { askPullHead } from '../../adapters/github/access.ts';
import { readGitHubEvent } from '../../adapters/github/event-file.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { checkoutAround } from '../../adapters/workspace/find-checkout.ts';
import type { Settings } from '../../config/schema.ts';
import type { Environment } from '../../domain/environment.ts';
import {
  type CheckoutTrust,
  type GitHubEvent,
  trustInCheckout,
  trustInPull,
} from '../../domain/github/event.ts';
import { jobOfRound } from '../../domain/github/follow-up.ts';
import { policyViolation, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { sentence } from '../../domain/text/words.ts';
import { headOf, openRevision } from '../../git/revision.ts';
import { findPersistedCredentials, type PersistedCredentials } from '../../git/user-settings.ts';
import type { GitHub, GitHubRefusal } from '../../ports/github.ts';
import type { Revision } from '../../ports/workspace.ts';
import type { Clock } from '../../ports.ts';
import type { Continued } from '../continued/find.ts';

/** What a run knows about its surroundings. Outside GitHub Actions there is no event, and nothing is refused. */
export interface Trust {
  readonly event: GitHubEvent | null;
  /** Null when there is none. */
  readonly token: string | null;
  /** Project file, principles and plan are read from here; null means from the work tree. */
  readonly revision: Revision | null;
  /** The checked-out files may have been written by an outsider. */
  readonly isOutsiders: boolean;
  readonly credentials: PersistedCredentials;
  /** The pull request that the run continues; null for an ordinary run. */
  readonly continued: Continued | null;
  /** Why the run must not start; null when it may. */
  readonly refusal: RunOutcome | null;
  /** Opened only by runs that need it. */
  openGitHub(signal: AbortSignal): Promise<GitHub>;
}

/** What trust is decided from. */
interface TrustInput {
  readonly env: Environment;
  readonly cwd: string;
  readonly interrupt: AbortSignal;
  readonly version: string;
  readonly now: Clock;
}

type Found = Pick<Trust, 'revision' | 'isOutsiders' | 'continued' | 'refusal'>;

/** `settings` are those of the command line and the environment: a project file has no say here. */
export async function findTrust(input: TrustInput, settings: Settings): Promise<Trust> {
  const { env, cwd, version } = input;
  const token = env.GITHUB_TOKEN || env.GH_TOKEN || null;
  const openGitHub: Trust['openGitHub'] = async (signal) => {
    const client = await import('../../adapters/github/client.ts');
    const fetch = await fetchByEnvironment(env);
    return client.openGitHub({ apiUrl: settings.githubApiUrl, token, version, signal, fetch });
  };
  const checkout = await checkoutAround(resolve(cwd, settings.repo ?? '.'), env);
  const root = checkout?.status === 'ok' ? checkout.checkout.root : null;
  const read = await readGitHubEvent(env);
  const event = read.status === 'ok' ? read.event : null;
  const isOnGitHub = read.status !== 'none' && root !== null;
  const credentials = isOnGitHub ? await findPersistedCredentials(root, env) : NO_CREDENTIALS;
  const found =
    read.status === 'failed'
      ? refused(usageError('ERR_EVENT_UNREADABLE', read.message))
      : root === null
        ? checkout?.status === 'failed'
          ? refused(usageError('ERR_NO_CHECKOUT', checkout.message))
          : NOTHING_SPECIAL
        : await rulesFor(input, { event, root, settings, openGitHub });
  return { event, token, credentials, openGitHub, ...found };
}

const NO_CREDENTIALS: PersistedCredentials = { places: [], secrets: [] };
const NOTHING_SPECIAL: Found = { revision: null, isOutsiders: false, continued: null, refusal: null };

interface TrustPlace {
  readonly event: GitHubEvent | null;
  readonly root: string;
  readonly settings: Settings;
  readonly openGitHub: Trust['openGitHub'];
}

async function rulesFor(
  { env, interrupt, now }: Pick<TrustInput, 'env' | 'interrupt' | 'now'>,
  place: TrustPlace,
): Promise<Found> {
  const { event, root, settings, openGitHub } = place;
  const { rulesFrom, allowUntrustedCheckout } = settings;
  const trust: Exclude<CheckoutTrust, { is: 'unsure' }> | { is: 'unknown'; refusal: RunOutcome } =
    event === null
      ? { is: 'trusted' }
      : await settled(event, await headOf(root, env), () => openGitHub(interrupt));
  if (trust.is === 'unknown') return refused(trust.refusal);
  if (trust.is === 'untrusted' && trust.privileged && !allowUntrustedCheckout) {
    return refused(
      policyViolation(
        'ERR_UNTRUSTED_CHECKOUT',
        `${sentence(trust.why)} Check out the base (actions/checkout without ref and repository), or, if the job is meant for outsiders' code, use --allow-untrusted-checkout.`,
      ),
    );
  }
  if (settings.continued !== 'never') {
    const found = await continuedIn({ env, interrupt, now }, place);
    if (found !== null) return found;
  }
  const isOutsiders = trust.is === 'untrusted';
  const named = rulesFrom ?? (isOutsiders ? trust.rules : null);
  if (named === null) {
    const unknown = "It is unknown whose rules apply to an outsider's code; name a commit with --rules-from.";
    return isOutsiders ? refused(usageError('ERR_RULES_UNKNOWN', unknown)) : NOTHING_SPECIAL;
  }
  const revision = await openRevision(root, named, env);
  if (revision === null) {
    const what = isOutsiders ? 'Project file, principles and plan are read from the base' : '--rules-from';
    return refused(
      usageError(
        'ERR_RULES_MISSING',
        `${what}: ${named} is not in this checkout. Fetch it, with fetch-depth: 0 for actions/checkout.`,
      ),
    );
  }
  // Naming the revision of the rules means that the work tree is not trusted.
  return { revision, isOutsiders: isOutsiders || rulesFrom !== null, continued: null, refusal: null };
}

/**
 * Rules, principles and plan come from the base; the branch was written by a model, and is trusted no more than an outsider's
 * code. Null for an ordinary run.
 */
async function continuedIn(
  { env, interrupt, now }: Pick<TrustInput, 'env' | 'interrupt' | 'now'>,
  { event, root, settings, openGitHub }: TrustPlace,
): Promise<Found | null> {
  const { findContinued } = await import('../continued/find.ts');
  const { besideCheckout } = await import('../continued/local-merge.ts');
  const { GitHubRefused } = await import('../../adapters/github/request.ts');
  try {
    const found = await findContinued({
      asked: settings.continued,
      repository: event?.repository ?? settings.repository,
      event,
      head: await headOf(root, env),
      now,
      job: jobOfRound(env),
      openGitHub: () => openGitHub(interrupt),
      beside: (work) => besideCheckout(root, env, work),
    });
    if (found.status === 'none') return null;
    if (found.status === 'stopped') return refused(found.outcome);
    const { continued } = found;
    const revision = await openRevision(root, settings.rulesFrom ?? continued.commits.mergeBase, env);
    if (revision !== null) return { revision, isOutsiders: true, continued, refusal: null };
    const name = settings.rulesFrom ?? continued.commits.mergeBase;
    const what = `The base of pull request #${continued.pull.number}, whose rules apply,`;
    return refused(
      usageError(
        'ERR_RULES_MISSING',
        `${what} (${name}) is not in this checkout. Fetch it, with fetch-depth: 0 for actions/checkout.`,
      ),
    );
  } catch (error) {
    if (!(error instanceof GitHubRefused)) throw error;
    const what = `--continue ${settings.continued}: the pull request cannot be read`;
    return refused(notAnswered(what, error.refusal, 'contents: read and pull-requests: read'));
  }
}

/** Fetches the head of a pull request if the event does not contain it. */
async function settled(
  event: GitHubEvent,
  head: string | null,
  openGitHub: () => Promise<GitHub>,
): Promise<Exclude<CheckoutTrust, { is: 'unsure' }> | { is: 'unknown'; refusal: RunOutcome }> {
  const trust = trustInCheckout(event, head);
  if (trust.is !== 'unsure') return trust;
  const number = trust.pull;
  const asked = await askPullHead(await openGitHub(), event.repository ?? '', number);
  if (asked.status === 'ok') return trustInPull(event, head, { number, head: asked.data });
  const why = `Whether the commit that is checked out is of the pull request ${number} cannot be asked`;
  return { is: 'unknown', refusal: notAnswered(why, asked.refusal, 'pull-requests: read') };
}

/** The outcome where GitHub did not say what a run has to know. `what` is the beginning of a sentence, `needed` as below. */
export function notAnswered(what: string, refusal: GitHubRefusal, needed: string): RunOutcome {
  return usageError('ERR_GITHUB_UNREADABLE', `${what}: ${describeRefusal(refusal, needed)}`);
}

/** What GitHub said, and what to do about it. `needed` is the permission that the token should have. */
export function describeRefusal({ status, message, permission }: GitHubRefusal, needed: string): string {
  // The library appends an address of the documentation.
  const said = message.replace(/ - https:\S*$/, '');
  const what = status === null ? said : `${said} (${status})`;
  if (status === 404)
    return `${what}. It does not exist, or needs a token (GITHUB_TOKEN, or github-token of the action) with ${needed}.`;
  if (status !== 401 && status !== 403) return `${what}. Run it again later.`;
  return `${what}. Set a token (GITHUB_TOKEN, or github-token of the action) with ${permission === null ? needed : inWords(permission)}.`;
}

/** GitHub names alternatives, each a list: `issues=read; pull_requests=read`. */
function inWords(permission: string): string {
  const spelled = permission.replaceAll('=', ': ').replaceAll('_', '-');
  return spelled.replaceAll(/;\s*/g, ' or ').replaceAll(/,\s*/g, ' and ');
}

function refused(refusal: RunOutcome): Found {
  return { ...NOTHING_SPECIAL, refusal };
}

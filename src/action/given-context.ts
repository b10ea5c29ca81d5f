/** The process as the action's commands see it: with inputs in place of flags and variables. */

import { Readable, Writable } from 'node:stream';
import { fetchByEnvironment } from '../adapters/network/machine-proxy.ts';
import { providerAsked } from '../config/resolve.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import type { HostContext } from '../host/context.ts';
import type { Federation } from '../ports/network.ts';
import { type FederationGiven, type InputsGiven, withoutInputs } from './read-inputs.ts';
import { requestIdentityToken, type TokenRequest } from './runner/identity-token.ts';
import type { ActionStep } from './step.ts';

/** What a step adds to its process. */
interface StepParts {
  readonly step: ActionStep;
  /** How to ask for the job's identity; null if it may not. */
  readonly identity: TokenRequest | null;
  /** Keeps a secret out of the log. */
  readonly mask: (secret: string) => void;
}

/** The same process, with what the inputs say. */
export function contextWith(
  context: HostContext,
  { plan, apiKey, githubToken, federation, flags }: InputsGiven,
  { step, identity, mask }: StepParts,
): HostContext {
  if (plan !== null && flags.run) flags.run.plan = '-';
  const { keyVariable } = providerAsked({ flags: flags.run ?? flags.resume ?? {}, env: context.env });
  return {
    ...context,
    env: {
      ...withoutInputs(context.env),
      ...(apiKey === null || keyVariable === null ? {} : { [keyVariable]: apiKey }),
      ...(githubToken === null ? {} : { GITHUB_TOKEN: githubToken }),
    },
    isStep: true,
    cwd: context.env.GITHUB_WORKSPACE || context.cwd,
    stdin: plan === null ? context.stdin : Readable.from([plan]),
    // Anything on stdout ends up in the log, where it could be taken for a command to the runner.
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    watcher: step,
    onPublication: (publication) => step.onPublication(publication),
    onPrepared: (planFiles) => step.onPrepared(planFiles),
    onContinued: (pulls) => step.onContinued(pulls),
    ...(federation === null || identity === null
      ? {}
      : { federation: loginOf(federation, { identity, mask, env: context.env }) }),
  };
}

function loginOf(
  { audience, ...rule }: FederationGiven,
  { identity, mask, env }: { identity: TokenRequest; mask: StepParts['mask']; env: HostContext['env'] },
): Federation {
  return {
    ...rule,
    identityToken: async (signal) => {
      const answer = await requestIdentityToken({
        ...identity,
        audience,
        signal,
        fetch: await fetchByEnvironment(env),
      });
      if (answer.status === 'ok') mask(answer.token);
      return answer;
    },
    onAccessToken: mask,
  };
}

/** Tokens of the environment that the input replaces: people may have meant them. */
export function passedOver({ githubToken }: InputsGiven, env: HostContext['env']): Warning[] {
  return ['GITHUB_TOKEN', 'GH_TOKEN'].flatMap((name) =>
    githubToken !== null && env[name] && env[name] !== githubToken
      ? [
          warning(
            'WARN_TOKEN_NOT_USED',
            `${name} of the environment is not used: github-token replaces it, and is the token of the job unless it is given. Give the other token as github-token`,
          ),
        ]
      : [],
  );
}

/** What the step does in each mode, and the process as its commands see it: with inputs in place of flags and variables. */

import { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { fetchByEnvironment } from '../adapters/network/machine-proxy.ts';
import { readResult } from '../adapters/storage/read-result.ts';
import { runDirectoryAt } from '../adapters/storage/run-directory.ts';
import type { Given } from '../commands/command.ts';
import { COMMANDS } from '../commands/registry.ts';
import { runAndPublish } from '../commands/run-and-publish.ts';
import { providerAsked } from '../config/resolve.ts';
import type { Environment } from '../domain/environment.ts';
import { innermostMessage } from '../domain/errors/innermost-message.ts';
import type { RunResult } from '../domain/run/result.ts';
import { redactedStrings } from '../domain/secrets/redact.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import type { Federation, IdentityToken } from '../ports/network.ts';
import { type FederationGiven, type InputsGiven, withoutInputs } from './read-inputs.ts';
import type { ActionStep } from './step.ts';

/** Carries out the mode that the inputs select. Resolves with how it ended; rejects only for a bug. */
export async function carryOut(
  inputs: InputsGiven,
  context: HostContext,
  step: ActionStep,
): Promise<CommandOutcome> {
  switch (inputs.mode) {
    case 'prepare':
    case 'run':
      return start(inputs.mode, context, given(inputs, inputs.mode));
    case 'resume': {
      const { operands: _none, flags, ...words } = given(inputs, 'resume');
      // The checkout is a fresh one, wherever the run began.
      const here = { ...words, operands: [inputs.runDir ?? ''], flags: { repo: context.cwd, ...flags } };
      return start('resume', context, here);
    }
    case 'publish': {
      step.beginPublication();
      const words = { ...given(inputs, 'publish'), operands: [inputs.runDir ?? ''] };
      const end = await start('publish', context, words);
      if (step.publication !== null && step.publication.runId !== null)
        tellRun(inputs.runDir ?? '', context, step);
      return end;
    }
    case 'run-and-publish':
      return runAndPublish({
        context,
        run: given(inputs, 'run'),
        publish: given(inputs, 'publish'),
        onPublishing: () => step.beginPublication(),
      });
  }
}

/** A run made by another job; its own paths mean nothing here. */
function tellRun(path: string, { cwd, redact }: HostContext, step: ActionStep): void {
  const directory = runDirectoryAt(path.startsWith('/') ? path : `${cwd}/${path}`);
  const result = readResult(directory);
  if (result === null) return;
  const patch = result.patch && { ...result.patch, path: directory.patch };
  step.onDirectory(directory);
  step.onResult(redactedStrings({ ...result, patch }, redact) as RunResult);
}

type StepCommand = 'prepare' | 'run' | 'resume' | 'publish';

async function start(name: StepCommand, context: HostContext, words: Given): Promise<CommandOutcome> {
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) throw new Error(`There is no command ${name}.`);
  return command.start(context, words);
}

function given({ flags }: InputsGiven, command: StepCommand): Given {
  return { operands: [], flags: flags[command] ?? {}, switches: new Set(), problems: [] };
}

/** What the runner provides to a job with the permission `id-token: write`. */
export interface TokenRequest {
  readonly url: string;
  readonly token: string;
}

/** Null for a job without that permission. */
export function tokenRequest(env: Environment): TokenRequest | null {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = env;
  return url && token && URL.canParse(url) ? { url, token } : null;
}

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
  { identity, mask, env }: { identity: TokenRequest; mask: StepParts['mask']; env: Environment },
): Federation {
  return {
    ...rule,
    async identityToken(signal) {
      const answer = await requestIdentityToken(identity, audience, {
        signal,
        fetch: await fetchByEnvironment(env),
      });
      if (answer.status === 'ok') mask(answer.token);
      return answer;
    },
    onAccessToken: mask,
  };
}

/**
 * Requests an OpenID Connect token of this job from the runner; failures are values that say how to fix them
 * (https://docs.github.com/actions/reference/openid-connect-reference#methods-for-requesting-the-oidc-token).
 */
async function requestIdentityToken(
  { url, token }: TokenRequest,
  audience: string,
  { signal, fetch: ask }: { readonly signal: AbortSignal; readonly fetch: typeof fetch },
): Promise<IdentityToken> {
  const address = new URL(url);
  address.searchParams.set('audience', audience);
  const noToken = (message: string, again: boolean) => ({ status: 'failed' as const, message, again });
  try {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const response = await ask(address, { headers, redirect: 'manual', signal });
    const { ok, status } = response;
    if (!ok) return noToken(`The runner did not issue an identity token: status ${status}`, status >= 500);
    const { data } = z.object({ value: z.string().min(1) }).safeParse(await response.json());
    return data
      ? { status: 'ok', token: data.value }
      : noToken("The runner's answer has no identity token", true);
  } catch (error) {
    // Thrown by fetch for a failed connection, an answer that is not JSON, and an abort.
    if (error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException)
      return noToken(`The runner gives no identity token: ${innermostMessage(error)}`, true);
    throw error;
  }
}

/** Tokens of the environment that the input replaces: people may have meant them. */
export function passedOver({ githubToken }: InputsGiven, env: Environment): Warning[] {
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

/**
 * The operator's program as a provider: for gateways with their own protocol, and for tests. It is started for each
 * request, reads one line of JSON and writes lines of JSON; docs/provider-command.md is the protocol.
 */

import type { Environment } from '../../domain/environment.ts';
import { bytesBeyondTokens } from '../../domain/images/shown.ts';
import type { ModelSettings } from '../../domain/run/model-settings.ts';
import { redactorFor } from '../../domain/secrets/redact.ts';
import type { LlmProvider } from '../../ports.ts';
import { attemptParts } from './asking/attempt-parts.ts';
import { askPatiently, type Patience } from './asking/patience.ts';
import { toolUseIds } from './asking/tool-use.ts';
import { attemptCommand } from './command/attempt.ts';
import { commandRequest } from './command/messages.ts';
import { locateProgram, programEnvironment, reachableWord, wordsOf } from './command/program.ts';
import { ProviderSettingsError } from './settings-error.ts';

/** Which program answers, and what it gets from this process. */
export interface ProgramSettings {
  /** Program and arguments, as typed. */
  readonly line: string | null;
  /** The variables that it may get. */
  readonly env: Environment;
  /** Those that it gets in addition to the usual ones, which contain no secrets. */
  readonly variables: readonly string[];
  /** Absolute folders that the model's commands can write to. Called before each request. */
  writable(): readonly string[];
}

interface CommandOptions extends Patience, Pick<ModelSettings, 'effort' | 'showThinking'> {
  readonly model: string;
  readonly program: ProgramSettings;
  /** Longest silence before and during an answer; default 120 s. */
  readonly idleTimeoutMs?: number;
}

/** Throws ProviderSettingsError for a program that cannot be started. */
export function createCommandProvider(options: CommandOptions): LlmProvider {
  const { env, variables, writable } = options.program;
  const words = checkedWords(options.program);
  const [name = '', ...args] = words;
  const start = () => {
    const folders = writable();
    const environment = programEnvironment(env, variables, folders);
    const program = locateProgram(name, environment.PATH ?? '');
    const reachable = reachableWord([...(program === null ? [] : [program]), ...words], folders);
    return { program, environment, reachable };
  };
  const obstacle = () => {
    const { program, reachable } = start();
    if (reachable !== null) return whyReachable(reachable);
    return program === null ? noProgram(name) : null;
  };
  const redact = redactorFor(variables.flatMap((one) => env[one] ?? []));
  return {
    name: 'command',
    model: options.model,
    // A link on the way may be changed during the run.
    obstacle,
    complete: async (request) => {
      const { conversation } = request;
      const { program, environment } = start();
      const message = obstacle();
      if (program === null || message !== null)
        return { status: 'failed', kind: 'invalid_request', message: message ?? noProgram(name) };
      const attempt = {
        program,
        args,
        env: environment,
        earlierCalls: toolUseIds(conversation),
        ...attemptParts(options, request, redact),
      };
      const asked = {
        patience: options,
        redact,
        where: `model ${options.model} of ${program}`,
        attempt: (maxTokens: number) =>
          attemptCommand({
            ...attempt,
            request: commandRequest(options, request, maxTokens),
            beyondTokens: bytesBeyondTokens(conversation),
          }),
      };
      return askPatiently(asked, request);
    },
  };
}

/** Program and arguments. */
function checkedWords({ line, env, variables }: ProgramSettings): readonly string[] {
  const words = line === null ? null : wordsOf(line);
  if (words === null)
    throw new ProviderSettingsError(
      line === null
        ? 'The command provider needs a program: --provider-command PROGRAM.'
        : '--provider-command has an unterminated quote.',
    );
  const unset = variables.find((name) => !env[name]);
  if (unset !== undefined)
    throw new ProviderSettingsError(
      `--provider-env ${unset}: the variable is not set, or is a key that patchsmith does not pass on; use another name for it.`,
    );
  return words;
}

function noProgram(name: string): string {
  return `--provider-command: there is no program ${JSON.stringify(name)} outside of what commands can write to; give an absolute path, or a name on the PATH.`;
}

function whyReachable(path: string): string {
  return `--provider-command: ${JSON.stringify(path)} is where the model's commands can write, and what they put there would run outside the sandbox. Move it out of the work tree.`;
}

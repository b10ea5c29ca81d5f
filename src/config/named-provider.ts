/** Provider and model as one text, `openai/gpt-5.4`: the part before the slash counts if it is the name of a provider. */

import { DEFAULT_PROVIDER, providerNamed } from '../adapters/providers/registry.ts';
import type { Environment } from '../domain/environment.ts';

interface ModelSources {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Environment;
  readonly file?: { readonly values: Readonly<Record<string, unknown>> } | null;
}

interface ModelParts {
  readonly provider: string;
  readonly model: string;
}

/** The two parts; null for a model whose name has no provider before its first slash. */
function partsOf(model: unknown): ModelParts | null {
  const [, provider = '', rest = ''] = /^([^/]+)\/(.+)$/.exec(typeof model === 'string' ? model : '') ?? [];
  const entry = providerNamed(provider);
  return entry === null || entry.playsRecording ? null : { provider, model: rest };
}

/** The models that a run may ask besides the first one, whose `provider` answers unless they name another; null for none. */
export function otherModels({
  provider,
  fallbackModel,
  reviewModel,
}: {
  readonly provider: string;
  readonly fallbackModel: string | null;
  readonly reviewModel: string | null;
}): Readonly<Record<'fallback' | 'reviewer', ModelParts | null>> {
  const partsIn = (text: string | null) =>
    text === null ? null : (partsOf(text) ?? { provider, model: text });
  return { fallback: partsIn(fallbackModel), reviewer: partsIn(reviewModel) };
}

/**
 * The inputs with provider and model separated. If a provider is given separately, the model is used as it is, since models of
 * other endpoints may contain slashes too. `refusal`: a project file chooses a provider.
 */
export function withNamedProvider<Inputs extends ModelSources>(
  inputs: Inputs,
): { inputs: Inputs; refusal: string | null } {
  const { flags, env, file = null } = inputs;
  if (flags.provider !== undefined || env.PATCHSMITH_PROVIDER) return { inputs, refusal: null };
  const ofFlag = partsOf(flags.model);
  if (ofFlag !== null) return { inputs: { ...inputs, flags: { ...flags, ...ofFlag } }, refusal: null };
  const ofVariable = flags.model === undefined ? partsOf(env.PATCHSMITH_MODEL) : null;
  if (ofVariable !== null) {
    const { provider, model } = ofVariable;
    const named = { PATCHSMITH_PROVIDER: provider, PATCHSMITH_MODEL: model };
    return { inputs: { ...inputs, env: { ...env, ...named } }, refusal: null };
  }
  const ofFile = file === null ? null : partsOf(file.values.model);
  if (file === null || ofFile === null) return { inputs, refusal: null };
  const { provider, model } = ofFile;
  const values = { ...file.values, model };
  return {
    inputs: { ...inputs, file: { ...file, values } },
    refusal:
      provider === DEFAULT_PROVIDER
        ? null
        : `a project file may not set provider, as in model: ${provider}/…; use --model ${provider}/… or PATCHSMITH_MODEL`,
  };
}

/** Provider and model as one text, `openai/gpt-5.4`: the part before the slash counts if it is the name of a provider. */

import { providerNamed } from '../adapters/providers/registry.ts';
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
 * What the model names, and whether a project file does. Null if it names no provider, or if one is given separately: models of other
 * endpoints may contain slashes too.
 */
export function namedProvider({ flags, env, file }: ModelSources): (ModelParts & { inFile: boolean }) | null {
  if (flags.provider !== undefined || env.PATCHSMITH_PROVIDER) return null;
  const given = flags.model ?? (env.PATCHSMITH_MODEL || undefined);
  const parts = partsOf(given ?? file?.values.model);
  return parts && { ...parts, inFile: given === undefined };
}

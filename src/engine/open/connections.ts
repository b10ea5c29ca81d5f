/** Key and price of a run to come, as lines of a check. */

import { keyVariablesAt, providerNamed } from '../../adapters/providers/registry.ts';
import type { Settings } from '../../config/schema.ts';
import { type CheckLine, fine, lacking } from '../../domain/check-report.ts';
import type { Problem } from '../../domain/errors/problem.ts';
import { hasPrice, mainPrice } from '../../domain/run/pricing.ts';
import type { HostContext } from '../../host/context.ts';

/** The key of the settings' provider, and why there is none. */
interface KeyRead {
  readonly settings: Settings;
  readonly key: string | null;
  readonly keyless: readonly Problem[];
}

/** Whether there is a key. */
export function keyLines(
  context: Pick<HostContext, 'federation'>,
  { settings, key, keyless }: KeyRead,
): CheckLine[] {
  const provider = providerNamed(settings.provider);
  const names = provider === null ? [] : keyVariablesAt(provider, settings.baseUrl);
  const keyVariable = names.length === 0 ? null : names.join(' or ');
  if (keyless.length > 0) {
    const [said = '', fix = null] = (keyless.at(-1)?.message ?? '').split(': ', 2);
    const code = keyless.at(-1)?.code ?? null;
    return [
      ...keyless.slice(0, -1).map((one) => lacking('key', one.code, one.message)),
      lacking('key', code, said, fix),
    ];
  }
  if (key !== null) return [fine('key', `${keyVariable} is set; it was not sent anywhere`)];
  const isLoggedIn = context.federation !== undefined && keyVariable !== null;
  if (keyVariable !== null && !isLoggedIn)
    return [fine('key', `${keyVariable} is not set, and ${settings.baseUrl} may need none`)];
  return [fine('key', isLoggedIn ? 'the job logs in without one' : `${settings.provider} needs none`)];
}

/** Whether the cost of a run can be computed. */
export function priceLine({ provider, model, price }: Settings): CheckLine {
  const entry = providerNamed(provider);
  if (entry?.isBilled === false) return fine('price', `${provider} costs nothing`);
  if (mainPrice(price, { provider, model }) !== null) return fine('price', `that of --price, for ${model}`);
  if (hasPrice(model) || entry?.priceOf?.(model)) return fine('price', `known for ${model}`);
  return {
    part: 'price',
    status: 'note',
    code: null,
    said: `unknown for ${model}, so the cost of a run is unknown, too`,
    fix: 'set it with --price, if the name of the model is right',
  };
}

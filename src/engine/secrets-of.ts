/** Every value that a run keeps secret. */

import { secretsAmong } from '../domain/secrets/redact.ts';
import type { RunInput } from './run-input.ts';

/** Keys, secret variables, the token of the job, credentials left for git, and secrets of MCP servers. */
export function secretsOf({ settings, env, trust, servers, apiKey, otherKeys }: RunInput): string[] {
  const known = [...secretsAmong(env), ...settings.setupEnv.flatMap((name) => env[name] ?? [])];
  const { token = null, credentials } = trust ?? {};
  const left = [...(token === null ? [] : [token]), ...(credentials?.secrets ?? [])];
  const ofServers = Object.values(servers ?? {}).flatMap((server) => server.secrets);
  const keys = [apiKey ?? [], Object.values(otherKeys ?? {})].flat();
  return [...keys, ...known, ...left, ...ofServers];
}

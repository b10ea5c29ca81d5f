/** Which error a run ends with, by what stopped it. */

import type { ProviderFailureKind, StopReason } from '../run/limits.ts';
import type { CodeFor } from './registry.ts';

/** The code of a run that the model did not finish, depending on who says so. */
export const BLOCKED_CODE = {
  model: 'ERR_BLOCKED',
  refusal: 'ERR_MODEL_REFUSED',
  stall: 'ERR_NO_PROGRESS',
} as const;

/** The code of a run that reached a limit. */
export const LIMIT_CODE: Readonly<
  Record<(StopReason & { why: 'limit' })['limit'], CodeFor<'limit_reached'>>
> = {
  iterations: 'ERR_LIMIT_ITERATIONS',
  tokens: 'ERR_LIMIT_TOKENS',
  cost_usd: 'ERR_LIMIT_COST',
  output_tokens: 'ERR_LIMIT_OUTPUT',
  context_window: 'ERR_LIMIT_CONTEXT',
  changed_files: 'ERR_LIMIT_CHANGES',
  changed_bytes: 'ERR_LIMIT_CHANGES',
  changed_file_bytes: 'ERR_LIMIT_CHANGES',
  folder_entries: 'ERR_LIMIT_CHANGES',
  disk_bytes: 'ERR_LIMIT_DISK',
};

/** The code of a run that its provider ended, by the class of the failure. */
export const PROVIDER_CODE: Readonly<Record<ProviderFailureKind, CodeFor<'provider_error'>>> = {
  authentication: 'ERR_PROVIDER_AUTHENTICATION',
  billing: 'ERR_PROVIDER_BILLING',
  permission: 'ERR_PROVIDER_PERMISSION',
  not_found: 'ERR_PROVIDER_NOT_FOUND',
  invalid_request: 'ERR_PROVIDER_INVALID_REQUEST',
  too_large: 'ERR_PROVIDER_TOO_LARGE',
  rate_limit: 'ERR_PROVIDER_RATE_LIMIT',
  outage: 'ERR_PROVIDER_OUTAGE',
  stream: 'ERR_PROVIDER_STREAM',
  recording: 'ERR_PROVIDER_RECORDING',
};

/**
 * Claude on Amazon Bedrock, through the vendor's client, which its users install: it signs requests and removes the
 * AWS framing from their answers.
 */

import { redactorFor } from '../../domain/secrets/redact.ts';
import { claudeProvider, openPeer, QUIET_CLIENT } from './anthropic/access.ts';
import { type EndpointOptions, ProviderSettingsError, parseEndpoint } from './asking/endpoint.ts';
import type { NamelessProvider } from './asking/provider.ts';
import { withBoundedRefusals } from './asking/stream.ts';

/** Throws ProviderSettingsError without the client or a region, and for a base URL that cannot be used. */
export async function createBedrockProvider(options: EndpointOptions): Promise<NamelessProvider> {
  const { env = {}, baseUrl, allowInsecureBaseUrl = false } = options;
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION;
  if (!region) throw new ProviderSettingsError('There is no AWS region. Set AWS_REGION.');
  const address = baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`;
  const endpoint = parseEndpoint(address, allowInsecureBaseUrl);
  const { AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  const shared = {
    awsRegion: region,
    baseURL: endpoint.href.replace(/\/$/, ''),
    apiKey: AWS_BEARER_TOKEN_BEDROCK || null,
    fetch: withBoundedRefusals(options.fetch ?? fetch),
    ...QUIET_CLIENT,
  };
  const client = await openPeer(
    { provider: 'bedrock', packages: ['@anthropic-ai/bedrock-sdk'] },
    () => import('@anthropic-ai/bedrock-sdk'),
    ({ AnthropicBedrock }) =>
      AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY
        ? new AnthropicBedrock({
            ...shared,
            awsAccessKey: AWS_ACCESS_KEY_ID,
            awsSecretKey: AWS_SECRET_ACCESS_KEY,
            awsSessionToken: AWS_SESSION_TOKEN || null,
          })
        : new AnthropicBedrock(shared),
  );
  const redact = redactorFor(
    [AWS_BEARER_TOKEN_BEDROCK, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN].flatMap((secret) => secret || []),
  );
  return claudeProvider(options, { client, host: endpoint.host, redact });
}

/** Claude on Google's Vertex AI, through the vendor's client, which its users install. */

import { redactorFor } from '../../domain/secrets/redact.ts';
import type { LlmProvider } from '../../ports.ts';
import { claudeProvider, QUIET_CLIENT } from './anthropic/claude-provider.ts';
import { withBoundedRefusals } from './asking/bounded-refusals.ts';
import { parseEndpoint } from './asking/endpoint.ts';
import { loadPeer } from './asking/peers.ts';
import type { CloudOptions } from './bedrock.ts';
import { ProviderSettingsError } from './settings-error.ts';

const SCOPES = 'https://www.googleapis.com/auth/cloud-platform';

/** Throws ProviderSettingsError without the client, a project or a region, and for a base URL that cannot be used. */
export async function createVertexProvider(options: CloudOptions): Promise<LlmProvider> {
  const { env = {}, baseUrl, allowInsecureBaseUrl = false } = options;
  const [projectId, region] = [env.ANTHROPIC_VERTEX_PROJECT_ID, env.CLOUD_ML_REGION];
  if (!projectId)
    throw new ProviderSettingsError('There is no Google Cloud project. Set ANTHROPIC_VERTEX_PROJECT_ID.');
  if (!region)
    throw new ProviderSettingsError('There is no Google Cloud region. Set CLOUD_ML_REGION, such as global.');
  const peers = ['@anthropic-ai/vertex-sdk', 'google-auth-library'];
  const [{ AnthropicVertex }, { GoogleAuth }] = await loadPeer('vertex', peers, () =>
    Promise.all([import('@anthropic-ai/vertex-sdk'), import('google-auth-library')]),
  );
  const endpoint = baseUrl === undefined ? null : parseEndpoint(baseUrl, allowInsecureBaseUrl);
  const keyFile = env.GOOGLE_APPLICATION_CREDENTIALS;
  const tokens = new Set<string>();
  const ask = withBoundedRefusals(options.fetch ?? fetch);
  const client = new AnthropicVertex({
    projectId,
    region,
    ...(endpoint === null ? {} : { baseURL: endpoint.href.replace(/\/$/, '') }),
    googleAuth: new GoogleAuth({ scopes: SCOPES, ...(keyFile ? { keyFilename: keyFile } : {}) }),
    fetch: (input, init) => {
      noteToken(tokens, init?.headers);
      return ask(input, init);
    },
    ...QUIET_CLIENT,
  });
  const host = new URL(client.baseURL).host;
  const redact = (text: string) => redactorFor([...tokens])(text);
  return claudeProvider(options, { name: 'vertex', client, host, redact });
}

/** The client requests a token whenever it needs one, and a server may repeat it in its messages. */
function noteToken(tokens: Set<string>, headers: RequestInit['headers']): void {
  const [, token] = /^Bearer (.+)$/.exec(new Headers(headers).get('authorization') ?? '') ?? [];
  if (token !== undefined) tokens.add(token);
}

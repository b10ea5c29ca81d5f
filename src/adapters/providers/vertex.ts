/** Claude on Google's Vertex AI, through the vendor's client, which its users install. */

import type { Environment } from '../../domain/environment.ts';
import { redactorForGrowing } from '../../domain/secrets/redact.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { readBytes } from '../../files/regular-file.ts';
import { claudeProvider, openPeer, QUIET_CLIENT } from './anthropic/access.ts';
import { type EndpointOptions, ProviderSettingsError, parseEndpoint } from './asking/endpoint.ts';
import type { NamelessProvider } from './asking/provider.ts';
import { withBoundedRefusals } from './asking/stream.ts';

const SCOPES = 'https://www.googleapis.com/auth/cloud-platform';
const MAX_LOGIN_BYTES = 65_536;

/** Throws ProviderSettingsError without the client, a project or a region, and for a credentials file or base URL that cannot be used. */
export async function createVertexProvider(options: EndpointOptions): Promise<NamelessProvider> {
  const { env = {}, baseUrl, allowInsecureBaseUrl = false } = options;
  const [projectId, region] = [env.ANTHROPIC_VERTEX_PROJECT_ID, env.CLOUD_ML_REGION];
  if (!projectId)
    throw new ProviderSettingsError('There is no Google Cloud project. Set ANTHROPIC_VERTEX_PROJECT_ID.');
  if (!region)
    throw new ProviderSettingsError('There is no Google Cloud region. Set CLOUD_ML_REGION, such as global.');
  const endpoint = baseUrl === undefined ? null : parseEndpoint(baseUrl, allowInsecureBaseUrl);
  const credentials = await loginOf(env);
  // The client requests a token whenever it needs one, and a server may repeat it in its messages.
  const tokens: string[] = [];
  const ask = withBoundedRefusals(options.fetch ?? fetch);
  const client = await openPeer(
    { provider: 'vertex', packages: ['@anthropic-ai/vertex-sdk', 'google-auth-library'] },
    () => Promise.all([import('@anthropic-ai/vertex-sdk'), import('google-auth-library')]),
    ([{ AnthropicVertex }, { GoogleAuth }]) => {
      const googleAuth = new GoogleAuth({ scopes: SCOPES, ...(credentials === null ? {} : { credentials }) });
      const login = googleAuth.getClient();
      // The client asks for the login when it is made, and looks at it with the first request, which reports the failure.
      login.catch(() => undefined);
      googleAuth.getClient = () => login;
      return new AnthropicVertex({
        projectId,
        region,
        ...(endpoint === null ? {} : { baseURL: endpoint.href.replace(/\/$/, '') }),
        googleAuth,
        fetch: (input, init) => {
          const [, token] = /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '') ?? [];
          if (token !== undefined && !tokens.includes(token)) tokens.push(token);
          return ask(input, init);
        },
        ...QUIET_CLIENT,
      });
    },
  );
  const host = new URL(client.baseURL).host;
  return claudeProvider(options, { client, host, redact: redactorForGrowing(tokens) });
}

/**
 * The content of the credentials file that the environment names; null if it names none. Throws ProviderSettingsError for
 * a file that is unusable: given one that is not JSON, Google's library sends requests without any login.
 */
async function loginOf({ GOOGLE_APPLICATION_CREDENTIALS: file }: Environment): Promise<object | null> {
  if (!file) return null;
  const refuse = (why: string) =>
    new ProviderSettingsError(
      `The credentials file in GOOGLE_APPLICATION_CREDENTIALS ${why}. Set the variable to the path of a credentials file of Google Cloud.`,
    );
  const read = await readBytes(file, { maxBytes: MAX_LOGIN_BYTES, pipes: true });
  if (read.status === 'failed') throw refuse(read.why);
  // The message of a parser would quote the file.
  const login = jsonOrUndefined(read.bytes.toString('utf8'));
  if (typeof login !== 'object' || login === null || Array.isArray(login))
    throw refuse('is not a JSON object');
  return login;
}

/** The token endpoint of the Claude API: identity tokens in, access tokens out, by RFC 7523 as the API's reference has it. */

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './checks/refusal.ts';

export interface FederationRule {
  readonly ruleId: string;
  readonly organizationId: string;
  readonly serviceAccountId?: string;
  readonly workspaceId?: string;
  /** Whether the rule matches an identity token. */
  accepts(identity: string): boolean;
  /** Seconds that an access token lives; 3600 without it. */
  readonly lifetime?: number;
  /** Statuses to answer the first exchanges with. */
  readonly faults?: readonly number[];
}

const FIELDS = [
  'grant_type',
  'assertion',
  'federation_rule_id',
  'organization_id',
  'service_account_id',
  'workspace_id',
];
const BETAS = ['oauth-2025-04-20', 'oidc-federation-2026-04-01'];

export class TokenExchange {
  readonly requests: unknown[] = [];
  readonly #rule: FederationRule | null;
  readonly #clock: () => number;
  /** The time when each token ends. */
  readonly #tokens = new Map<string, number>();

  constructor(rule: FederationRule | null, clock: () => number) {
    this.#rule = rule;
    this.#clock = clock;
  }

  isFor(request: IncomingMessage): boolean {
    return this.#rule !== null && request.method === 'POST' && request.url === '/v1/oauth/token';
  }

  answer({ headers }: IncomingMessage, bytes: string, response: ServerResponse): void {
    const body: Record<string, unknown> = JSON.parse(bytes);
    this.requests.push(body);
    const [status, answer] = this.#decide(headers, body);
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_token' });
    response.end(JSON.stringify(answer));
  }

  #decide(headers: IncomingMessage['headers'], body: Record<string, unknown>): [number, unknown] {
    const rule = this.#rule;
    const fault = rule?.faults?.[this.requests.length - 1];
    if (fault !== undefined) return [fault, { error: 'temporarily_unavailable' }];
    const betas = String(headers['anthropic-beta'] ?? '').split(',');
    const wellFormed =
      BETAS.every((beta) => betas.includes(beta)) &&
      String(headers['content-type']).startsWith('application/json') &&
      body.grant_type === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      Object.keys(body).every((field) => FIELDS.includes(field));
    if (!wellFormed)
      return [400, { error: 'invalid_request', error_description: 'The request is malformed.' }];
    const matches =
      body.federation_rule_id === rule?.ruleId &&
      body.organization_id === rule?.organizationId &&
      body.service_account_id === rule?.serviceAccountId &&
      body.workspace_id === rule?.workspaceId &&
      rule?.accepts(String(body.assertion));
    if (!matches)
      return [401, { error: 'invalid_grant', error_description: 'The assertion does not match the rule.' }];
    const lifetime = rule?.lifetime ?? 3600;
    const token = `sk-ant-oat01-${randomBytes(64).toString('base64url')}`;
    this.#tokens.set(token, this.#clock() + lifetime * 1000);
    return [200, { access_token: token, token_type: 'Bearer', expires_in: lifetime }];
  }

  /** Throws unless a request may be made with this token. */
  check(token: string, betas: string): void {
    const end = this.#tokens.get(token);
    if (end === undefined || end < this.#clock())
      throw new Refusal(401, 'authentication_error', 'invalid bearer token');
    if (!betas.split(/\s*,\s*/).includes('oauth-2025-04-20'))
      throw new Refusal(401, 'authentication_error', 'OAuth authentication is currently not supported.');
  }
}

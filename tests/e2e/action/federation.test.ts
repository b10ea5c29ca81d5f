import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ClaudeServer, startClaudeServer } from '../../support/claude-server/server.ts';
import type { FederationRule } from '../../support/claude-server/token-exchange.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { type ActionEnd, runAction } from '../../support/jobs/action-runner.ts';
import { type IdentityServer, startIdentityServer } from '../../support/jobs/identity-server.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const done = { text: 'All done.' };

const RULE: FederationRule = {
  ruleId: 'fdrl_0123',
  organizationId: '11111111-2222-3333-4444-555555555555',
  serviceAccountId: 'svac_0123',
  accepts: (identity) => identity.startsWith('eyJ'),
};
const INPUTS = {
  'federation-rule-id': RULE.ruleId,
  'organization-id': RULE.organizationId,
  'service-account-id': 'svac_0123',
};

type Ended = ActionEnd & { server: ClaudeServer; identities: IdentityServer };

async function run(
  part: {
    rule?: Partial<FederationRule>;
    identityStatus?: number | 'silent';
    interrupt?: 'SIGINT';
    inputs?: Record<string, string>;
    env?: object;
  } = {},
): Promise<Ended> {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const server = await startClaudeServer({ turns: [edit, done], federation: { ...RULE, ...part.rule } });
  const identities = await startIdentityServer(part.identityStatus);
  try {
    const inputs = { plan: 'Do it', 'base-url': server.url, ...INPUTS, ...part.inputs };
    const env = { ...identities.env, ...part.env };
    const during = async ({ pid }: { pid: number }) => {
      if (part.interrupt === undefined) return;
      await identities.asked;
      process.kill(pid, part.interrupt);
    };
    return { ...(await runAction({ workspace: root, inputs, env, during })), server, identities };
  } finally {
    await Promise.all([server.close(), identities.close()]);
  }
}

/** Everything that is kept or shown, but for the commands that tell the runner what to mask. */
function everything({ stdout, stderr, summary, outputs }: Ended): string {
  const kept = ['result.json', 'events.jsonl'].map((name) =>
    readFileSync(join(outputs['run-dir'] ?? '', name), 'utf8'),
  );
  return [...kept, stdout.replace(/^::add-mask::.*\n/gm, ''), stderr, summary, JSON.stringify(outputs)].join(
    '\n',
  );
}

const AUDIENCE = 'https://gateway.example';

test.each(
  sampled(
    [
      ['https://api.anthropic.com', {}],
      [AUDIENCE, { 'oidc-audience': AUDIENCE }],
    ] as const,
    () => 'audience',
    1,
  ),
)(
  'a job logs in with its identity for %s instead of a key, and both tokens are masked and kept nowhere',
  async (wanted, inputs) => {
    const ended = await run({ inputs });
    expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([0, 'done']);
    const { server, identities } = ended;
    const [identity] = identities.given;
    expect(identities.given.map(({ audience }) => audience)).toEqual([wanted]);
    expect(server.exchanges).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: identity?.token,
        federation_rule_id: 'fdrl_0123',
        organization_id: RULE.organizationId,
        service_account_id: 'svac_0123',
      },
    ]);
    const bearer = server.requests.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));
    expect(new Set(bearer).size).toBe(1);
    expect(ended.masks).toEqual([identity?.token, bearer[0]]);
    const all = everything(ended);
    for (const secret of ended.masks) expect(all).not.toContain(secret);
  },
);

testAtNight('a token that ends within the run is exchanged again, with a fresh identity', async () => {
  const ended = await run({ rule: { lifetime: 20 } });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([0, 'done']);
  expect(ended.identities.given).toHaveLength(2);
  expect(new Set(ended.masks).size).toBe(4);
});

testAtNight('an outage of the exchange is asked again, and nothing else is', async () => {
  const ended = await run({ rule: { faults: [503] } });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([0, 'done']);
  expect(ended.server.exchanges).toHaveLength(2);
});

testAtNight('a rule that does not match ends the run with provider_error and what to look at', async () => {
  const ended = await run({ inputs: { 'workspace-id': 'wrkspc_1' } });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([4, 'provider_error']);
  expect(ended.server.exchanges).toHaveLength(1);
  expect(ended.lastLine).toContain('The assertion does not match the rule.');
  expect(ended.lastLine).toContain('Ensure your federation rule matches your identity token.');
});

testAtNight('a runner that gives no identity ends it too', async () => {
  const ended = await run({ identityStatus: 403 });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([4, 'provider_error']);
  expect(ended.lastLine).toContain('The runner did not issue an identity token: status 403.');
});

testAtNight('a cancel ends a login that no one answers', async () => {
  const ended = await run({ identityStatus: 'silent', interrupt: 'SIGINT' });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([130, 'interrupted']);
});

test.each([
  ['a job without the permission', {}, { ACTIONS_ID_TOKEN_REQUEST_URL: '' }, '[ERR_NO_IDENTITY_TOKEN]'],
  ['a rule without its organization', { 'organization-id': '' }, {}, 'a login without a key needs both'],
  ['a key besides', { 'api-key': 'sk-ant-test-0123456789' }, {}, 'give one of them, not both'],
])('%s is a usage_error', async (_, inputs, env, said) => {
  const ended = await run({ inputs, env });
  expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([2, 'usage_error']);
  expect(ended.lastLine).toContain(said);
  expect(ended.server.exchanges).toEqual([]);
});

/** Users, apps, and the state of the rate limit. */

import type { Answer, Call, Handler } from '../call.ts';
import { notFound, Refusal } from '../refusal.ts';
import { showUser } from '../views.ts';

export const accounts: Readonly<Record<string, Handler>> = {
  'users/get-authenticated': whoAmI,
  'users/get-by-username': getUser,
  'apps/get-by-slug': getApp,
  'rate-limit/get': () => ({ status: 200, body: {} }),
};

function whoAmI(call: Call): Answer {
  const { token } = call;
  if (token === null) throw new Refusal(401, 'Requires authentication');
  if (token.kind === 'installation') throw new Refusal(403, 'Resource not accessible by integration');
  return { status: 200, body: { ...showUser(call.world, token.account), user_view_type: 'private' } };
}

function getUser(call: Call): Answer {
  const account = call.world.account(call.params.username ?? '');
  if (account === undefined) throw notFound();
  return { status: 200, body: { ...showUser(call.world, account), user_view_type: 'public' } };
}

function getApp(call: Call): Answer {
  const slug = call.params.app_slug ?? '';
  const bot = call.world.account(`${slug}[bot]`);
  if (bot === undefined) throw notFound();
  const owner = showUser(call.world, bot);
  return { status: 200, body: { id: bot.id, slug, name: slug, owner, events: [], permissions: {} } };
}

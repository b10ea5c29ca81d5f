/** Users. */

import type { Answer, Call, Handler } from '../call.ts';
import { notFound, Refusal } from '../refusal.ts';
import { showUser } from '../views.ts';

export const accounts: Readonly<Record<string, Handler>> = {
  'users/get-authenticated': whoAmI,
  'users/get-by-username': getUser,
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

/** Whose words on GitHub may become a task. */

import * as z from 'zod';
import { AUTHOR_ASSOCIATIONS } from '../../domain/github/author-association.ts';
import { names } from '../values/lists.ts';
import { yesOrNo } from '../values/text.ts';
import { about } from './setting.ts';

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Trust on GitHub. */
export const TRUST_SETTINGS = {
  trustAuthors: names(z.string().trim().toLowerCase().pipe(z.enum(AUTHOR_ASSOCIATIONS, `expected one of ${AUTHOR_ASSOCIATIONS.join(', ')}`)))
    .default(['owner', 'member', 'collaborator']).register(about, {
      flag: 'trust-author', value: AUTHOR_ASSOCIATIONS.join('|'), repeatable: 'commas', group: 'Trust on GitHub', file: 'refused',
      help: 'Author association whose issues and comments may be a task; those of accounts with write access always may',
      defaultHelp: 'owner, member, collaborator' }),
  allowBots: names(z.string().trim().regex(/^[1-9]\d*$/, 'expected the numeric id of a bot, as https://api.github.com/users/NAME%5Bbot%5D shows it'))
    .default([]).register(about, {
      flag: 'allow-bot', value: 'ID', repeatable: 'commas', group: 'Trust on GitHub', file: 'refused', alsoFor: ['prepare'],
      help: 'Numeric id of a bot account that may start runs and write tasks', defaultHelp: 'no bot' }),
  allowUntrustedCheckout: yesOrNo().default(false).register(about, {
    flag: 'allow-untrusted-checkout', group: 'Trust on GitHub', file: 'refused',
    help: 'Work on a checkout of an outsider\'s code even though the event gives the job secrets' }),
};

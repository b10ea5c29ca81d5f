/** All attacks, in the runs that they share. */

import type { Stage } from './attack.ts';
import { FILLED_FOLDER } from './stages/afterwards/filled-folder.ts';
import { HANDED_ON } from './stages/afterwards/handed-on.ts';
import { REVIEWED } from './stages/afterwards/reviewed.ts';
import { COVERED, TOO_MANY, UNCOVERED } from './stages/checkouts/covered.ts';
import { BORROWED, DEVICES, EXCHANGED, SHARED, THROUGH } from './stages/checkouts/mounts.ts';
import { NESTED } from './stages/checkouts/policy-nested.ts';
import { FAKED_IN_CHECKOUT, FAKED_IN_WORK_TREE } from './stages/faked-verification.ts';
import { FILE_STAGES } from './stages/files.ts';
import { FORGED_VERIFICATION } from './stages/forged.ts';
import { GIT, GIT_CROWDED, GIT_DESTROYED, GIT_PLANTED } from './stages/git.ts';
import { CONFIGURED, OBEYED, REDIRECTED } from './stages/incidents.ts';
import { ATTEMPTS } from './stages/jobs/attempts.ts';
import { JOURNALS } from './stages/jobs/journals.ts';
import { NETWORK } from './stages/network.ts';
import { OUTPUT, STREAM } from './stages/output.ts';
import { OWN_WORK } from './stages/own-work.ts';
import { FLAGGED, PROTECTED, WITHHELD } from './stages/policy.ts';
import { DISK, RESOURCES, SURVIVORS } from './stages/processes.ts';
import { REACH } from './stages/reach.ts';
import { REACHED, SHOWN } from './stages/secrets.ts';
import { DURING_VERIFICATION } from './stages/servers/during-verification.ts';
import { SERVERS } from './stages/servers/mcp.ts';
import { WEB } from './stages/servers/web.ts';
import { SETUP_ENV } from './stages/setup-env.ts';
import { TAKEOVER } from './stages/takeover.ts';
import { UPSTREAM } from './stages/upstream.ts';

export const STAGES: readonly Stage[] = [
  ...FILE_STAGES,
  REACH,
  DEVICES,
  BORROWED,
  SHARED,
  THROUGH,
  EXCHANGED,
  REACHED,
  SHOWN,
  SETUP_ENV,
  SERVERS,
  DURING_VERIFICATION,
  WEB,
  NETWORK,
  UPSTREAM,
  SURVIVORS,
  RESOURCES,
  TAKEOVER,
  DISK,
  ...OWN_WORK,
  GIT,
  GIT_DESTROYED,
  GIT_PLANTED,
  GIT_CROWDED,
  COVERED,
  TOO_MANY,
  UNCOVERED,
  FORGED_VERIFICATION,
  FAKED_IN_WORK_TREE,
  FAKED_IN_CHECKOUT,
  PROTECTED,
  NESTED,
  ATTEMPTS,
  JOURNALS,
  FLAGGED,
  WITHHELD,
  REVIEWED,
  OUTPUT,
  STREAM,
  HANDED_ON,
  FILLED_FOLDER,
  CONFIGURED,
  REDIRECTED,
  OBEYED,
];

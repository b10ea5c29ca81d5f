/** All attacks, in the runs that they share. */

import type { Stage } from './attack.ts';
import { FAKED_IN_CHECKOUT, FAKED_IN_WORK_TREE } from './faked-verification.ts';
import { FILE_STAGES } from './files.ts';
import { GIT, GIT_DESTROYED, GIT_PLANTED } from './git.ts';
import { CONFIGURED, OBEYED, REDIRECTED } from './incidents.ts';
import { NETWORK } from './network.ts';
import { OUTPUT, STREAM } from './output.ts';
import { OWN_WORK } from './own-work.ts';
import { FLAGGED, PROTECTED, WITHHELD } from './policy.ts';
import { NESTED } from './policy-nested.ts';
import { DISK, RESOURCES, SURVIVORS } from './processes.ts';
import { REACH } from './reach.ts';
import { REACHED, SHOWN } from './secrets.ts';
import { TAKEOVER } from './takeover.ts';

export const STAGES: readonly Stage[] = [
  ...FILE_STAGES,
  REACH,
  REACHED,
  SHOWN,
  NETWORK,
  SURVIVORS,
  RESOURCES,
  TAKEOVER,
  DISK,
  ...OWN_WORK,
  GIT,
  GIT_DESTROYED,
  GIT_PLANTED,
  FAKED_IN_WORK_TREE,
  FAKED_IN_CHECKOUT,
  PROTECTED,
  NESTED,
  FLAGGED,
  WITHHELD,
  OUTPUT,
  STREAM,
  CONFIGURED,
  REDIRECTED,
  OBEYED,
];

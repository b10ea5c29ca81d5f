/**
 * Keeps the memory of test processes in few and large pages. To start a program Linux copies the tables of all pages that
 * glibc has given out, for every git and every sandbox: in ordinary pages that takes twice as long.
 */

import { env } from 'node:process';

/** For the environment that a test process is started with. */
export const FEW_PAGES = { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1' };

// It has been heeded, and is not for the programs that tests start.
for (const name of Object.keys(FEW_PAGES)) delete env[name];

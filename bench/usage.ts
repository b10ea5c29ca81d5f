/** Loaded into a measured client before its own code: tells at its exit what it has used. Costs the same for all. */

import { readFileSync, writeFileSync } from 'node:fs';

export interface Usage {
  /** Peak resident memory of the process itself, bytes. */
  readonly peakRss: number;
  /** User and system time, of the process and of the children that it waited for. */
  readonly cpuMs: number;
}

process.once('exit', () => {
  const place = process.env.BENCH_USAGE;
  if (place === undefined) return;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The second field is the program's name in brackets; user and system time of the children are fields 16 and 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const childrenMs = (Number(fields[13]) + Number(fields[14])) * 10;
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const usage: Usage = {
    peakRss: maxRSS * 1024,
    cpuMs: (userCPUTime + systemCPUTime) / 1000 + childrenMs,
  };
  writeFileSync(place, JSON.stringify(usage));
});

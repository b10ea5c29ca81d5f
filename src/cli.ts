#!/usr/bin/env node
/** The command line, as it is started. */

import { runCommandLine } from './commands/command-line.ts';
import { startWatchdog } from './host/watchdog.ts';

process.exit(await runCommandLine(process, { startWatchdog }));

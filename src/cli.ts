#!/usr/bin/env node
/** The command line, as it is started. */

import { runCommandLine } from './commands/command-line.ts';

process.exit(await runCommandLine(process));

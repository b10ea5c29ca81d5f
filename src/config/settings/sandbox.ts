/** What a run may use up and change, and what its commands can see and reach. */

import * as z from 'zod';
import { PACKAGE_MANAGERS } from '../../domain/packages.ts';
import { AllowedDomain, AllowedPrivate, Service } from '../../domain/review/reachable.ts';
import { DEFAULT_CHANGE_LIMITS, DEFAULT_COMMAND_LIMITS } from '../../domain/run/limits.ts';
import { duration, size, usd, wholeNumber } from '../values/amounts.ts';
import { texts } from '../values/lists.ts';
import { choice, pathEntry } from '../values/text.ts';
import { setting } from './setting.ts';

const OURS =
  /^(?:PATH|HOME|TMPDIR|TERM|USER|ENV|BASH_\w*|IFS|LD_\w*|GIT_\w*|PATCHSMITH_\w*|SANDBOX_\w*|PERL\w*|\w*_PROXY|npm_config_(?:https?_)?proxy)$/i;

/** A variable of the environment that does not decide how commands are contained, or which programs they find. */
const SetupVariable = z
  .string()
  .trim()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, such as NPM_TOKEN')
  .refine((name) => !OURS.test(name), 'the sandbox decides about this variable');

const LEVELS = ['namespaces', 'namespaces-lite', 'landlock'] as const;
const SANDBOXES = ['required', 'auto', 'off'] as const;

/** How commands are contained here and now, whichever run they belong to. */
const HERE_AND_NOW = ['resume', 'replay', 'doctor'] as const;

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Sandbox and limits of commands. */
export const SANDBOX_SETTINGS = {
  sandbox: setting(() => choice(SANDBOXES), 'auto', {
    flag: 'sandbox', value: SANDBOXES.join('|'), group: 'Sandbox and limits of commands', file: 'set', alsoFor: HERE_AND_NOW,
    help: 'Contain commands: always (otherwise the run does not start), if available, or not at all',
    defaultHelp: 'required when CI or GITHUB_ACTIONS is set, else auto' }),
  sandboxLevel: setting(() => choice(LEVELS), 'landlock', {
    flag: 'sandbox-level', value: LEVELS.join('|'), group: 'Sandbox and limits of commands', file: 'set', alsoFor: HERE_AND_NOW,
    help: 'Least sandbox that counts as one: namespaces; namespaces-lite, in which commands can list the processes outside; or landlock, which hides no names' }),
  mounts: setting(() => texts(pathEntry()), [], {
    flag: 'mount', value: 'PATH[:rw]', repeatable: true, group: 'Sandbox and limits of commands', file: 'refused', alsoFor: HERE_AND_NOW,
    help: 'Additional file or folder that commands can see, read-only unless it ends with :rw' , defaultHelp: 'only the toolchains on PATH' }),
  caches: setting(() => texts(z.enum([...PACKAGE_MANAGERS, 'auto'], `expected one of ${[...PACKAGE_MANAGERS, 'auto'].join(', ')}`)), [], {
    flag: 'cache', value: 'NAME', repeatable: true, group: 'Sandbox and limits of commands', file: 'refused', alsoFor: HERE_AND_NOW,
    help: `Package manager whose cache on this machine commands may use, under a writable layer of the run: ${PACKAGE_MANAGERS.join(', ')}, or auto for those whose lock files the repository has`,
    defaultHelp: 'none' }),
  allowedDomains: setting(() => texts(AllowedDomain, 0), [], {
    flag: 'allow-domain', value: 'DOMAIN', repeatable: true, group: 'Sandbox and limits of commands', file: 'narrow', alsoFor: ['resume', 'replay'],
    help: 'Host that commands may reach over HTTP and HTTPS, such as registry.npmjs.org, *.example.com, example.com:8443',
    defaultHelp: 'no network' }),
  allowedPrivate: setting(() => texts(AllowedPrivate, 0), [], {
    flag: 'allow-private', value: 'HOST[:PORT]', repeatable: true, group: 'Sandbox and limits of commands', file: 'narrow', alsoFor: ['resume', 'replay'],
    help: 'Host in a private network that commands may reach, such as nexus.corp.example or registry:4873',
    defaultHelp: 'none' }),
  services: setting(() => texts(Service, 0), [], {
    flag: 'service', value: 'NAME=HOST:PORT', repeatable: true, group: 'Sandbox and limits of commands', file: 'narrow', alsoFor: ['resume', 'replay'],
    help: 'Service that commands may reach as NAME:PORT and localhost:PORT, such as postgres=localhost:5432',
    defaultHelp: 'none' }),
  setupEnv: setting(() => texts(SetupVariable), [], {
    flag: 'setup-env', value: 'NAME', repeatable: true, group: 'Sandbox and limits of commands', file: 'refused',
    help: "Variable that only setup commands get, such as one with a registry's token",
    defaultHelp: 'none' }),
  commandTimeoutMs: setting(duration, 60_000, {
    flag: 'command-timeout', value: 'TIME', group: 'Sandbox and limits of commands', file: 'set',
    help: 'Time limit for a command of the model that does not set one' }),
  maxCommandTimeoutMs: setting(duration, 600_000, {
    flag: 'max-command-timeout', value: 'TIME', group: 'Sandbox and limits of commands', file: 'set',
    help: 'Longest time limit that a command of the model can set' }),
  verifyTimeoutMs: setting(duration, 600_000, {
    flag: 'verify-timeout', value: 'TIME', group: 'Sandbox and limits of commands', file: 'set',
    help: 'Time limit for each verify or setup command' }),
  maxProcesses: setting(() => wholeNumber(1), DEFAULT_COMMAND_LIMITS.maxProcesses, {
    flag: 'max-processes', value: 'N', group: 'Sandbox and limits of commands', file: 'lower', alsoFor: HERE_AND_NOW,
    help: 'Maximum processes and threads of one command; beyond it, the command is killed' }),
  maxMemoryBytes: setting(() => size().nullable(), DEFAULT_COMMAND_LIMITS.maxMemoryBytes, {
    flag: 'max-memory', value: 'SIZE', group: 'Sandbox and limits of commands', file: 'refused', alsoFor: HERE_AND_NOW,
    help: 'Maximum memory of all running commands together; beyond it, the largest is killed',
    defaultHelp: "three quarters of the machine's or container's" }),
  maxFileBytes: setting(size, DEFAULT_COMMAND_LIMITS.maxFileBytes, {
    flag: 'max-file-size', value: 'SIZE', group: 'Sandbox and limits of commands', file: 'lower', alsoFor: HERE_AND_NOW,
    help: 'Largest file that a command can write' }),
  maxDiskBytes: setting(size, DEFAULT_COMMAND_LIMITS.maxDiskBytes, {
    flag: 'max-disk', value: 'SIZE', group: 'Sandbox and limits of commands', file: 'lower', alsoFor: HERE_AND_NOW,
    help: 'How much free disk space the run may use, including what the runner stores; beyond it, commands that write are killed and the run ends' }),
};

// biome-ignore format: one setting reads best as one row
/** The settings under the heading Limits. */
export const LIMIT_SETTINGS = {
  maxIterations: setting(() => wholeNumber(1), 25, {
    flag: 'max-iterations', value: 'N', group: 'Limits', file: 'lower', alsoFor: ['resume'], help: 'Maximum number of model turns' }),
  maxTotalTokens: setting(() => wholeNumber(1), null, {
    flag: 'max-total-tokens', value: 'N', group: 'Limits', file: 'lower', alsoFor: ['resume'],
    help: 'Maximum tokens of the whole run: input, output and cached together', defaultHelp: 'no limit' }),
  maxCostUsd: setting(usd, null, {
    flag: 'max-cost-usd', value: 'USD', group: 'Limits', file: 'lower', alsoFor: ['resume'],
    help: 'Maximum cost of the whole run', defaultHelp: 'no limit' }),
  deadlineMs: setting(duration, 1_800_000, {
    flag: 'deadline', value: 'TIME', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay', 'prepare', 'publish'],
    help: 'Wall clock for the whole run, such as 90s, 30m, 1h; plain numbers are seconds' }),
  maxChangedFiles: setting(() => wholeNumber(1), DEFAULT_CHANGE_LIMITS.maxChangedFiles, {
    flag: 'max-changed-files', value: 'N', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay'],
    help: 'Maximum number of files a run may change; beyond it, the run ends with a patch of what fits. One folder may have five times as many entries, or 100,000 if that is more' }),
  maxChangedBytes: setting(size, DEFAULT_CHANGE_LIMITS.maxChangedBytes, {
    flag: 'max-changed-size', value: 'SIZE', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay'],
    help: 'Maximum bytes of changed files that a run records, counting every version of a file' }),
  maxChangedFileBytes: setting(size, DEFAULT_CHANGE_LIMITS.maxChangedFileBytes, {
    flag: 'max-changed-file-size', value: 'SIZE', group: 'Limits', file: 'lower', alsoFor: ['resume', 'replay'],
    help: 'Largest changed file; a larger one, sparse or not, is not read' }),
  fixRounds: setting(() => wholeNumber(0), 3, {
    flag: 'fix-rounds', value: 'N', group: 'Limits', file: 'set', alsoFor: ['resume'],
    help: 'How often the model may try to fix a failed verify command' }),
  maxToolOutput: setting(() => wholeNumber(1_000), 40_000, {
    flag: 'max-tool-output', value: 'N', group: 'Limits', file: 'set', alsoFor: ['resume'],
    help: 'Maximum characters of a tool result that the model sees, at least 1000' }),
  maxPrinciplesBytes: setting(() => wholeNumber(0), 65_536, {
    flag: 'max-principles-bytes', value: 'N', group: 'Limits', file: 'lower',
    help: 'Maximum bytes of all principles together' }),
};

/** What every run has throughout: id, redaction, progress, deadline, run directory, result. */

import { join } from 'node:path';
import { createEventStream, createEventTeller } from '../adapters/sinks/journal.ts';
import { Progress } from '../adapters/sinks/progress/progress.ts';
import {
  clearScratch,
  isThere,
  makeRunDirectory,
  newRunId,
  type RunDirectory,
  removeReport,
  writeResult,
} from '../adapters/storage/run-directory.ts';
import { lockRun, lockWorkTree, runIsBusy, treeIsBusy } from '../adapters/storage/run-lock.ts';
import { notePlace } from '../adapters/storage/run-places.ts';
import { callsOf } from '../domain/journal/recorded-changes.ts';
import { ReportEvents } from '../domain/report/report-page.ts';
import type { Interruption, Limits } from '../domain/run/limits.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { knownSecretFinder, type Redact, redactorFor, secretsAmong } from '../domain/secrets/redact.ts';
import type { FindKnown } from '../domain/secrets/secret-scan.ts';
import { jsonDocument } from '../domain/text/terminal.ts';
import type { WarningCode } from '../domain/warnings/registry.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import type { Checkout } from '../git/checkout-layout.ts';
import type { EventSink } from '../ports.ts';
import { emptyResult } from './finish/empty-result.ts';
import { endSuddenly } from './finish/sudden-end.ts';
import { EgressRecord } from './open/egress-record.ts';
import type { RecordedRun } from './resumed/recorded-run.ts';
import type { RunInput } from './run-input.ts';
import { limitsOf, openTimes, type RunTimes } from './run-limits.ts';

/** What a run needs before its loop, in the order in which it is checked. */
export const OPENING_STAGES = [
  'work tree',
  'plan',
  'principles',
  'model',
  'sandbox',
  'setup',
  'verify',
] as const;
/** One of `OPENING_STAGES`. */
export type OpeningStage = (typeof OPENING_STAGES)[number];

/** A run that is resumed. */
export interface EarlierPart {
  readonly run: RecordedRun;
  /** Milliseconds it has worked so far. */
  readonly spentMs: number;
  readonly warnings: readonly string[];
}

/** What lives as long as one run of the process: identity, clock, interrupt, progress and secrets. */
export class Session {
  readonly input: RunInput;
  readonly runId: string;
  readonly startedAt: number;
  readonly redact: Redact;
  readonly findKnown: FindKnown;
  /** The hosts that this process asked for. */
  readonly asked = new EgressRecord();
  readonly progress: Progress;
  /** The events of this process, as the report shows them. */
  readonly reported: ReportEvents;
  /** The run had begun before this process. */
  readonly isResumed: boolean;
  readonly times: RunTimes;
  readonly limits: Limits;
  result: RunResult;
  directory: RunDirectory | null = null;
  /** Of the checkout; null before it was found. */
  root: string | null = null;
  /** The current stage of opening the run. */
  stage: OpeningStage = 'work tree';
  /** The command that resumes the run from where it stopped, or null. */
  nextCommand: string | null = null;
  /** The page of this run was written. */
  hasReport = false;
  /** Hard links out of writable mounts, by their paths, with their ctimes in ns before the first command. */
  mountedLinks: ReadonlyMap<string, bigint> = new Map();
  /** Readers of the event stream and of the result; those that need a run directory are added later. */
  sinks: readonly EventSink[];
  readonly #spentMs: number;
  readonly #locks: (() => void)[] = [];
  /** There is a result in the directory. */
  #isKept = false;
  /** Before the loop nothing is spent, or only the journal of the earlier part says what. */
  #soFar: () => Partial<RunResult> = () => ({ costUsd: 'unknown' });

  /** `earlier` is null for a new run. */
  constructor(input: RunInput, earlier: EarlierPart | null = null) {
    const { settings, now, stdout, stderr } = input;
    this.input = input;
    this.startedAt = now();
    this.#spentMs = earlier?.spentMs ?? 0;
    const [start, ...more] = earlier?.run.events ?? [];
    this.runId = start?.runId ?? input.attempt?.runId ?? newRunId(this.startedAt);
    const secrets = secretsOf(input);
    this.redact = redactorFor(secrets);
    this.findKnown = knownSecretFinder(secrets);
    this.reported = new ReportEvents(this.redact);
    this.isResumed = earlier !== null;
    // Events on stdout would be printed into the view.
    const hasView = settings.output !== 'jsonl';
    this.progress = new Progress({
      stderr,
      terminal: hasView ? (input.terminal ?? null) : null,
      hasColors: input.hasColors ?? false,
      clock: now,
      redact: this.redact,
      quiet: settings.quiet,
      verbose: settings.verbose,
      verifyBaseline: start?.verifyBaseline ?? null,
      calls: callsOf(more),
    });
    const warnings = [...(earlier?.warnings ?? [])];
    this.result = { ...emptyResult(this.runId, input.version), warnings };
    this.limits = start?.limits ?? limitsOf(settings);
    const leftMs = this.limits.deadlineMs - this.#spentMs;
    this.times = openTimes(input, { leftMs, isResumed: this.isResumed });
    this.sinks = [
      ...(settings.output === 'jsonl' ? [createEventStream(stdout, this.redact)] : []),
      ...(input.onEvent === undefined ? [] : [createEventTeller(input.onEvent, this.redact)]),
    ];
    for (const note of input.startNotes) this.warnOf(note);
    this.interrupt.addEventListener('abort', () => {
      if (this.result.status !== 'finished') this.progress.note(stopping(this.interrupt.reason));
    });
  }

  /** Absolute path of the folder in which commands start; null before the checkout was found. */
  get folder(): string | null {
    return this.root === null ? null : join(this.root, this.result.workingDirectory ?? '');
  }

  /** Aborted by a signal or the deadline. */
  get interrupt(): AbortSignal {
    return this.times.interrupt;
  }

  /** Null when the folder was created, otherwise the reason. `workTree` is null when there is no checkout. */
  async makeDirectory(workTree: string | null): Promise<string | null> {
    const { settings, cwd, env } = this.input;
    const { isCheck = false } = this.input;
    const made = makeRunDirectory({
      runId: this.runId,
      isCheck,
      chosen: settings.runDir,
      cwd,
      env,
      workTree,
    });
    if (made.status === 'failed') return made.message;
    const letGo = await lockRun(made.directory.path);
    if (letGo === null) return runIsBusy(made.directory.path);
    this.#locks.push(letGo);
    this.directory = made.directory;
    if (settings.runDir !== null && this.input.attempt === undefined && !isCheck)
      notePlace({ runId: this.runId, path: made.directory.path, env, workTree });
    this.printName(made.directory);
    this.recordAndSave({});
    this.input.watcher?.onDirectory(made.directory);
    return null;
  }

  /** Keeps other runs out of the work tree until the end. Null when that is done, else why it cannot be. */
  async takeWorkTree({ root, gitDir }: Pick<Checkout, 'root' | 'gitDir'>): Promise<string | null> {
    // Messages about an attempt name the work tree that its copy represents.
    this.root = this.input.attempt?.root ?? root;
    this.record({ root: this.root });
    if (this.input.holdsWorkTree === true) return null;
    const letGo = await lockWorkTree({ root, gitDir });
    if (letGo === null) return treeIsBusy(root);
    this.#locks.push(letGo);
    return null;
  }

  /** Printed before anything else, so that people can find a run that was killed. */
  printName({ path }: RunDirectory): void {
    // The end of a check says what it keeps.
    if (this.input.isCheck !== true) this.progress.note(`run ${this.runId} in ${path}`);
  }

  /** True when the run directory has been removed or moved away. */
  hasLostDirectory(): boolean {
    return this.directory !== null && !isThere(this.directory);
  }

  /** Adds to the result and writes it, so that everything known so far survives if the run dies. */
  recordAndSave(part: Partial<RunResult>): void {
    this.record(part);
    this.writeResult();
  }

  /** Adds to the result, to be written together with the next part that is saved. */
  record(part: Partial<RunResult>): void {
    this.result = { ...this.result, ...part };
  }

  /** Throws what the file system throws. */
  writeResult(): void {
    if (this.directory === null) return;
    writeResult(this.directory, jsonDocument(this.result, this.redact));
    // The report of an earlier end is no longer valid.
    if (!this.#isKept) removeReport(this.directory);
    if (!this.#isKept) this.input.onSuddenEnd?.((outcome) => endSuddenly(this, this.#soFar, outcome));
    this.#isKept = true;
  }

  /** `soFar` returns the result as if the run ended now. It is called when the process is about to end at once. */
  follow(soFar: () => Partial<RunResult>): void {
    this.#soFar = soFar;
  }

  /** Prints a warning at once and adds it to the result, once. */
  warn(code: WarningCode, text: string): void {
    this.warnOf(warning(code, text));
  }

  /** The same for a warning from elsewhere. */
  warnOf(warning: Warning): void {
    this.progress.warn(warning);
    if (this.result.warnings.includes(warning)) return;
    this.record({ warnings: [...this.result.warnings, warning] });
  }

  /** Stops the clock and cleans up. */
  end(): void {
    this.times.stopClock();
    const left = this.directory ? clearScratch(this.directory) : null;
    if (left !== null) this.warn('WARN_LEFT_BEHIND', left);
  }

  /** Lets other processes into the run directory. Before its result is written they would take the run for dead. */
  letGo(): void {
    for (const letGo of this.#locks.splice(0)) letGo();
  }

  /** Puts the outcome into the result. */
  decide(outcome: RunOutcome): void {
    const totalMs = this.#spentMs + this.input.now() - this.startedAt;
    const { name, exitCode, reason: said, errorCode } = outcome;
    const reason = this.redact(said);
    const durations = { ...this.result.durations, totalMs };
    this.record({ status: 'finished', outcome: name, exitCode, reason, errorCode, durations });
  }
}

/** Printed at once, since storing what a run keeps takes some seconds. */
function stopping(interruption: Interruption): string {
  return interruption.cause === 'deadline'
    ? 'The time is up: keeping the work so far …'
    : `${interruption.signal}: keeping the work so far … (send it again to stop immediately)`;
}

/** Keys, secret variables, the token of the job, credentials left for git, and secrets of MCP servers. */
function secretsOf({ settings, env, trust, servers, apiKey, otherKeys }: RunInput): string[] {
  const known = [...secretsAmong(env), ...settings.setupEnv.flatMap((name) => env[name] ?? [])];
  const { token = null, credentials } = trust ?? {};
  const left = [...(token === null ? [] : [token]), ...(credentials?.secrets ?? [])];
  const ofServers = Object.values(servers ?? {}).flatMap((server) => server.secrets);
  const keys = [apiKey ?? [], Object.values(otherKeys ?? {})].flat();
  return [...keys, ...known, ...left, ...ofServers];
}

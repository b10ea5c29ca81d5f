/** The whole action: inputs in; outputs, summary and exit code out. The process is an argument. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { machineFault } from '../domain/errors/thrown.ts';
import { internalError, type RunOutcome, refusedFor } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { oneLine } from '../domain/text/terminal.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import type { HostContext } from '../host/context.ts';
import { checkFdLimit, type HostProcess, openHostProcess } from '../host/process.ts';
import { type StartWatchdog, startWatchdog } from '../host/watchdog.ts';
import { annotationLine, annotationsOf, stepSummary } from '../texts/step.ts';
import { carryOut, contextWith, passedOver, type TokenRequest, tokenRequest } from './modes.ts';
import { reportKilledStep } from './post-step.ts';
import { type InputsGiven, readInputs } from './read-inputs.ts';
import { isSetupDue, setUpSandbox, THIS_MACHINE } from './sandbox-setup.ts';
import { ActionStep, addToSummary, type RunnerFiles, runnerFiles, STATE } from './step.ts';

const NO_IDENTITY = problem(
  'ERR_NO_IDENTITY_TOKEN',
  'federation-rule-id: this job may not ask for an identity token; give it permissions: id-token: write',
);

/**
 * Carries out a step of the action, and returns its exit code. The secrets are removed from the process's environment. The
 * process exits by itself if something breaks. `isWatched` is for a real process: a watchdog ends it if it is stuck.
 */
export async function runAction(
  host: NodeJS.Process,
  step: 'main' | 'post',
  isWatched = false,
): Promise<number> {
  const action = new Action(host, step, isWatched ? startWatchdog : undefined);
  return await action[step]().catch((error) => action.crash(error));
}

/** The run to be published, if there is one: it exists even if the mode is misspelt. */
function runOf(runDir: string | null, { cwd }: HostContext): string | null {
  return runDir !== null && existsSync(resolve(cwd, runDir, 'result.json')) ? runDir : null;
}

class Action {
  readonly #host: NodeJS.Process;
  readonly #files: RunnerFiles;
  readonly #step: ActionStep;
  readonly #process: HostProcess;

  constructor(host: NodeJS.Process, step: 'main' | 'post', startWatchdog?: StartWatchdog) {
    this.#host = host;
    this.#files = runnerFiles(host.env);
    this.#step = new ActionStep(this.#files, (line) => void host.stderr.write(`${line}\n`));
    this.#process = openHostProcess(
      host,
      step === 'post'
        ? {}
        : {
            onInterrupt: (interruption) => this.#step.onInterrupt(interruption),
            onCrash: (outcome) => this.#tellCrash(outcome),
            startWatchdog,
          },
    );
  }

  get #context(): HostContext {
    return this.#process.context;
  }

  crash(error: unknown): never {
    return this.#process.crash(error);
  }

  async main(): Promise<number> {
    this.#step.begin();
    this.#process.guard();
    const inputs = readInputs(this.#context.env);
    for (const secret of [inputs.apiKey, inputs.githubToken]) if (secret !== null) this.#mask(secret);
    for (const message of [...inputs.warnings, ...passedOver(inputs, this.#context.env)]) this.#warn(message);
    const obstacle = checkFdLimit();
    if (obstacle !== null) return this.#tell(internalError('ERR_FEW_DESCRIPTORS', obstacle));
    const identity = inputs.federation === null ? null : tokenRequest(this.#context.env);
    const lacking = inputs.federation !== null && identity === null ? [NO_IDENTITY] : [];
    const problems = [...inputs.problems, ...lacking];
    if (problems.length > 0) return this.#refuseInputs(inputs, problems);
    const startNotes = await this.#setUpSandbox(inputs);
    const end = await carryOut(inputs, { ...this.#contextWith(inputs, identity), startNotes }, this.#step);
    switch (end.status) {
      case 'refused':
        await this.#explain(inputs, end.problems);
        return this.#refuse(end.problems);
      case 'printed':
        // A run of another job was annotated by that job.
        return this.#conclude(end.outcome, inputs.mode === 'publish' ? null : this.#step.result);
      case 'stopped':
        return this.#tell(end.outcome);
    }
  }

  /** Does nothing if the step ended by itself. */
  async post(): Promise<number> {
    if (this.#context.env[`STATE_${STATE.ended}`] === 'true') return 0;
    const { lines, summary } = await reportKilledStep({
      runDir: this.#context.env[`STATE_${STATE.runDir}`] ?? null,
      wasPublishing: this.#context.env[`STATE_${STATE.publishing}`] === 'true',
    });
    for (const line of lines) this.#host.stderr.write(`${this.#context.redact(line)}\n`);
    addToSummary(this.#files, this.#context.redact(summary));
    return 0;
  }

  /** Why that failed, if it did. The run continues: it finds out for itself whether commands are contained. */
  async #setUpSandbox(inputs: InputsGiven): Promise<Warning[]> {
    if (!isSetupDue(inputs, this.#context.env)) return [];
    let hasSpoken = false;
    const say = (line: string) => {
      if (!hasSpoken) this.#step.openGroup('patchsmith sandbox setup');
      hasSpoken = true;
      this.#host.stderr.write(`${oneLine(this.#context.redact(line), 2_000)}\n`);
    };
    const failed = await setUpSandbox({ machine: THIS_MACHINE, signal: this.#context.interrupt, say });
    this.#step.closeGroup();
    return failed === null ? [] : [warning('WARN_SANDBOX_NOT_SET_UP', failed)];
  }

  #contextWith(inputs: InputsGiven, identity: TokenRequest | null): HostContext {
    const mask = (secret: string) => this.#mask(secret);
    return contextWith(this.#context, inputs, { identity, mask, step: this.#step });
  }

  /** From here on the runner replaces each line of it by ***. */
  #mask(secret: string): void {
    this.#context.hide(secret);
    for (const line of secret.split(/\r\n|\n|\r/))
      if (line.trim() !== '') this.#host.stdout.write(`::add-mask::${line.replaceAll('%', '%25')}\n`);
  }

  /** A job that publishes the run finds out from its directory which input is wrong, and says so on the issue. */
  async #refuseInputs(inputs: InputsGiven, problems: readonly Problem[]): Promise<number> {
    const { mode, flags } = inputs;
    await this.#explain(inputs, problems);
    if (mode === 'run' || mode === 'run-and-publish') {
      const { keepRefusal } = await import('../commands/refused-run.ts');
      await keepRefusal({ ...this.#context, isStep: true, watcher: this.#step }, flags.run ?? {}, problems);
    }
    return this.#refuse(problems);
  }

  /** Reports problems on the issue where people wait for the result, not only in the log. */
  async #explain(inputs: InputsGiven, problems: readonly Problem[]): Promise<void> {
    const { mode, flags, runDir } = inputs;
    const given = flags.prepare ?? flags.publish;
    if (given === undefined) return;
    const run = mode === 'publish' ? (runDir ?? '') : runOf(runDir, this.#context);
    const { explainWrongInputs } = await import('../commands/publish/issue/issue-of-work.ts');
    const context = this.#contextWith(inputs, null);
    const publication = await explainWrongInputs(context, { flags: given, run, problems });
    if (publication !== null) this.#step.onPublication(publication);
  }

  /** Nothing has been done. In the summary and the annotation, the problems are the reason. */
  #refuse(problems: readonly Problem[]): number {
    const outcome = this.#process.refusal(problems);
    return this.#tell(outcome, refusedFor(problems).reason);
  }

  /** Prints an outcome that no command has printed. */
  #tell(outcome: RunOutcome, reason = outcome.reason): number {
    const exitCode = this.#conclude({ ...outcome, reason });
    this.#process.printLast(outcome);
    return exitCode;
  }

  /** `annotated` is the run whose files get annotations; null for none. */
  #conclude(outcome: RunOutcome, annotated = this.#step.result): number {
    const { result, publication } = this.#step;
    const redacted = { ...outcome, reason: this.#context.redact(outcome.reason) };
    this.#annotate(annotated, redacted);
    const pullRequest = publication?.pullRequest ?? null;
    this.#step.end(
      outcome,
      stepSummary(result, { outcome: redacted, pullRequest, warnings: publication?.warnings ?? [] }),
    );
    return outcome.exitCode;
  }

  #annotate(result: RunResult | null, outcome: RunOutcome): void {
    for (const annotation of annotationsOf(result, outcome))
      this.#host.stdout.write(`${annotationLine(annotation)}\n`);
  }

  #warn(message: Warning): void {
    const annotation = { level: 'warning', title: 'Input', message, file: null, line: null } as const;
    this.#host.stdout.write(`${annotationLine(annotation)}\n`);
  }

  #tellCrash(outcome: RunOutcome): void {
    this.#annotate(null, outcome);
    try {
      this.#step.end(outcome, stepSummary(this.#step.result, { outcome, pullRequest: null, warnings: [] }));
    } catch (error) {
      // The disk that made the run fail is often the one with the runner's files.
      if (machineFault(error) === null) throw error;
    }
  }
}

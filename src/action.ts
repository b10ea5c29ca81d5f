/**
 * The GitHub Action: inputs in; outputs, summary and exit code out. With `post` as its argument it is the post step, which
 * says what is left of a run whose step was killed.
 */

import { Readable, Writable } from 'node:stream';
import { type FederationGiven, type InputsGiven, readInputs, withoutInputs } from './action/inputs.ts';
import { carryOut } from './action/modes.ts';
import { reportKilledStep } from './action/post-step.ts';
import { addToSummary, runnerFiles } from './action/runner/file-commands.ts';
import { requestIdentityToken, type TokenRequest, tokenRequest } from './action/runner/identity-token.ts';
import { ActionStep, STATE } from './action/step.ts';
import { fetchByEnvironment } from './adapters/network/machine-proxy.ts';
import { machineFault } from './domain/run/machine-fault.ts';
import { internalError, type RunOutcome } from './domain/run/outcome.ts';
import type { RunResult } from './domain/run/result.ts';
import type { HostContext } from './host/context.ts';
import { checkFdLimit } from './host/fd-limit.ts';
import { openHostProcess } from './host/process.ts';
import type { Federation } from './ports.ts';
import { annotationLine, annotationsOf } from './texts/annotations.ts';
import { stepSummary } from './texts/step-summary.ts';

const NO_IDENTITY =
  'federation-rule-id: this job may not ask for an identity token; give it permissions: id-token: write';
const isPost = process.argv[2] === 'post';
const files = runnerFiles(process.env);
const step = new ActionStep(files, (line) => void process.stderr.write(`${line}\n`));
const { edge, printLast, refusal, crash } = openHostProcess(
  process,
  isPost ? {} : { onInterrupt: (interruption) => step.onInterrupt(interruption), onCrash: tellCrash },
);

await (isPost ? post() : main()).then((exitCode) => process.exit(exitCode), crash);

async function main(): Promise<number> {
  step.begin();
  const inputs = readInputs(edge.env);
  for (const secret of [inputs.apiKey, inputs.githubToken]) if (secret !== null) mask(secret);
  const obstacle = checkFdLimit();
  if (obstacle !== null) return tell(internalError(obstacle));
  const identity = inputs.federation === null ? null : tokenRequest(edge.env);
  const lacking = inputs.federation !== null && identity === null ? [NO_IDENTITY] : [];
  const problems = [...inputs.problems, ...lacking];
  if (problems.length > 0) return refuse(problems);
  const end = await carryOut(inputs, edgeWith(inputs, identity), step);
  switch (end.status) {
    case 'refused':
      return refuse(end.problems);
    case 'told':
      // What a run of another job has met is told at its lines by that job.
      return conclude(end.outcome, inputs.mode === 'publish' ? null : step.result);
    case 'decided':
      return tell(end.outcome);
  }
}

/** Nothing where the step came to its end. */
async function post(): Promise<number> {
  if (edge.env[`STATE_${STATE.ended}`] === 'true') return 0;
  const { lines, summary } = await reportKilledStep({
    runDir: edge.env[`STATE_${STATE.runDir}`] ?? null,
    wasPublishing: edge.env[`STATE_${STATE.publishing}`] === 'true',
  });
  for (const line of lines) process.stderr.write(`${edge.redact(line)}\n`);
  addToSummary(files, edge.redact(summary));
  return 0;
}

/** The process as a command sees it that is told by inputs what others are told by flags and variables. */
function edgeWith(
  { plan, apiKey, githubToken, federation, flags }: InputsGiven,
  identity: TokenRequest | null,
): HostContext {
  if (plan !== null && flags.run) flags.run.plan = '-';
  return {
    ...edge,
    env: {
      ...withoutInputs(edge.env),
      ...(apiKey === null ? {} : { ANTHROPIC_API_KEY: apiKey }),
      ...(githubToken === null ? {} : { GITHUB_TOKEN: githubToken }),
    },
    isStep: true,
    cwd: edge.env.GITHUB_WORKSPACE || edge.cwd,
    stdin: plan === null ? edge.stdin : Readable.from([plan]),
    // Whatever stands on stdout is in the log, where it can be taken for commands of the runner.
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    watcher: step,
    onPublication: (publication) => step.onPublication(publication),
    ...(federation === null || identity === null ? {} : { federation: loginOf(federation, identity) }),
  };
}

function loginOf({ audience, ...rule }: FederationGiven, identity: TokenRequest): Federation {
  return {
    ...rule,
    async identityToken(signal) {
      const answer = await requestIdentityToken({
        ...identity,
        audience,
        signal,
        fetch: await fetchByEnvironment(edge.env),
      });
      if (answer.status === 'ok') mask(answer.token);
      return answer;
    },
    onAccessToken: mask,
  };
}

/** A runner shows *** in place of each line of it from here on. */
function mask(secret: string): void {
  edge.hide(secret);
  for (const line of secret.split(/\r\n|\n|\r/))
    if (line.trim() !== '') process.stdout.write(`::add-mask::${line.replaceAll('%', '%25')}\n`);
}

/** Nothing has been done. In the summary and the annotation, the problems are the reason. */
function refuse(problems: readonly string[]): number {
  const outcome = refusal(problems);
  return tell(outcome, problems.join('; '));
}

/** An outcome that no command has told. */
function tell(outcome: RunOutcome, reason = outcome.reason): number {
  const exitCode = conclude({ ...outcome, reason });
  printLast(outcome);
  return exitCode;
}

/** `annotated` is the run whose places are told; null for none. */
function conclude(outcome: RunOutcome, annotated = step.result): number {
  const { result, publication } = step;
  const told = { ...outcome, reason: edge.redact(outcome.reason) };
  annotate(annotated, told);
  const pullRequest = publication?.pullRequest ?? null;
  step.end(
    outcome,
    stepSummary(result, { outcome: told, pullRequest, warnings: publication?.warnings ?? [] }),
  );
  return outcome.exitCode;
}

function annotate(result: RunResult | null, outcome: RunOutcome): void {
  for (const annotation of annotationsOf(result, outcome))
    process.stdout.write(`${annotationLine(annotation)}\n`);
}

function tellCrash(outcome: RunOutcome): void {
  annotate(null, outcome);
  try {
    step.end(outcome, stepSummary(step.result, { outcome, pullRequest: null, warnings: [] }));
  } catch (error) {
    // The disk that the run has broken on is often that of the runner's files.
    if (machineFault(error) === null) throw error;
  }
}

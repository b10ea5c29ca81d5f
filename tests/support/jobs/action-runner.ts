/**
 * Runs the action as a GitHub runner does: inputs as variables, files for what it tells, and a post step. It is the built one
 * in a process of its own where that makes a difference (signals, another node, another user, another place).
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'yaml';
import { temporaryFolder } from '../files/repository.ts';
import { actionHere } from '../runs/in-process.ts';
import { holdingEvents } from '../runs/valid-events.ts';
import { PATIENCE_MS } from '../waiting/patience.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

interface Manifest {
  readonly inputs: Readonly<Record<string, { default: string }>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly runs: { readonly main: string; readonly post: string };
}

export const MANIFEST: Manifest = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'));

export interface ActionRun {
  /** The checkout, which is the working directory of the step. */
  readonly workspace: string;
  readonly inputs?: Readonly<Record<string, string>>;
  /** Variables of the job, besides those that the runner sets. */
  readonly env?: Readonly<Record<string, string>>;
  /** The payload of the event. */
  readonly event?: unknown;
  /** Called with the running main step, to send it signals. */
  readonly during?: (run: {
    pid: number;
    temp: string;
    outputs: () => Record<string, string>;
  }) => Promise<void>;
  /** The token of the job, which inputs have by default. */
  readonly token?: string;
  /** Another node than the one that runs the tests. */
  readonly node?: string;
  /** A command line that the step's own is added to, which it ends by becoming. */
  readonly wrap?: readonly string[];
  /** Another folder of the action than this checkout. */
  readonly action?: string;
  /** In a process of its own. */
  readonly built?: boolean;
}

export interface StepEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly lastLine: string;
  /** As the runner reads them when the step has ended, however it has. */
  readonly outputs: Record<string, string>;
  readonly state: Record<string, string>;
  readonly summary: string;
  /** What the log shows masked from then on. */
  readonly masks: readonly string[];
}

export interface ActionEnd extends StepEnd {
  readonly post: StepEnd;
  /** RUNNER_TEMP. */
  readonly temp: string;
}

/** The main step and then, whatever came of it, the post step. */
export async function runAction(run: ActionRun): Promise<ActionEnd> {
  const temp = temporaryFolder();
  const main = await step(run, { temp, file: MANIFEST.runs.main, state: {} });
  const post = await step(withoutDuring(run), { temp, file: MANIFEST.runs.post, state: main.state });
  return { ...main, post, temp };
}

function withoutDuring({ during: _during, ...run }: ActionRun): ActionRun {
  return run;
}

/** The post step of a main step that left this state and nothing else. */
export function runPost(run: ActionRun, state: Record<string, string> = {}): Promise<StepEnd> {
  return step(run, { temp: temporaryFolder(), file: MANIFEST.runs.post, state });
}

async function step(
  run: ActionRun,
  { temp, file, state }: { temp: string; file: string; state: Record<string, string> },
): Promise<StepEnd> {
  const { workspace, inputs = {}, env = {} } = run;
  const commands = join(temp, '_runner_file_commands');
  mkdirSync(commands, { recursive: true });
  const fileOf = (name: string) => {
    const path = join(commands, `${name}_${Math.random().toString(16).slice(2)}`);
    writeFileSync(path, '');
    return path;
  };
  const files = {
    output: fileOf('set_output'),
    state: fileOf('save_state'),
    summary: fileOf('step_summary'),
  };
  const event = join(temp, 'event.json');
  writeFileSync(event, JSON.stringify(run.event ?? {}));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is one of GitHub's expressions.
  const jobToken = '${{ github.token }}';
  const declared = Object.entries(MANIFEST.inputs).map(([name, input]) => [
    name,
    input.default === jobToken ? (run.token ?? '') : input.default,
  ]);
  const all = { ...Object.fromEntries(declared), ...inputs };
  const given = {
    cwd: workspace,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: workspace,
      GITHUB_EVENT_NAME: 'workflow_dispatch',
      GITHUB_EVENT_PATH: event,
      GITHUB_ACTOR: 'octocat',
      RUNNER_TEMP: temp,
      ...env,
      GITHUB_OUTPUT: files.output,
      GITHUB_STATE: files.state,
      GITHUB_STEP_SUMMARY: files.summary,
      ...Object.fromEntries(
        Object.entries(all).map(([name, value]) => [
          `INPUT_${name.toUpperCase().replaceAll(' ', '_')}`,
          value,
        ]),
      ),
      ...Object.fromEntries(Object.entries(state).map(([name, value]) => [`STATE_${name}`, value])),
    },
  };
  const outputs = () => valuesIn(readFileSync(files.output, 'utf8'));
  const { node, wrap, action, during, built } = run;
  const inItsOwn = built === true || [node, wrap, action, during].some((one) => one !== undefined);
  const { exitCode, signal, stdout, stderr } = await holdingEvents(
    { args: Object.values(inputs), ...given },
    async () => (inItsOwn ? await spawned(run, file, given, { temp, outputs }) : await here(file, given)),
  );
  for (const name of Object.keys(outputs()))
    if (!Object.hasOwn(MANIFEST.outputs, name)) throw new Error(`action.yml has no output ${name}`);
  return {
    exitCode,
    signal,
    stdout,
    stderr,
    lastLine: stderr.trimEnd().split('\n').at(-1) ?? '',
    outputs: outputs(),
    state: valuesIn(readFileSync(files.state, 'utf8')),
    summary: readFileSync(files.summary, 'utf8'),
    masks: [...stdout.matchAll(/^::add-mask::(.*)$/gm)].map(([, line = '']) => line.replaceAll('%25', '%')),
  };
}

interface Given {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The built action in a process. */
async function spawned(
  { during, node = process.execPath, wrap = [], action = ROOT }: ActionRun,
  file: string,
  given: Given,
  place: { temp: string; outputs: () => Record<string, string> },
) {
  const [program = '', ...line] = [...wrap, node, join(action, file)];
  const child = execa(program, line, {
    ...given,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: PATIENCE_MS,
    stripFinalNewline: false,
  });
  if (during && child.pid) await during({ pid: child.pid, ...place });
  return child;
}

/** The built action, in this process. */
async function here(file: string, given: Given) {
  const end = await actionHere(file === MANIFEST.runs.post ? 'post' : 'main', given);
  return { ...end, signal: undefined };
}

/** Reads a file of `name=value` and `name<<delimiter` entries; throws where the runner would fail the step. */
export function valuesIn(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line === '') continue;
    const heredoc = /^([^=]*?)<<(.+)$/.exec(line);
    const plain = /^([^=]+)=(.*)$/.exec(line);
    if (heredoc) {
      const [, name = '', delimiter = ''] = heredoc;
      const end = lines.indexOf(delimiter, at + 1);
      if (end === -1) throw new Error(`Invalid value. Matching delimiter not found '${delimiter}'`);
      values[name] = lines.slice(at + 1, end).join('\n');
      at = end;
    } else if (plain) {
      const [, name = '', value = ''] = plain;
      values[name] = value;
    } else throw new Error(`Invalid format '${line}'`);
  }
  return values;
}

/**
 * The plan, from a file, stdin or a message: optional YAML front matter, then the task in Markdown.
 *
 * Front matter begins with `---` as the very first line and ends with the next line that is `---` or `...`. If that part is
 * prose and not a mapping, the two lines are thematic breaks and all of it is the task. A plan that starts with a thematic
 * break and has no second one must start with an empty line, since it looks like unterminated front matter.
 */

import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { didYouMean } from '../../config/did-you-mean.ts';
import type { YamlMapping } from '../../config/yaml.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { type Plan, PlanFrontMatter, type PlanSource, titleOf } from '../../domain/run/plan.ts';
import { sentence } from '../../domain/text/words.ts';
import { sha256Of } from '../../files/hash.ts';
import { pathWithin } from '../../files/path-within.ts';
import { collect, type RegularFileRead, textOf } from '../../files/regular-file.ts';
import { readRuleFile } from '../../git/checkout-layout.ts';
import type { Revision } from '../../ports/workspace.ts';

const MAX_PLAN_BYTES = 1_048_576;
/** As for the project file: keys are compared each with each. */
const MAX_FRONT_MATTER = 65_536;

/** The plan of a file, or why it cannot be used. */
export type PlanRead = { status: 'ok'; plan: Plan } | Failed;

/**
 * `plan` is a path relative to `cwd`, or `-` for stdin; stdin is not touched otherwise. A message has no front matter.
 * When `signal` aborts, waiting for stdin ends and the plan is `failed`.
 */
export async function readPlan(given: {
  plan: string | null;
  message: string | null;
  stdin: Readable;
  cwd: string;
  /** Root of the repository; the plan's path is reported relative to it. */
  root: string;
  /** A file inside the repository is read from here; null means from the work tree. */
  revision?: Revision | null;
  signal?: AbortSignal;
}): Promise<PlanRead> {
  if (given.message !== null) {
    const task = given.message.trim();
    if (task === '') return failed('The message is empty: say what to change.');
    return planOf({}, task, { kind: 'message' }, Buffer.from(given.message));
  }
  if (given.plan === null)
    return failed('There is no plan: give one with --plan FILE, --plan - (stdin) or --message TEXT.');
  const name = given.plan === '-' ? 'The plan on stdin' : `The plan ${given.plan}`;
  const place: PlaceInPlan = (line) => (given.plan === '-' ? `stdin:${line}` : `${given.plan}:${line}`);
  const read =
    given.plan === '-'
      ? await collectUntil(given.signal ?? new AbortController().signal, given.stdin)
      : await readRuleFile(resolve(given.cwd, given.plan), {
          ...given,
          maxBytes: MAX_PLAN_BYTES,
          pipes: true,
        });
  if (read.status === 'failed') return failed(sentence(`${name} ${read.why}`));
  const text = textOf(read.bytes);
  if (text === null) return failed(`${name} is not UTF-8 text.`);
  const parsed = await parsePlan(text.replace(/\r\n?/g, '\n'), name, place);
  if (parsed.status === 'failed') return parsed;
  if (given.plan === '-') return planOf(parsed.fields, parsed.task, { kind: 'stdin' }, read.bytes);
  const path = (await pathWithin(given.root, resolve(given.cwd, given.plan))) ?? given.plan;
  return planOf(parsed.fields, parsed.task, { kind: 'file', path }, read.bytes);
}

function planOf(fields: PlanFrontMatter, task: string, source: PlanSource, bytes: Buffer): PlanRead {
  const { title = titleOf(task), working_directory: workingDirectory } = fields;
  const {
    verify = [],
    verify_baseline: verifyBaseline = false,
    setup = [],
    allow = [],
    protect = [],
  } = fields;
  const plan = {
    title,
    task,
    verify,
    verifyBaseline,
    setup,
    allow,
    protect,
    source,
    sha256: sha256Of(bytes),
  };
  return { status: 'ok', plan: workingDirectory === undefined ? plan : { ...plan, workingDirectory } };
}

/** The writer of stdin may never finish. */
async function collectUntil(signal: AbortSignal, stdin: Readable): Promise<RegularFileRead> {
  try {
    return await collect(addAbortSignal(signal, stdin), MAX_PLAN_BYTES);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { status: 'failed', missing: false, why: 'was not read completely because the run was stopped' };
  }
}

/** A line of the plan in the form that editors and terminals can open. */
type PlaceInPlan = (line: number) => string;

type PlanParsed = { status: 'ok'; fields: PlanFrontMatter; task: string } | Failed;

async function parsePlan(text: string, name: string, place: PlaceInPlan): Promise<PlanParsed> {
  const split = splitFrontMatter(text);
  if (split === 'unclosed') {
    return failed(
      `${name} opens front matter with --- on line 1 and never closes it: add a closing --- line, or begin with an empty line if --- is meant as a horizontal rule.`,
    );
  }
  if (split && split.yaml.length > MAX_FRONT_MATTER) {
    return failed(
      `${name} has front matter of more than ${MAX_FRONT_MATTER} characters: move scripts into files.`,
    );
  }
  // Loaded only for plans with front matter.
  const yaml = split && (await import('../../config/yaml.ts')).parseYamlMapping(split.yaml, 2);
  const prose = yaml?.status === 'failed' && yaml.isProse;
  const front: FrontMatterRead =
    yaml && !prose ? checkFrontMatter(yaml, place) : { status: 'ok', fields: {} };
  if (front.status === 'failed') return failed(`${front.problems.join('; ')}.`);

  const task = (split && !prose ? split.body : text).trim();
  if (task === '') return failed(`${name} has no task: describe the change below the front matter.`);
  return { status: 'ok', fields: front.fields, task };
}

/** Null when the text does not begin with `---`. */
function splitFrontMatter(text: string): { yaml: string; body: string } | 'unclosed' | null {
  const opening = /^---[ \t]*(?:\n|$)/.exec(text);
  if (!opening) return null;
  const rest = text.slice(opening[0].length);
  const closing = /^(?:---|\.\.\.)[ \t]*(?:\n|$)/m.exec(rest);
  if (!closing) return 'unclosed';
  return { yaml: rest.slice(0, closing.index), body: rest.slice(closing.index + closing[0].length) };
}

type FrontMatterRead = { status: 'ok'; fields: PlanFrontMatter } | { status: 'failed'; problems: string[] };

function checkFrontMatter(yaml: YamlMapping, place: PlaceInPlan): FrontMatterRead {
  const known = Object.keys(PlanFrontMatter.shape);
  const wrong = (...problems: string[]): FrontMatterRead => ({ status: 'failed', problems });
  if (yaml.status === 'failed')
    return wrong(...yaml.problems.map(({ line, message }) => `${place(line)}: ${message}`));
  const parsed = PlanFrontMatter.safeParse(yaml.values);
  if (parsed.success) return { status: 'ok', fields: parsed.data };
  const problems = parsed.error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      const said = `${entryName(issue.path, yaml.values)}: ${issue.message}`;
      return { line: yaml.lineOf(issue.path), said };
    }
    return issue.keys.map((key) => {
      const nearest = didYouMean(key, known, `there are ${known.join(', ')}`);
      return { line: yaml.lineOf([key]), said: `there is no key ${JSON.stringify(key)}; ${nearest}` };
    });
  });
  problems.sort((one, other) => one.line - other.line);
  return wrong(...problems.map(({ line, said }) => `${place(line)}: ${said}`));
}

/** Entries of a list are counted from 1: `verify, entry 2`. */
function entryName([key, index]: readonly PropertyKey[], values: Readonly<Record<string, unknown>>): string {
  const name = String(key);
  return typeof index === 'number' && Array.isArray(values[name]) ? `${name}, entry ${index + 1}` : name;
}

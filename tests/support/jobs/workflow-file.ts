/** Workflow files as GitHub reads them, and calls of one by another: what GitHub refuses before any job starts is refused here. */

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Access } from '../github-server/state/world.ts';
import { type Contexts, evaluated, filled } from './expressions.ts';

export type Permissions = Readonly<Record<string, Access>>;

export interface WorkflowStep {
  readonly name?: string;
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'continue-on-error'?: boolean;
  readonly with?: Readonly<Record<string, string | boolean | number>>;
}

export interface WorkflowJob {
  readonly name?: string;
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Permissions;
  readonly environment?: string;
  readonly concurrency?: { readonly group: string };
  readonly 'runs-on'?: string;
  readonly container?: string;
  readonly outputs?: Readonly<Record<string, string>>;
  /** Each a list, or an expression that gives one. */
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[] | string>> };
  readonly steps: readonly WorkflowStep[];
  /** The workflow that is called in place of steps. */
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string | boolean | number>>;
  readonly secrets?: Readonly<Record<string, string>>;
}

interface Input {
  readonly type: 'string' | 'boolean' | 'number';
  readonly required?: boolean;
  readonly default?: string | boolean | number;
}

export interface Workflow {
  readonly on: {
    readonly workflow_call?: {
      readonly inputs?: Readonly<Record<string, Input>>;
      readonly secrets?: Readonly<Record<string, { readonly required?: boolean }>>;
    };
  };
  readonly permissions?: Permissions;
  readonly jobs: Readonly<Record<string, WorkflowJob>>;
}

export const readWorkflow = (path: string): Workflow => parse(readFileSync(path, 'utf8'));

/** The keys of a job that calls a workflow. */
const OF_CALLS = ['name', 'uses', 'with', 'secrets', 'strategy', 'needs', 'if', 'concurrency', 'permissions'];
const LEVELS = ['none', 'read', 'write'];
const INITIAL = { string: '', boolean: false, number: 0 };

export interface Called {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What the called workflow gets from the job that calls it. Throws what GitHub says of a call that it refuses. */
export function called(
  job: WorkflowJob,
  workflow: Workflow,
  granted: Permissions,
  contexts: Contexts,
): Called {
  const refuse = (why: string): never => {
    throw new Error(`Invalid workflow file: ${job.uses}: ${why}`);
  };
  const { workflow_call: declared } = workflow.on;
  if (declared === undefined) return refuse('the workflow is not callable');
  for (const key of Object.keys(job)) if (!OF_CALLS.includes(key)) refuse(`unexpected value '${key}'`);
  if (!/@[0-9a-f]{40}$/.test(job.uses ?? '')) refuse('the call is not pinned to a commit');
  for (const [name, { permissions = {} }] of Object.entries(workflow.jobs))
    for (const [key, level] of Object.entries(permissions))
      if (LEVELS.indexOf(level) > LEVELS.indexOf(granted[key] ?? 'none'))
        refuse(
          `job '${name}' is requesting '${key}: ${level}', but is only allowed '${granted[key] ?? 'none'}'`,
        );
  for (const name of Object.keys(job.with ?? {}))
    if (!Object.hasOwn(declared.inputs ?? {}, name)) refuse(`Invalid input, ${name} is not defined`);
  for (const name of Object.keys(job.secrets ?? {}))
    if (!Object.hasOwn(declared.secrets ?? {}, name)) refuse(`Invalid secret, ${name} is not defined`);
  const inputs = Object.entries(declared.inputs ?? {}).map(([name, { type, required, default: initial }]) => {
    const written = job.with?.[name];
    if (written === undefined && required) refuse(`Input ${name} is required`);
    const given = typeof written === 'string' ? evaluated(written, contexts) : written;
    const value = given ?? initial ?? INITIAL[type];
    if (typeof value !== type) refuse(`The value '${value}' on input '${name}' is not a ${type}`);
    return [name, value];
  });
  const secrets = Object.entries(job.secrets ?? {}).map(([name, text]) => [name, filled(text, contexts)]);
  for (const [name, { required }] of Object.entries(declared.secrets ?? {}))
    if (required && job.secrets?.[name] === undefined) refuse(`Secret ${name} is required`);
  return { inputs: Object.fromEntries(inputs), secrets: Object.fromEntries(secrets) };
}

/**
 * Steps of a workflow that install a language, as text that can be placed among the steps of a template. They come before the
 * checkout, so versions are literal: a setup action starts programs in the checkout, and those obey files in it (`yarn --version`
 * executes what `yarn-path` in `.yarnrc` names).
 */

/** A step with an action of `ACTION_PINS`, or one with a script. */
export type WorkflowStep =
  | { readonly name: string; readonly uses: PinnedAction; readonly with: Readonly<Record<string, string>> }
  | { readonly name: string; readonly run: string };

/** Actions that install a language, at the commit of the release in the comment. */
const ACTION_PINS = {
  'actions/setup-node': '820762786026740c76f36085b0efc47a31fe5020 # v7.0.0',
  'actions/setup-python': '5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0',
  'actions/setup-go': 'b7ad1dad31e06c5925ef5d2fc7ad053ef454303e # v7.0.0',
  'actions/setup-java': 'b6effb05e454b25005698d916606bdc6ffcbf961 # v5.7.0',
  'actions/setup-dotnet': 'a98b56852c35b8e3190ac28c8c2271da59106c68 # v6.0.0',
  'ruby/setup-ruby': '0dafeac902942906541bc140009cdbf32665b601 # v1.315.0',
  'shivammathur/setup-php': 'f3e473d116dcccaddc5834248c87452386958240 # 2.37.2',
} as const;

type PinnedAction = keyof typeof ACTION_PINS;

/** The step that installs a language. */
export function setup(
  language: string,
  uses: PinnedAction,
  values: Readonly<Record<string, string>>,
): WorkflowStep {
  return { name: `Install ${language}`, uses, with: values };
}

/**
 * The YAML of a step, indented for a job's list. Values come from files of the repository that anyone may have written: an
 * expression among them would run in the workflow, so one that could hold it is a mistake of the caller.
 */
export function stepText(step: WorkflowStep): string {
  const lines = [`- name: ${step.name}`];
  if ('uses' in step) {
    lines.push(`  uses: ${step.uses}@${ACTION_PINS[step.uses]}`);
    const given = Object.entries(step.with);
    if (given.length > 0) lines.push('  with:');
    for (const [name, value] of given) lines.push(`    ${name}: ${JSON.stringify(harmless(value))}`);
  } else {
    lines.push(`  run: ${plain(step.run)}`);
  }
  return lines.map((line) => `      ${line}\n`).join('');
}

function plain(value: string): string {
  if (!/: |^[*@|>,:-]/.test(value)) return harmless(value);
  throw new Error(`${JSON.stringify(value)} must not be in a workflow.`);
}

function harmless(value: string): string {
  if (/^[\w .,@=/*+:^~<>|-]{1,200}$/.test(value)) return value;
  throw new Error(`${JSON.stringify(value)} must not be in a workflow.`);
}

/** The version if it is written as versions are, and null for anything else. */
export function plainVersion(written: string): string | null {
  const tidy = written.trim();
  return /^v?\d{1,9}(?:\.[\dx]{1,9}){0,3}(?:-[\w.]{1,20})?$/.test(tidy) ? tidy.replace(/^v/, '') : null;
}

/** A version or a range of versions as setup actions take it, such as `20`, `>=20 <23` or `lts/*`; null for anything else. */
export function plainRange(written: string): string | null {
  const tidy = written.trim().replaceAll(/\s*(?:,|\s)\s*/g, ' ');
  const isRange = /^(?:(?:[<>]=?|[\^~=])? ?v?\d{1,9}(?:\.(?:\d{1,9}|[x*])){0,3}(?:(?: \|\|)? |$)){1,4}$/.test(
    tidy,
  );
  return isRange || /^lts\/(?:\*|[a-z]{1,20})$/.test(tidy) ? tidy : null;
}

/**
 * What the called workflow installs before the checkout, as its inputs. Versions are literal: a setup action starts programs in the
 * checkout, and those obey files in it (`yarn --version` executes what `yarn-path` in `.yarnrc` names).
 */

/** Versions of languages, and a script that installs what else is needed. */
export type WorkflowInputs = Partial<
  Readonly<
    Record<
      'node-version' | 'python-version' | 'go-version' | 'java-version' | 'dotnet-version' | 'install',
      string
    >
  >
>;

/**
 * The lines of YAML, without indentation. Values come from files of the repository that anyone may have written: an expression among
 * them would run in the workflow, so one that could hold it is a mistake of the caller.
 */
export function inputLines(inputs: WorkflowInputs): string[] {
  return Object.entries(inputs).map(([name, value]) => {
    if (/^[\w .,@=/*+:^~<>|-]{1,200}$/.test(value)) return `${name}: ${JSON.stringify(value)}`;
    throw new Error(`${JSON.stringify(value)} must not be in a workflow.`);
  });
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

/** `patchsmith init`: writes a workflow and the files it names, and prints what is left to do. Never overwrites anything. */

import { done, noChange, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { pluralize } from '../../domain/text/pluralize.ts';
import { absolutePath } from '../../engine/session.ts';
import { type FileToWrite, writeNewFile } from '../../files/new-file.ts';
import { repositoryRoot } from '../../git/repository-root.ts';
import { PRINCIPLES_SAMPLE, WORKFLOW_TEMPLATES } from './workflow-templates.ts';

/** The arguments of `patchsmith init`. */
export interface InitInput {
  readonly template: string;
  /** Null for the checkout that contains `cwd`. */
  readonly repo: string | null;
  readonly cwd: string;
  /** Prints one line for people. */
  readonly say: (line: string) => void;
}

/** Writes a workflow template and its plans into a repository. Existing files are never replaced. */
export async function initialise({ template: name, repo, cwd, say }: InitInput): Promise<RunOutcome> {
  const names = Object.keys(WORKFLOW_TEMPLATES);
  const template = Object.hasOwn(WORKFLOW_TEMPLATES, name) ? WORKFLOW_TEMPLATES[name] : undefined;
  if (template === undefined) {
    return usageError(`There is no template ${JSON.stringify(name)}; there are ${names.join(', ')}.`);
  }
  const root = await repositoryRoot(absolutePath(cwd, repo ?? '.'));
  if (root === null)
    return usageError(
      'This is not a checkout of a repository. Run patchsmith in one, or name it with --repo.',
    );

  const files: FileToWrite[] = [
    { path: `.github/workflows/patchsmith-${name}.yml`, text: template.workflow, unless: [] },
    ...Object.entries(template.plans).map(([plan, text]) => ({
      path: `.github/patchsmith/${plan}`,
      text,
      unless: [],
    })),
    { path: 'AGENTS.md', text: PRINCIPLES_SAMPLE, unless: ['CLAUDE.md'] },
  ];
  let written = 0;
  for (const file of files) {
    const came = await writeNewFile(root, file);
    if (came.status === 'failed') return usageError(`${file.path} cannot be written: ${came.why}.`);
    if (came.status === 'written') written += 1;
    say(came.status === 'written' ? `wrote ${file.path}` : `left ${came.path} as it is`);
  }
  say('Left to do:');
  const steps = [
    `Look at the plan and the commands in it: ${Object.keys(template.plans)
      .map((plan) => `.github/patchsmith/${plan}`)
      .join(', ')}.`,
    `In the workflow, replace your-org with the owner of the action, and the zeros with the full id of a commit that you have reviewed.`,
    ...template.next,
  ];
  for (const [at, step] of steps.entries()) say(`  ${at + 1}. ${step}`);
  if (written === 0) return noChange('Everything is there already.');
  return done(`${pluralize(written, 'file')} written. Commit what you want to keep.`);
}

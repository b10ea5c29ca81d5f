/** What `init` prints about a repository: what it found and where, what it guessed and why. */

import type { Project, Said } from '../../adapters/survey/project.ts';
import type { Survey } from '../../adapters/survey/survey.ts';
import { basisText, verifyOf } from './written-files.ts';

/** One line each. */
export function surveyLines({ project, folder, workflows }: Survey): string[] {
  if (project === null) {
    return ['Found no language: no manifest in the root, and none in a folder with a third of the files.'];
  }
  const where = folder === '' ? '' : ` in ${folder}`;
  const lockfile = project.lockfile === null ? '' : `, locked by ${project.lockfile}`;
  const rows: (readonly [name: string, said: Said | null])[] = [
    ...project.setup.map((said) => ['setup', said] as const),
    ['test', project.test],
    ['lint', project.lint],
    ['build', project.build],
  ];
  const written = new Set([...project.setup, ...verifyOf(project)]);
  return [
    `Found ${project.ecosystem}${where}: ${project.manager.text}, ${basisText(project.manager.basis)}${lockfile}`,
    ...rows.map(([name, said]) =>
      said === null
        ? `  ${name.padEnd(6)} none found`
        : `  ${name.padEnd(6)} ${said.text}  (${basisText(said.basis)}${written.has(said) ? '' : '; not written'})`,
    ),
    ...(project.domains.length === 0
      ? []
      : [`  hosts  ${project.domains.join(', ')}  (of the package manager)`]),
    ...(workflows.length === 0 ? [] : [`  workflows that are there: ${workflows.join(', ')}`]),
    ...guessLines(project),
  ];
}

function guessLines({ guesses }: Project): string[] {
  return guesses.length === 0
    ? []
    : ['Guessed besides, for the workflow:', ...guesses.map((guess) => `  ${guess}`)];
}

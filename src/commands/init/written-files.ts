/** The files that `init` writes, as text: what a template of the docs says, with what was found in the repository. */

import { stringify } from 'yaml';
import type { Basis, Project, Said } from './survey/project.ts';
import { stepText } from './survey/workflow-step.ts';

const PROJECT_FILE_HEAD = `# Settings of patchsmith for every plan of this repository, written by patchsmith init.
# All of them: patchsmith run --help
`;

/** The text of `.patchsmith.yml`. */
export function projectFileText(project: Project | null): string {
  const verify = project === null ? [] : verifyOf(project);
  const parts = [
    PROJECT_FILE_HEAD,
    ...(project === null || project.setup.length === 0
      ? []
      : [
          '# Run once before the model is asked, and again in each fresh checkout that is verified.\n',
          listText('setup', project.setup),
        ]),
    '# What must succeed when the model is done. Write none that cannot fail: the runner goes by their exit codes.\n',
    verify.length > 0 ? listText('verify', verify) : '# verify:\n#   - the command that runs your tests\n',
    ...(project === null ? [] : networkText(project.domains)),
  ];
  return parts.map((part) => (part.startsWith('#') && part !== parts[0] ? `\n${part}` : part)).join('');
}

/** The commands of `verify`: tests and a linter that was found; a build where there are no tests. */
export function verifyOf({ test, lint, build }: Project): Said[] {
  const checks = test === null ? [build] : [test];
  return [...checks, lint !== null && 'found' in lint.basis ? lint : null].filter((said) => said !== null);
}

/** A template's workflow with the steps that install the language, and the hosts that setup needs. */
export function workflowText(template: string, project: Project | null): string {
  if (project === null) return template;
  const lines = template.split('\n');
  let at = lines.indexOf('      - name: Carry out the plan');
  while (lines[at - 1]?.startsWith('      #')) at -= 1;
  const hosts = [
    '          # What setup and verify commands download comes from here; every command can reach it.',
    '          allow-domain: |',
    ...project.domains.map((domain) => `            ${domain}`),
  ];
  return [
    ...lines.slice(0, at),
    ...project.steps.map((step) => stepText(step).trimEnd()),
    ...lines
      .slice(at)
      .flatMap((line) =>
        line === '          verify-in: checkout' && project.domains.length > 0 ? [line, ...hosts] : [line],
      ),
  ].join('\n');
}

/** A plan or principles of the samples, which speak of npm, with the commands of this repository. */
export function withCommands(sample: string, project: Project | null): string {
  const test = project?.test ? `\`${project.test.text}\`` : 'the tests';
  const lint = project?.lint ? `\`${project.lint.text}\`` : 'the linter';
  return sample.replaceAll('`npm test`', () => test).replaceAll('`npm run lint`', () => lint);
}

/** Where something comes from, for people and for comments: on one line, whatever names files have. */
export function basisText(basis: Basis): string {
  const text = 'found' in basis ? `from ${basis.found}` : `a guess: ${basis.guessed}`;
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

function listText(key: string, commands: readonly Said[]): string {
  const entries = commands.map(
    ({ text, basis }) => `  # ${basisText(basis)}\n  - ${stringify(text, { lineWidth: 0 }).trimEnd()}\n`,
  );
  return `${key}:\n${entries.join('')}`;
}

function networkText(domains: readonly string[]): string[] {
  if (domains.length === 0) return [];
  const flags = domains.map((domain) => `--allow-domain ${domain}`).join(' ');
  return [
    `# Commands have no network, and this file cannot open it: a pull request could change it. The workflow names the hosts\n# that downloads come from; on the command line, add\n#   ${flags}\n`,
  ];
}

/** A workflow that calls the one of this project: pinned to a commit, made for a repository, with the token of an App. */

import type { Project } from '../../adapters/survey/project.ts';
import { inputLines } from '../../adapters/survey/workflow-inputs.ts';

/** The workflow of this project at the commit of a release. */
export interface WorkflowPin {
  /** OWNER/NAME. */
  readonly repository: string;
  readonly commit: string;
  /** Such as `v1.2.3`; null if it is not known. */
  readonly tag: string | null;
}

/** Replaced by the build of a release: OWNER/NAME, the commit and the tag. */
declare const RELEASE: readonly [repository: string, commit: string, tag: string] | null | undefined;

/** The release that is installed; null for a build from a checkout. */
export function releasePin(): WorkflowPin | null {
  if (typeof RELEASE === 'undefined' || RELEASE === null) return null;
  const [repository, commit, tag] = RELEASE;
  return { repository, commit, tag };
}

/** The value of `--action`; null if it is not OWNER/NAME@COMMIT. */
export function pinIn(text: string): WorkflowPin | null {
  const [, repository, commit] = /^([\w.-]+\/[\w.-]+)@([0-9a-f]{40})$/.exec(text) ?? [];
  return repository === undefined || commit === undefined ? null : { repository, commit, tag: null };
}

const CALL = /^( +uses: )([\w.-]+\/[\w.-]+)(\/\.github\/workflows\/patchsmith\.yml)@[^\r\n]*/gm;

/** The repositories whose workflow a text calls. */
export function calledIn(workflow: string): string[] {
  return [...workflow.matchAll(CALL)].map(([, , repository = '']) => repository);
}

/** The text with its calls at that commit, and nothing else changed. */
export function pinned(workflow: string, { repository, commit, tag }: WorkflowPin): string {
  return workflow.replace(CALL, (_, uses: string, _called, file: string) => {
    const version = tag === null ? '' : ` # ${tag}`;
    return `${uses}${repository}${file}@${commit}${version}`;
  });
}

/** With the language to install, and the hosts that packages come from. */
export function madeFor(workflow: string, project: Project | null): string {
  if (project === null) return workflow;
  const { domains, installs } = project;
  const hosts = [
    '# Setup and verify commands download from here; every command can reach it.',
    'allow-domain: |',
    ...domains.map((domain) => `  ${domain}`),
  ];
  const lines = [...inputLines(installs), ...(domains.length === 0 ? [] : hosts)];
  return workflow.replaceAll(
    /^ {4}with:\n/gm,
    (line) => `${line}${lines.map((one) => `      ${one}\n`).join('')}`,
  );
}

/** With the token of an App, so that checks run on its pull requests; what writes then has no use for the job's own. */
export function withAppToken(workflow: string): string {
  return workflow
    .replaceAll(/: write #.*$/gm, ': read # what writes logs in as the App')
    .replaceAll(
      /^ {4}with:\n/gm,
      (line) => `${line}      app-client-id: \${{ vars.PATCHSMITH_APP_CLIENT_ID }}\n`,
    )
    .replaceAll(
      /^ {4}secrets:\n/gm,
      (line) => `${line}      APP_PRIVATE_KEY: \${{ secrets.PATCHSMITH_APP_KEY }}\n`,
    );
}

/**
 * Paths that steer people's tools: what runs with permissions, what other programs run by themselves, and instructions for
 * agents.
 */

import { pathMatcher } from '../changes/path-policy.ts';
import type { FlagName } from './flag.ts';

/** Globs, in lower case, of paths with one flag. */
export interface SteeringPaths {
  readonly flag: FlagName;
  readonly globs: readonly string[];
  /** Whether `publish` refuses a change to them unless it is accepted; the others are only named. */
  readonly isProtected: boolean;
}

/** All of them; the table of docs/patches.md has the same rows. A path is compared in lower case: not every disk knows case. */
export const STEERING_PATHS: readonly SteeringPaths[] = [
  { flag: 'workflow', isProtected: true, globs: ['/.github/workflows/**'] },
  { flag: 'action', isProtected: false, globs: ['/action.yml', '/action.yaml'] },
  { flag: 'action', isProtected: true, globs: ['/.github/actions/**'] },
  {
    flag: 'code_owners',
    isProtected: true,
    globs: ['/codeowners', '/.github/codeowners', '/docs/codeowners'],
  },
  { flag: 'own_settings', isProtected: true, globs: ['/.patchsmith.yml', '/.github/patchsmith/**'] },
  { flag: 'principles', isProtected: true, globs: ['agents.md', 'claude.md'] },
  {
    flag: 'agent_files',
    isProtected: false,
    globs: [
      ...['**/.claude/**', '.mcp.json', '**/.cursor/**', '.cursorrules', '**/.windsurf/**', '.windsurfrules'],
      ...['.clinerules', '**/.clinerules/**', '**/.codex/**', '**/.gemini/**', 'gemini.md', 'skill.md'],
      ...['*.local.md', '/.github/copilot-instructions.md', '/.github/instructions/**', '.aider.conf.yml'],
    ],
  },
  {
    flag: 'tool_hooks',
    isProtected: false,
    globs: [
      ...['**/.vscode/tasks.json', '**/.vscode/launch.json', '**/.vscode/settings.json', '**/.idea/**'],
      ...['**/.devcontainer/**', '.devcontainer.json', '**/.husky/**', '.pre-commit-config.yaml'],
      ...['lefthook.yml', '.lefthook.yml', '.envrc', '.tool-versions', 'mise.toml', '.mise.toml'],
    ],
  },
  { flag: 'git_attributes', isProtected: false, globs: ['.gitattributes'] },
  { flag: 'submodules', isProtected: false, globs: ['.gitmodules'] },
  {
    flag: 'package_sources',
    isProtected: false,
    globs: [
      ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml', 'pip.conf', '.pypirc'],
      ...['**/.cargo/config', '**/.cargo/config.toml', '**/.bundle/config', 'nuget.config', '**/.mvn/**'],
    ],
  },
  {
    flag: 'ci',
    isProtected: false,
    globs: [
      ...['.gitlab-ci.yml', 'jenkinsfile', '**/.circleci/**', 'azure-pipelines.yml', '.travis.yml'],
      ...['bitbucket-pipelines.yml', '**/.buildkite/**', '.drone.yml', 'appveyor.yml', '.appveyor.yml'],
    ],
  },
  {
    flag: 'build_files',
    isProtected: false,
    globs: [
      ...['makefile', 'gnumakefile', '*.mk', 'justfile', 'dockerfile', 'dockerfile.*', '*.dockerfile'],
      ...['containerfile', 'compose.yml', 'compose.yaml', 'docker-compose.yml', 'docker-compose.yaml'],
    ],
  },
];

const MATCHERS = STEERING_PATHS.map(({ globs, ...row }) => ({ ...row, matches: pathMatcher(globs) }));

/** The flags of a path. */
export function steeringFlags(path: string): FlagName[] {
  const name = path.toLowerCase();
  return [...new Set(MATCHERS.filter(({ matches }) => matches(name)).map(({ flag }) => flag))];
}

/** True for paths that `publish` does not let through unless they are accepted. All of `.github` is among them. */
export function isProtectedPath(path: string): boolean {
  const name = path.toLowerCase();
  return isOfGitHub(name) || MATCHERS.some(({ isProtected, matches }) => isProtected && matches(name));
}

const isOfGitHub = pathMatcher(['/.github', 'codeowners']);

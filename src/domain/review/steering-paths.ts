/**
 * Paths that steer people's tools: what runs with permissions, what other programs run by themselves, and instructions for
 * agents.
 */

import { pathMatcher } from '../changes/path-policy.ts';
import type { FlagName } from './flag.ts';

/**
 * What `publish` does by default with a change to a protected path. `refuse`: it takes effect as soon as it is pushed, because CI
 * runs the branch, or in later runs. `draft`: it takes effect where people or jobs install packages, open the repository or start
 * a tool in it, so somebody has to look first.
 */
export type Protection = 'refuse' | 'draft';

/** Globs, in lower case, of paths with one flag. */
export interface SteeringPaths {
  readonly flag: FlagName;
  readonly globs: readonly string[];
  /** Null for paths that are only named. */
  readonly protection: Protection | null;
}

/** All of them; the table of docs/patches.md has the same rows. A path is compared in lower case: not every disk knows case. */
export const STEERING_PATHS: readonly SteeringPaths[] = [
  { flag: 'workflow', protection: 'refuse', globs: ['/.github/workflows/**'] },
  { flag: 'action', protection: null, globs: ['/action.yml', '/action.yaml'] },
  { flag: 'action', protection: 'refuse', globs: ['/.github/actions/**'] },
  {
    flag: 'code_owners',
    protection: 'refuse',
    globs: ['/codeowners', '/.github/codeowners', '/docs/codeowners'],
  },
  { flag: 'own_settings', protection: 'refuse', globs: ['/.patchsmith.yml', '/.github/patchsmith/**'] },
  { flag: 'principles', protection: 'refuse', globs: ['agents.md', 'claude.md'] },
  {
    flag: 'agent_files',
    protection: 'draft',
    globs: [
      ...['**/.claude/**', '.mcp.json', '**/.cursor/**', '.cursorrules', '**/.windsurf/**', '.windsurfrules'],
      ...['.clinerules', '**/.clinerules/**', '**/.codex/**', '**/.gemini/**', 'gemini.md', 'skill.md'],
      ...['*.local.md', '/.github/copilot-instructions.md', '/.github/instructions/**', '.aider.conf.yml'],
    ],
  },
  {
    flag: 'tool_hooks',
    protection: 'draft',
    globs: [
      ...['**/.vscode/**', '*.code-workspace', '**/.idea/**', '**/.zed/**', '.exrc', '.nvimrc', '.nvim.lua'],
      ...['.dir-locals.el', '**/.devcontainer/**', '.devcontainer.json', '.gitpod.yml', '.envrc'],
      ...['**/.husky/**', '**/.githooks/**', '.pre-commit-config.yaml', '.overcommit.yml'],
      ...['{,.}lefthook{,-local}.{yml,yaml,toml,json}', '**/.lefthook/**'],
      ...['.lintstagedrc', '.lintstagedrc.*', 'lint-staged.config.*', '.simple-git-hooks.*'],
    ],
  },
  {
    flag: 'toolchain',
    protection: 'draft',
    globs: [
      ...[
        'rust-toolchain',
        'rust-toolchain.toml',
        '**/.cargo/**',
        '.tool-versions',
        'mise.toml',
        '.mise.toml',
      ],
      ...['mise.*.toml', '.mise.*.toml', '/mise/config.toml', '**/.config/mise/**', '**/.mise/**'],
      ...['.python-version', '.python-versions', 'global.json', '.bazelversion', '.bazeliskrc'],
      ...['**/gradle/wrapper/**', '**/.mvn/**'],
    ],
  },
  { flag: 'git_attributes', protection: null, globs: ['.gitattributes'] },
  { flag: 'submodules', protection: null, globs: ['.gitmodules'] },
  {
    flag: 'package_sources',
    protection: 'draft',
    globs: [
      ...['.npmrc', '.pnpmfile.*', 'pnpm-workspace.yaml', '.yarnrc', '.yarnrc.*', 'bunfig.toml'],
      ...[
        '**/.yarn/releases/**',
        '**/.yarn/plugins/**',
        '**/.yarn/sdks/**',
        '**/.pip/**',
        'pip.conf',
        'pip.ini',
      ],
      ...['.pypirc', 'uv.toml', 'poetry.toml', '**/.bundle/**', 'nuget.config'],
    ],
  },
  {
    flag: 'ci',
    protection: 'refuse',
    globs: [
      ...['.gitlab-ci.yml', '**/.gitlab/**', 'jenkinsfile', 'jenkinsfile.*', '**/.circleci/**'],
      ...['azure-pipelines*.yml', '.travis.yml', 'bitbucket-pipelines.yml', '**/.buildkite/**', '.drone.yml'],
      ...[
        'appveyor.yml',
        '.appveyor.yml',
        '.cirrus.yml',
        '.cirrus.star',
        '.woodpecker.yml',
        '**/.woodpecker/**',
      ],
      ...['**/.forgejo/**', '**/.gitea/**', '**/.semaphore/**', '**/.teamcity/**'],
    ],
  },
  {
    flag: 'build_files',
    protection: null,
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

/** How a path is protected, and why; null if it is not. All of `.github` is refused. */
export function protectionOf(path: string): { protection: Protection; flags: readonly FlagName[] } | null {
  const name = path.toLowerCase();
  const rows = MATCHERS.filter(({ protection, matches }) => protection !== null && matches(name));
  if (rows.length === 0 && !isOfGitHub(name)) return null;
  const isRefused = isOfGitHub(name) || rows.some(({ protection }) => protection === 'refuse');
  return { protection: isRefused ? 'refuse' : 'draft', flags: [...new Set(rows.map(({ flag }) => flag))] };
}

const isOfGitHub = pathMatcher(['/.github', 'codeowners']);

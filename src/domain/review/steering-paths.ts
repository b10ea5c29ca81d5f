/**
 * Paths that steer people's tools: what runs with permissions, what other programs run by themselves, and instructions for
 * agents.
 */

import { foldedPath } from '../changes/path.ts';
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

/** All of them; the table of docs/patches.md has the same rows. */
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
      ...['**/.{agents,amazonq,cline,continue,kiro,opencode,openhands,roo}/**', 'opencode.{json,jsonc}'],
      ...['agents.override.md'],
    ],
  },
  {
    flag: 'tool_hooks',
    protection: 'draft',
    globs: [
      ...['**/.vscode/**', '*.code-workspace', '**/.{fleet,helix,idea,vim,vs,zed}/**', '.lazy.lua'],
      ...['.{exrc,lvimrc,nvimrc,vimrc}', '.nvim.lua', '.dir-locals{,-2}.el'],
      ...['**/.devcontainer/**', '.devcontainer.json', '{,.}devfile.yaml', '.gitpod.*', '**/.gitpod/**'],
      ...['.envrc', '**/.direnv/**', '.rvmrc', '.rbenv-vars', '.{gdbinit,ghci,iex.exs,irbrc,ocamlinit}'],
      ...['.{octaverc,pdbrc,pryrc,rdata,renviron,rprofile}', '**/.husky/**', '**/.githooks/**'],
      ...['.gitconfig', '.pre-commit-config.yaml', 'prek.toml', '.overcommit.yml', '**/.trunk/**'],
      ...['{,.}lefthook{,-local}.{yml,yaml,toml,json,jsonc}', '**/.lefthook/**'],
      ...['.lintstagedrc', '.lintstagedrc.*', 'lint-staged.config.*', '{,.}simple-git-hooks.*'],
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
      ...[
        'mise.*.toml',
        '.mise.*.toml',
        '**/mise/{config*.toml,conf.d/**}',
        '**/.config/mise/**',
        '**/.mise/**',
      ],
      ...['.nvmrc', '.node-version', '.ruby-version', '.java-version', '.go-version', '.sdkmanrc'],
      ...['.python-version', '.python-versions', '**/.venv/**', 'pyvenv.cfg', '.pdm-python', 'global.json'],
      ...['directory.build.rsp', '.bazelversion', '.bazeliskrc', '*.bazelrc', '**/tools/bazel'],
      ...['.buckconfig', '.buckconfig.*', 'pants.toml', '.pants.*', '.sbtopts', '.jvmopts'],
      ...['gradle-wrapper.{jar,properties}', 'gradle-daemon-jvm.properties', 'gradle.properties'],
      ...['gradlew{,.bat}', 'mvnw{,.cmd}', '**/.mvn/**'],
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
      ...['.pypirc', 'uv.toml', 'poetry.toml', '{,.}pdm.toml', '**/.pixi/**', '.pnp.*', '**/.bundle/**'],
      ...['nuget.config'],
    ],
  },
  {
    flag: 'ci',
    protection: 'refuse',
    globs: [
      ...['.gitlab-ci*', '**/.gitlab/**', 'jenkinsfile', 'jenkinsfile.*', '*.jenkinsfile', '**/.jenkins/**'],
      ...['**/.circleci/**', '{,.}azure-pipelines*.{yml,yaml}', '**/{,.}azure-pipelines/**'],
      ...['**/.{azuredevops,pipelines}/**', '.travis.yml', 'bitbucket-pipelines.yml', '**/.buildkite/**'],
      ...['{,.}buildkite.{yml,yaml,json}', '/buildkite/**', '.drone.*', '{,.}appveyor.yml', '.cirrus.*'],
      ...['.woodpecker.*', '**/.{woodpecker,forgejo,gitea,semaphore,teamcity,tekton,harness,builds}/**'],
      ...['.build.yml', 'cloudbuild*.{yml,yaml,json}', 'buildspec*.{yml,yaml}', '{,.}zuul.yaml'],
      ...['**/{,.}zuul.d/**', '.taskcluster.yml', '.vela.{yml,yaml}', 'codefresh.{yml,yaml}'],
      ...['codemagic.yaml', 'bitrise.yml', '{,.}packit.{yml,yaml}', '**/ci_scripts/**', '**/bamboo-specs/**'],
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

// `.NPMRC` and `.hu\u017fky` are other spellings on a Mac.
const MATCHERS = STEERING_PATHS.map(({ globs, ...row }) => ({ ...row, matches: pathMatcher(globs) }));

/** Whether a path has a flag. */
export function isFlagged(path: string, flag: FlagName): boolean {
  const name = foldedPath(path);
  return MATCHERS.some((row) => row.flag === flag && row.matches(name));
}

/** How a path is protected, and why; null if it is not. All of `.github` is refused. */
export function protectionOf(path: string): { protection: Protection; flags: readonly FlagName[] } | null {
  const name = foldedPath(path);
  const rows = MATCHERS.filter(({ protection, matches }) => protection !== null && matches(name));
  if (rows.length === 0 && !isOfGitHub(name)) return null;
  const isRefused = isOfGitHub(name) || rows.some(({ protection }) => protection === 'refuse');
  return { protection: isRefused ? 'refuse' : 'draft', flags: [...new Set(rows.map(({ flag }) => flag))] };
}

const isOfGitHub = pathMatcher(['/.github', 'codeowners']);

/** The environment of commands: built from nothing, by an allow-list. What is not here reaches no command. */

/** Language, clock zone and CI: taken from the host as they are, since projects behave by them and they hold no secret. */
const FROM_HOST = ['LANG', 'LC_ALL', 'TZ', 'CI', 'USER'];

/** What the environment of a command is made from. */
export interface CommandSurroundings {
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly path: readonly string[];
  readonly home: string;
  /** System-wide git configuration to use in place of the machine's. */
  readonly gitConfig: string;
  /** Variables that point to toolchains. */
  readonly toolchains: Readonly<Record<string, string>>;
}

/** The variables that a command gets: a fixed few, and nothing secret. */
export function commandEnvironment(surroundings: CommandSurroundings): Record<string, string> {
  const env: Record<string, string> = { LANG: 'C.UTF-8', CI: 'true' };
  for (const name of FROM_HOST) {
    const value = surroundings.hostEnv[name];
    if (value !== undefined) env[name] = value;
  }
  return {
    ...env,
    ...surroundings.toolchains,
    PATH: surroundings.path.join(':'),
    HOME: surroundings.home,
    TMPDIR: '/tmp',
    TERM: 'dumb',
    GIT_CONFIG_SYSTEM: surroundings.gitConfig,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/**
 * A system configuration that lets git work in a tree of another owner, for exactly that tree, and commit without a
 * person. Being the lowest level, it gives way to whatever a project's own tests configure.
 */
export function gitConfig(root: string): string {
  const quoted = root.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
  return [
    `[safe]\n\tdirectory = "${quoted}"`,
    '[user]\n\tname = patchsmith\n\temail = patchsmith@localhost',
    // A collection would outlive its command and be killed half-way.
    '[gc]\n\tauto = 0',
    '',
  ].join('\n');
}

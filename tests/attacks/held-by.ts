/** The defences that hold attacks: docs/security.md explains each kind once, and counts its attacks. */

/** Where it works: only in the sandbox, only with its system call filter, or with `--sandbox off` as well. */
type Reach = 'sandbox' | 'filter' | 'everywhere';

interface HoldKind {
  /** As docs/security.md names it. */
  readonly label: string;
  readonly reach: Reach;
  readonly means: string;
}

export const HOLDS = {
  mounts: {
    label: 'mounts',
    reach: 'sandbox',
    means:
      'a mount namespace: commands see the work tree, the toolchains on PATH (read-only) and scratch folders; `landlock`: rules for the same places',
  },
  pinned: {
    label: 'pinned mounts',
    reach: 'sandbox',
    means:
      'the source of a mount is resolved once, refused if commands could replace a part of its path, and compared before each command; `landlock`: the same for the places of its rules',
  },
  covers: {
    label: 'covers',
    reach: 'sandbox',
    means:
      'a throwaway git directory is mounted over `.git`, and nothing or an empty folder over other git dirs in the work tree; `landlock`: no run if a git dir is in the work tree, and `.git` files are put back',
  },
  layers: {
    label: 'cache layers',
    reach: 'sandbox',
    means:
      "of a package manager's cache, only folders with packages, read-only, below a layer of the run that takes what commands write",
  },
  processes: {
    label: 'process namespace',
    reach: 'everywhere',
    means:
      'a pid namespace for each command, which the kernel kills along with process 1; `landlock`: a domain that its launcher kills; with `--sandbox off`, all that descends from the launcher is killed',
  },
  untraced: {
    label: 'untraceable shell',
    reach: 'sandbox',
    means:
      'process 1 and the shell of a command execute an unreadable file, so that the kernel lets nothing trace them',
  },
  network: {
    label: 'network namespace',
    reach: 'sandbox',
    means:
      'a network namespace with only its own loopback interface; `landlock`: a broker, which connects to ports of the command, the proxy and services only',
  },
  proxy: {
    label: 'filtering proxy',
    reach: 'sandbox',
    means: 'the only way out: it permits hosts by name and checks their addresses before it connects',
  },
  web: {
    label: 'public pages',
    reach: 'everywhere',
    means:
      'pages are read only from allowed names whose addresses are all public; each redirection is checked again',
  },
  user: {
    label: 'no capability',
    reach: 'sandbox',
    means:
      'a user namespace without capabilities, even for root, and without further namespaces; `landlock`: no capabilities',
  },
  filter: {
    label: 'filter',
    reach: 'filter',
    means:
      'a system call filter (seccomp) refuses calls, flags, modes and socket families that no build needs',
  },
  environment: {
    label: 'environment',
    reach: 'everywhere',
    means: 'commands get an environment built from an allow-list, with an empty home folder',
  },
  wiped: {
    label: 'nothing in `/proc`',
    reach: 'everywhere',
    means: 'the runner has no secret on its command line, and wipes those in its environment from `/proc`',
  },
  inheritance: {
    label: 'closed descriptors',
    reach: 'everywhere',
    means: 'commands inherit no open files from the runner',
  },
  limits: {
    label: 'limit',
    reach: 'everywhere',
    means: 'a limit that the kernel, a watch or the tool enforces',
  },
  deadline: {
    label: 'time limit',
    reach: 'everywhere',
    means: 'each command has a time limit, and the run a deadline',
  },
  terminal: {
    label: 'no terminal',
    reach: 'everywhere',
    means: 'a session without a terminal, and an empty standard input',
  },
  bounded: {
    label: 'bounded work',
    reach: 'everywhere',
    means:
      'patterns and globs match in linear time, output is kept up to a size, long commands are passed in a file',
  },
  path: {
    label: 'path rules',
    reach: 'everywhere',
    means:
      'tool paths are relative, taken literally, lead no further up than the root and name no `.git` in any spelling',
  },
  descriptors: {
    label: 'descriptors',
    reach: 'everywhere',
    means: 'paths are opened one plain name at a time; no link is followed',
  },
  regular: {
    label: 'regular files',
    reach: 'everywhere',
    means: 'only regular files are read, checked after opening, through the same descriptor',
  },
  replaced: {
    label: 'a new file',
    reach: 'everywhere',
    means: 'tools rename a new file, without set-id bits, into the place of an existing one',
  },
  copies: {
    label: 'copies',
    reach: 'everywhere',
    means:
      'files with another name outside the work tree, or in a git dir, are replaced by copies before commands run',
  },
  inputs: {
    label: 'strict inputs',
    reach: 'everywhere',
    means: 'inputs of tools have a strict schema; none becomes an option of a program',
  },
  shadow: {
    label: 'shadow repository',
    reach: 'everywhere',
    means:
      "the runner's git uses git dirs that name no filter, driver, hook or file system monitor, and an environment built from nothing",
  },
  removal: {
    label: 'removed git dirs',
    reach: 'everywhere',
    means: 'new git dirs, `.git` files and links in the work tree are removed after the command',
  },
  throwaway: {
    label: 'throwaway git directory',
    reach: 'everywhere',
    means: 'git in commands uses a git directory without remotes, credentials and hooks',
  },
  rules: {
    label: 'named files',
    reach: 'everywhere',
    means: 'the result names what ignore rules keep out of the patch; files of the base are always in it',
  },
  denials: {
    label: 'named denials',
    reach: 'everywhere',
    means:
      'denied requests are in the result, found in the whole output of commands; `--if-denied error` ends with exit 8',
  },
  policy: {
    label: 'policy',
    reach: 'everywhere',
    means: '`allow` and `protect`: tools refuse such paths, and what commands change there is reverted',
  },
  examination: {
    label: 'examination',
    reach: 'everywhere',
    means: 'places that commands close are reopened to be examined; if that fails, the run ends with exit 8',
  },
  checkout: {
    label: 'fresh checkout',
    reach: 'everywhere',
    means: 'verification runs in a fresh checkout of the base with the patch and nothing else',
  },
  alone: {
    label: 'ended servers',
    reach: 'everywhere',
    means: 'MCP servers that are programs are ended before verification, review and the patch',
  },
  review: {
    label: 'flags',
    reach: 'everywhere',
    means: 'result and messages name the change for review',
  },
  withheld: {
    label: 'withheld patch',
    reach: 'everywhere',
    means: 'a patch that adds a known secret or a well-known kind of token is withheld (exit 8)',
  },
  redaction: {
    label: 'redaction',
    reach: 'everywhere',
    means: 'known secrets and tokens are hidden in everything that leaves, before it is cut or formatted',
  },
  neutral: {
    label: 'neutral output',
    reach: 'everywhere',
    means: 'what a terminal or a CI runner would obey is removed from everything that is printed',
  },
  page: {
    label: 'inert page',
    reach: 'everywhere',
    means: 'the policy of the report permits its own script and style, no markup from texts and no requests',
  },
  foreign: {
    label: 'run directory check',
    reach: 'everywhere',
    means:
      'a run directory may hold only what belongs there, within bounds, without links; permissions in its journal have to be granted again',
  },
  reviewer: {
    label: 'one tool',
    reach: 'everywhere',
    means: 'a reviewer has one tool, for findings; what it is shown cannot close the tags around it',
  },
  programs: {
    label: 'fixed programs',
    reach: 'everywhere',
    means:
      'the runner takes programs from fixed folders, none in the work tree, and ignores configuration files of agents, shells and package managers',
  },
  settings: {
    label: 'settings rules',
    reach: 'everywhere',
    means:
      'a project file may only lower limits and cannot choose an address; only the key is read from `.env`, if git does not track it',
  },
  refused: {
    label: 'no start',
    reach: 'everywhere',
    means: 'several attempts do not start without a sandbox that isolates their commands',
  },
  today: {
    label: "today's settings",
    reach: 'everywhere',
    means: 'a run is resumed with the permissions of the person who resumes it',
  },
} as const satisfies Record<string, HoldKind>;

export type Hold = keyof typeof HOLDS;

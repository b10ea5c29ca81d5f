/** The defences that hold attacks: the docs explain each kind once, and name it in every row. */

/** Where it works: only in the sandbox, only with its system call filter, or with `--sandbox off` as well. */
type Reach = 'sandbox' | 'filter' | 'everywhere';

interface HoldKind {
  /** As a row of the docs names it. */
  readonly label: string;
  readonly reach: Reach;
  readonly means: string;
}

export const HOLDS = {
  mounts: {
    label: 'mounts',
    reach: 'sandbox',
    means:
      'mount namespace: the work tree, the toolchains on PATH (read-only) and scratch folders are all that commands see',
  },
  pinned: {
    label: 'pinned mounts',
    reach: 'sandbox',
    means:
      'the source of every mount is resolved once, when the sandbox opens, refused if commands could replace a part of its path, and compared before each command begins',
  },
  covers: {
    label: 'covers',
    reach: 'sandbox',
    means:
      'mounts over `.git`: a throwaway git directory over yours, and nothing or an empty folder over those of repositories in the work tree and over git dirs there that a `.git` file leads to',
  },
  layers: {
    label: 'cache layers',
    reach: 'sandbox',
    means:
      "of a package manager's cache (`--cache`), only folders with packages, read-only, under a layer of the run that takes what commands write",
  },
  processes: {
    label: 'process namespace',
    reach: 'everywhere',
    means:
      'a pid namespace for each command: it cannot see or signal other processes, and the kernel kills everything in it along with process 1; with `--sandbox off`, processes with a mark in their environment are found and killed',
  },
  untraced: {
    label: 'untraceable shell',
    reach: 'sandbox',
    means:
      'process 1 and the shell of a command execute an unreadable file, so that the kernel lets nothing trace them, write to their memory or take their descriptors',
  },
  network: {
    label: 'network namespace',
    reach: 'sandbox',
    means: 'a network namespace with only its own loopback interface',
  },
  proxy: {
    label: 'filtering proxy',
    reach: 'sandbox',
    means:
      'the only way out of the sandbox: it permits hosts by name and checks their addresses before it connects',
  },
  web: {
    label: 'public pages',
    reach: 'everywhere',
    means:
      'pages are read only from allowed names, and only if all addresses of the name are public; the connection goes to the checked address, and each redirection is checked again',
  },
  user: {
    label: 'no capability',
    reach: 'sandbox',
    means: 'user namespace without any capability, even for root, and without further namespaces in it',
  },
  filter: {
    label: 'filter',
    reach: 'filter',
    means:
      'system call filter (seccomp): refuses calls, flags, modes and socket families that no build needs',
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
    means:
      'a limit, enforced by the kernel, by a watch that checks four times a second, or by the tool (`commandLimits` in the result says which)',
  },
  deadline: {
    label: 'time limit',
    reach: 'everywhere',
    means: 'each command has a time limit, capped by `--max-command-timeout`, and the run has a deadline',
  },
  terminal: {
    label: 'no terminal',
    reach: 'everywhere',
    means:
      'a separate session without a terminal, and empty standard input: a program that asks gets no answer and continues',
  },
  bounded: {
    label: 'bounded work',
    reach: 'everywhere',
    means:
      "the runner's own work is bounded: patterns and globs match in linear time, output is kept up to a size, long commands go by a file",
  },
  path: {
    label: 'path rules',
    reach: 'everywhere',
    means: 'paths of tools are relative, taken literally, and name neither `..` nor `.git` in any spelling',
  },
  descriptors: {
    label: 'descriptors',
    reach: 'everywhere',
    means: 'paths are opened through descriptors, one plain name at a time; no link is followed',
  },
  regular: {
    label: 'regular files',
    reach: 'everywhere',
    means: 'files are checked after opening, through the same descriptor: only regular files are read',
  },
  replaced: {
    label: 'a new file',
    reach: 'everywhere',
    means:
      'tools never write into an existing file: they rename a new one, without set-id bits, into its place',
  },
  copies: {
    label: 'copies',
    reach: 'everywhere',
    means:
      'files with a name outside of the work tree, or in a git dir, are replaced by copies before commands run',
  },
  inputs: {
    label: 'strict inputs',
    reach: 'everywhere',
    means: 'inputs of tools have a strict schema, and none is passed to a program as an option',
  },
  shadow: {
    label: 'shadow repository',
    reach: 'everywhere',
    means:
      "the runner's git works with git dirs of its own, which name no filter, driver, hook or file system monitor, and with an environment built from nothing",
  },
  afterwards: {
    label: 'check afterwards',
    reach: 'everywhere',
    means:
      'new set-uid and set-gid bits in the work tree are cleared: after the command, and for files that git ignores at the end of the run',
  },
  removal: {
    label: 'removed git dirs',
    reach: 'everywhere',
    means:
      'a new git dir, `.git` file or link in the work tree is removed when the command has ended; one from before stays, wherever it was moved; if one is missing, a possible copy of it is left and the run ends with exit 8',
  },
  throwaway: {
    label: 'throwaway git directory',
    reach: 'everywhere',
    means: 'git in commands works in a separate git directory, without remotes, credentials and hooks',
  },
  rules: {
    label: 'named files',
    reach: 'everywhere',
    means:
      'the result names what the run wrote and ignore rules keep out of the patch; files of the base are always in it',
  },
  denials: {
    label: 'named denials',
    reach: 'everywhere',
    means:
      'denied requests of calls are in the result, and end the run with exit 8 if `--if-denied error` is set; the whole output of commands is searched for them',
  },
  policy: {
    label: 'policy',
    reach: 'everywhere',
    means:
      'tools refuse paths that `allow` and `protect` exclude, and writes that would make a folder a repository for git; what commands change there is reverted, and other repositories in the work tree that the rules could concern are read-only or, with `--sandbox off`, watched',
  },
  examination: {
    label: 'examination',
    reach: 'everywhere',
    means:
      'places that commands close are reopened before they are examined; places that cannot be examined end the run with exit 8',
  },
  checkout: {
    label: 'fresh checkout',
    reach: 'everywhere',
    means:
      'verification runs in a fresh checkout of the base with the patch, without anything else from the work tree',
  },
  alone: {
    label: 'ended servers',
    reach: 'everywhere',
    means:
      'MCP servers that are programs are ended before verification, review and the patch, and started again by the next call',
  },
  review: {
    label: 'flags',
    reach: 'everywhere',
    means: 'the change stays in the patch, and result and messages name it for review',
  },
  withheld: {
    label: 'withheld patch',
    reach: 'everywhere',
    means: 'a patch that adds a known secret or a well-known kind of token is withheld (exit 8)',
  },
  redaction: {
    label: 'redaction',
    reach: 'everywhere',
    means: 'known secrets and tokens are redacted in everything that leaves, before it is cut or formatted',
  },
  neutral: {
    label: 'neutral output',
    reach: 'everywhere',
    means:
      'everything printed passes through a function that removes whatever a terminal or a CI runner would obey',
  },
  page: {
    label: 'inert page',
    reach: 'everywhere',
    means:
      'texts are data in the report; its policy permits only its own script and style, no markup from texts and no requests',
  },
  foreign: {
    label: 'run directory check',
    reach: 'everywhere',
    means:
      'a run directory is checked before it is used: only files and folders that belong there, within bounds, no links, and objects only from it or the checkout; only the caller can grant the permissions in its journal',
  },
  reviewer: {
    label: 'one tool',
    reach: 'everywhere',
    means:
      'a reviewer has one tool, for findings, and no other call is carried out; what it is shown cannot close the tags around it',
  },
  programs: {
    label: 'fixed programs',
    reach: 'everywhere',
    means:
      'the runner takes its programs from fixed folders of the machine, or from its own, and ignores the configuration files of agents, shells and package managers; `doctor` tries tools in an empty folder',
  },
  settings: {
    label: 'settings rules',
    reach: 'everywhere',
    means:
      'a project file may lower limits, not raise them, and cannot choose an address; only the key is read from `.env`, and only if git does not track it',
  },
  refused: {
    label: 'no start',
    reach: 'everywhere',
    means: 'several attempts do not start without a sandbox that isolates their commands',
  },
  today: {
    label: "today's settings",
    reach: 'everywhere',
    means:
      'a recorded run is resumed with the settings of the person who resumes it: permissions in its journal beyond these are refused before any request to the model, and what the settings protect stays protected',
  },
} as const satisfies Record<string, HoldKind>;

export type Hold = keyof typeof HOLDS;

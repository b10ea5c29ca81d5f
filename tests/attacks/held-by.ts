/** What holds an attack: the kinds that the docs explain once, and name in every row. */

/** Where it works: only in the sandbox, only where that has its system call filter, or with `--sandbox off` as well. */
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
  covers: {
    label: 'covers',
    reach: 'sandbox',
    means:
      'mounts over `.git`: a throwaway git directory over yours, nothing or an empty folder over those of repositories in the work tree, and over git dirs there that a `.git` file leads to',
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
      'a pid namespace for each command: no other process can be seen or signalled, and the kernel kills all of it with its process 1; with `--sandbox off`, what carries a mark in its environment is found and killed',
  },
  untraced: {
    label: 'untraceable shell',
    reach: 'sandbox',
    means:
      'process 1 and the shell of a command execute a file that cannot be read, so that the kernel lets nothing trace them, write to them or take their descriptors',
  },
  network: {
    label: 'network namespace',
    reach: 'sandbox',
    means: 'a network namespace with a loopback interface of its own and nothing else',
  },
  proxy: {
    label: 'filtering proxy',
    reach: 'sandbox',
    means:
      'the only way out of the sandbox: it permits hosts by their names and checks to which addresses these lead before it asks anybody for them',
  },
  web: {
    label: 'public pages',
    reach: 'everywhere',
    means:
      'pages are read of allowed names alone, and only where every address that the name leads to is a public one; the connection goes to the address that was looked at, and each redirection is looked at anew',
  },
  user: {
    label: 'no capability',
    reach: 'sandbox',
    means: 'user namespace without any capability, root included, and no further namespace in it',
  },
  filter: {
    label: 'filter',
    reach: 'filter',
    means: 'system call filter (seccomp): the calls, flags, modes and socket families that no build needs',
  },
  environment: {
    label: 'environment',
    reach: 'everywhere',
    means: 'commands get an environment built from an allow-list, with a home folder that is empty',
  },
  wiped: {
    label: 'nothing in `/proc`',
    reach: 'everywhere',
    means:
      'the runner has no secret on its command line, and wipes those of its environment from what `/proc` shows',
  },
  inheritance: {
    label: 'closed descriptors',
    reach: 'everywhere',
    means: 'commands inherit no open file of the runner',
  },
  limits: {
    label: 'limit',
    reach: 'everywhere',
    means:
      'a limit, enforced by the kernel, by a watch that looks four times a second, or by the tool (`commandLimits` in the result says which)',
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
      'a session of its own without a terminal, and empty standard input: whoever asks gets no answer and goes on',
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
    means: 'what is opened is looked at first, through the same descriptor: only regular files are read',
  },
  replaced: {
    label: 'a new file',
    reach: 'everywhere',
    means: 'tools never write into a file: a new one, without set-id bits, is renamed into its place',
  },
  inputs: {
    label: 'strict inputs',
    reach: 'everywhere',
    means: 'inputs of tools have a strict schema, and none reaches a program as an option',
  },
  shadow: {
    label: 'shadow repository',
    reach: 'everywhere',
    means:
      "the runner's git works in a repository of its own, with an environment built from nothing, and never looks at the work tree, its configuration or its hooks",
  },
  afterwards: {
    label: 'check afterwards',
    reach: 'everywhere',
    means:
      'set-uid and set-gid bits in the work tree that came since the start are cleared: after the command, and of what git ignores at the end of the run',
  },
  removal: {
    label: 'removed git dirs',
    reach: 'everywhere',
    means:
      'a git dir, `.git` file or link in the work tree that was not there at the start is removed when the command has ended; one that was there stays, wherever it was moved, and while one is missing, what may be its copy is left and the run ends with exit 8',
  },
  throwaway: {
    label: 'throwaway git directory',
    reach: 'everywhere',
    means: 'git of commands works in a git directory of its own, without remotes, credentials and hooks',
  },
  rules: {
    label: 'named files',
    reach: 'everywhere',
    means:
      'what the run wrote and ignore rules keep out of the patch is named in the result; files of the base are always in it',
  },
  denials: {
    label: 'named denials',
    reach: 'everywhere',
    means:
      'what calls asked for and did not get is in the result, and ends the run with exit 8 where `--if-denied error` is given; of commands, all that they print is looked through',
  },
  policy: {
    label: 'policy',
    reach: 'everywhere',
    means:
      'tools refuse paths that `allow` and `protect` exclude, and what makes a folder a repository for git; what commands change there is put back, and other repositories in the work tree that the rules could concern are read-only or, with `--sandbox off`, watched',
  },
  examination: {
    label: 'examination',
    reach: 'everywhere',
    means:
      'what commands close is opened again before anybody looks; what cannot be examined ends the run with exit 8',
  },
  checkout: {
    label: 'fresh checkout',
    reach: 'everywhere',
    means:
      'verification runs in a fresh checkout of the base with the patch, where nothing else of the work tree is',
  },
  review: {
    label: 'flags',
    reach: 'everywhere',
    means: 'the change stays in the patch, and result and messages name it to be looked at',
  },
  withheld: {
    label: 'withheld patch',
    reach: 'everywhere',
    means: 'a patch that adds a known secret or a well-known kind of token is not given out (exit 8)',
  },
  redaction: {
    label: 'redaction',
    reach: 'everywhere',
    means: 'known secrets and tokens are hidden wherever something leaves, before it is cut or shaped',
  },
  neutral: {
    label: 'neutral output',
    reach: 'everywhere',
    means:
      'what is printed passes a function that leaves nothing in it for a terminal or a CI runner to obey',
  },
  page: {
    label: 'inert page',
    reach: 'everywhere',
    means:
      'texts are data in the report, and its policy permits the script and the style that it was built with, no markup from texts and no request',
  },
  foreign: {
    label: 'run directory check',
    reach: 'everywhere',
    means:
      'a run directory is looked through before it is used: files and folders of their own, bounded, no links, objects of the checkout or its own alone; what its journal permits itself, only the caller can permit',
  },
  reviewer: {
    label: 'one tool',
    reach: 'everywhere',
    means:
      'a reviewer has one tool, which takes findings, and no other call is carried out; what it is shown cannot close the tags around it',
  },
  programs: {
    label: 'fixed programs',
    reach: 'everywhere',
    means:
      'the runner takes its programs from fixed folders of the machine, or from its own, and no file of agents, shells or package managers configures it; `doctor` tries tools in an empty folder',
  },
  settings: {
    label: 'settings rules',
    reach: 'everywhere',
    means:
      'a project file may lower limits, not raise them, and chooses no address; of `.env` only the key is read, and only where git does not track it',
  },
  refused: {
    label: 'no start',
    reach: 'everywhere',
    means: 'several attempts do not begin where no sandbox keeps their commands apart',
  },
  today: {
    label: "today's settings",
    reach: 'everywhere',
    means:
      'a recorded run is resumed by the settings of whoever resumes it: what its journal asks for beyond them is refused before the model is asked, and what they protect stays',
  },
} as const satisfies Record<string, HoldKind>;

export type Hold = keyof typeof HOLDS;

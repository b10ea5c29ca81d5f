import {
  type Attack,
  CATEGORIES,
  MODES,
  type Mode,
  type Stage,
  verdictOf,
} from '../../tests/attacks/attack.ts';
import { HOLDS } from '../../tests/attacks/held-by.ts';
import { STAGES } from '../../tests/attacks/stages.ts';
import { FUZZ as FUZZ_RUNS } from '../../tests/support/setup/sample.ts';

/** `docs/security.md`: what each mode promises, and how each attack of the suite ends. */
export function securityPage(): string {
  const attacks = STAGES.flatMap((stage) => stage.attacks);
  const tables = CATEGORIES.map((category) =>
    [
      `### ${category}`,
      '',
      '| what the attacker tries | in the sandbox | without its filter | `--sandbox off` | held by | as | case |',
      '|---|---|---|---|---|---|---|',
      ...STAGES.flatMap((stage) =>
        stage.attacks.filter((attack) => attack.category === category).map((attack) => row(attack, stage)),
      ),
    ].join('\n'),
  );
  const counted = `The suite has ${attacks.length} attacks. In the sandbox ${count(attacks, 'contained')} are held, without its filter ${count(attacks, 'unfiltered')}, with \`--sandbox off\` ${count(attacks, 'none')}.`;
  return `${[THREATS, OPEN, TESTED, counted, HELD_BY, kinds(), ...tables, FUZZ].join('\n\n')}\n`;
}

/** The meaning of each name in the column "held by". */
function kinds(): string {
  const rows = Object.values(HOLDS).map(({ label, reach, means }) => cells([label, means, REACHES[reach]]));
  return ['| held by | what that is | where |', '|---|---|---|', ...rows].join('\n');
}

const REACHES = { everywhere: 'everywhere', sandbox: 'in the sandbox', filter: 'with the filter' } as const;

const VERDICTS = {
  held: 'held',
  open: '**not contained**',
  untried: '**not contained** (not tried)',
} as const;

function row(attack: Attack, { byOwner }: Stage): string {
  const verdicts = MODES.map((mode) => VERDICTS[verdictOf(attack, mode)]);
  const heldBy = attack.heldBy.map((hold) => HOLDS[hold].label).join(', ') || 'nothing';
  const as = byOwner ? 'root and user' : 'either';
  return cells([attack.what, ...verdicts, heldBy, as, `\`${attack.id}\``]);
}

function cells(texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}

function count(attacks: readonly Attack[], mode: Mode): number {
  return attacks.filter((attack) => verdictOf(attack, mode) === 'held').length;
}

const THREATS = `# Security

What patchsmith promises against hostile input, what it does not, and how this is tested. The tables are generated from the
attack suite (\`tests/attacks\`) by \`npm run docs\`.

## Who is hostile

The model (it may obey an attacker), the repository with its history and configuration, issue texts and plans that quote them,
and the output of every command. The machine, the person who starts the run, its flags and environment, the machine's programs
(git, bubblewrap, the toolchains on PATH) and the endpoint that the key is sent to are trusted.

Whatever the model is shown is sent to the provider, and the model can read everything in the work tree. If the environment
names an OpenTelemetry collector, times, names and counts are sent there ([observability.md](observability.md#traces)).

Documents (PDF, \`.docx\`), and HTML fetched by \`web_fetch\`, are read outside the sandbox, each by a separate patchsmith process: it
has no variables, may open no file, start no program and write nowhere (Node's permission model), and is killed after 30 seconds or
at 768 MiB (HTML: after 10 seconds); nothing in it is executed. The process does have network access. Images are not decoded: an
image with a known secret in its bytes is not shown; a secret rendered in the picture is not found.

## What is promised

| | in the sandbox (\`required\`, \`auto\` if it is available) | \`--sandbox off\` |
|---|---|---|
| The checkout | is the folder in which \`.git\` was found: a repository that names another work tree, or another repository's git dir, is refused ([trust.md](trust.md#where-the-checkout-is)) | the same |
| File tools | nothing outside the work tree is read or written, \`.git\` is out of reach, even while others swap folders for links: every file, also for searches, is opened through descriptors, one path component at a time | the same |
| Commands: files | only the work tree, the toolchains on PATH (read-only, credential files covered), requested mounts; no home, no run directory, neither your \`.git\` nor that of a submodule or another checkout in the work tree; a git dir that did not exist at the start is removed after the command that made it, unless it may be a copy of a repository of yours that is gone (exit 8) | **nothing**: a command can do what the user can, but git dirs that it makes are removed, with the same exception |
| Commands: secrets | an environment from an allow-list; the machine's processes are invisible; no agent, daemon or runner socket, unless one is in a place that commands see | the same environment; key and variables that are named like secrets are wiped from what \`/proc\` shows of the runner. **Not promised**: its memory, other variables, files |
| Commands: network | only a proxy that refuses all hosts except those of \`--allow-domain\` ([network.md](network.md)) | **not contained** |
| Processes | all are dead after each command, whatever they do | all that keep their environment; **not** one that clears it and leaves its session |
| Memory, processes, file size, disk | limits, enforced by the kernel or a watch; \`commandLimits\` in the result says which | the same, mostly by the watch |
| The runner's own work | the deadline and signals end it within five seconds, git processes and loops over files included; text from outside is matched in linear time, and a watchdog ends a process whose main thread is stuck ([outcomes.md](outcomes.md)); the files and bytes that a run may change are limited, and anything beyond is not read; one git process allocates at most 1 GiB and maps 256 MiB of packs | the same |
| git | nothing planted in the repository or by the model is run by the runner: git looks at the work tree through a git dir of the run, which names no program ([decision 060](decisions/060-git-looks-at-the-work-tree.md)), and contents are read by the runner itself, following no links | the same. The model's commands that call git run what the model planted, like any program |
| Policy | \`allow\` and \`protect\` are enforced for tools and, by reverting changes, for commands, whatever ignore rules these write; submodules and other checkouts in the work tree, where nothing can be reverted, are mounted read-only for all but setup commands if the globs could concern them, and changes in the others are named; changes that deserve a second look are flagged; a patch that adds a secret is withheld | the same, but what changes in such a checkout against the globs is found afterwards (exit 8) |
| Output | nothing printed has an effect on a terminal or a CI runner | the same |
| Redaction | known secret values (raw, by line, JSON, URL, base64, hex) and well-known token formats are hidden in results, journal, log, patch and messages | the same. **Not promised**, in either mode: a secret in the work tree that a command disguises |

\`--sandbox off\` does not contain commands. Use it only on a disposable machine that holds nothing of value.

The sandbox is only as strong as the kernel's namespaces: a vulnerability in the kernel affects it, too. If kernel or processor
do not support the system call filter, the sandbox runs without it (level \`namespaces\`) and warns.

On GitHub Actions a run also checks who started it, whose code is checked out and whose text is the task: see the tables in
[trust.md](trust.md), which \`tests/e2e/run/trust.test.ts\` and \`tests/e2e/run/plan-from-issue.test.ts\` test.`;

const OPEN = `## What an attacker could still try

The defences tested below do not prevent any of this. Each point says what remains possible, and what limits the damage.

Past the sandbox:

- **A kernel vulnerability.** Commands share the machine's kernel. The filter refuses what has repeatedly let programs escape
  from containers (new namespaces, mounts, bpf, io_uring, keyrings, userfaultfd), and there are no capabilities. Run in a
  disposable virtual machine, as GitHub's runners are.
- **A machine without the filter** (level \`namespaces\`; \`sandbox\` in the result and a warning say so). Sockets to the
  hypervisor are then in reach, with bubblewrap before 0.8 also new namespaces. A command run as root can create a set-uid
  program, which stays until it is cleared: in the work tree when the command has ended, or at the end of the run if git ignores
  the file; in a folder of \`--mount PATH:rw\` permanently. Nothing is cleared if the runner itself is killed and the run is
  neither resumed nor undone. \`--sandbox required\` accepts this level. Do not run as root there, and remove the work tree
  afterwards.
- **\`--sandbox off\`**, and \`auto\` where no sandbox is available: a command can do whatever the user can. File capabilities
  (\`setcap\`) that root's commands leave are not cleared. On GitHub Actions no such run starts on an outsider's code, or if a checkout
  has left git credentials.
- **Sockets with a path, and named pipes.** Neither a network namespace nor a read-only mount isolates them: if a process of
  the machine listens on one in the work tree, in a toolchain or in a cache, a command can connect or write to it. A \`--mount\` is
  refused if one is directly in it, or if the kernel lists a socket further below (\`/proc/net/unix\`); not found are named pipes
  below, and sockets that were bound by a relative path, in another container, or since the sandbox opened.
- **Process 1 of the sandbox** cannot be traced or read, but a command may change its limits and its priority (\`prlimit\`,
  \`setpriority\` need no right to trace). All it achieves is to end its own command, with a non-zero exit code.
- **What you have granted.** A folder of \`--mount PATH:rw\` can be filled with things that your later builds run (a package
  cache, for example); toolchain folders on PATH can be read completely, except well-known credential files.

Through intended channels:

- **The work tree is shown to the provider of the model**, including ignored files. Keep anything that must not leave out of it.
  This includes a git dir that is not called \`.git\`, such as a bare repository: the file tools read its configuration,
  including credentials.
- **A secret in the work tree that is disguised** (reversed, encrypted, letter by letter) passes redaction, and the search for secrets in the
  patch: it can leave in a request, in the patch, and with \`publish\` on GitHub. Keep secrets out of the checkout; the runner's own are
  not in reach of commands.
- **Every object of the repository can be read**, by its id: commands see the whole object store read-only, and \`git fsck\` or
  \`git cat-file --batch-all-objects\` lists also what no branch names any more: stashes, dropped commits, what was staged and
  never committed. A fresh clone, as made by actions/checkout, has none of that ([decision
  025](decisions/025-the-object-store-is-shown-whole.md)).
- **Variables of \`--setup-env\`** are visible to setup commands and what these run: a package's install script can send them to
  an allowed host, or leave them in a form that the later search does not find
  ([network.md](network.md#credentials-of-a-registry)).
- **Behind the machine's proxy** that proxy resolves names. The owner of an allowed name can point it at something inside the
  proxy's network, unless the proxy refuses that.
- **Hosts of \`--allow-domain\`**: anyone who can publish there, or read its logs, can receive data; the contents of TLS are not
  inspected. No host is allowed by default, and the result counts what was refused ([network.md](network.md)).
- **Addresses of pages, queries and calls.** A host of \`--web-fetch\`, the search behind \`BRAVE_API_KEY\` and an MCP server
  get what the model sends them, which may be what it has read. With \`--web-fetch '*'\` that can be any public host. Name the
  hosts, and the tools of servers, that a plan needs ([network.md](network.md#the-web-for-the-model), [mcp.md](mcp.md)).
- **The secret of a sandboxed MCP server whose code is in the work tree.** The model may have written what it loads after its
  start. Install a server that gets a secret outside the work tree.
  It is not started again after verification.
- **The record in a pull request.** \`--continue\` believes it if the branch is in the repository itself and has a commit of a
  run: anyone who may push there can write both. Its rules are taken from the base if the plan is a file
  ([follow-ups.md](follow-ups.md)).
- **Side channels**: how long a command takes, how busy the processors, caches and disks are.
- **Time.** git tries every way to distribute the folders of a path over several \`**/\`: a \`.gitignore\` pattern with six \`**/a/\`
  takes 13 s for one path of 80 such folders, and with twelve of them hours. Such a run ends by its deadline, with the patch so far.
- **Who changed a file.** A change that another process makes while a command runs counts as the command's, and can get into the
  patch. A folder that another process makes a repository drops out of it.

Into what you do next:

- **A change that is plausible and wrong.** An instruction hidden in a file, in an issue or in the output of a command can lead
  the model to a patch that passes every test. \`allow\` limits where, flags name what to check, provenance names the calls
  behind each hunk. Somebody has to read the patch.
- **Verification of code by that code.** Code that the model wrote can detect the test and print what is expected, end the test
  process with code 0, or weaken the tests. \`--protect\` keeps test files unchanged, flags name tests that are deleted, skipped or
  weakened, and \`--verify-in checkout\` (the default of the action) removes everything that is not in the patch. None of this proves
  that code designed to deceive its own tests is right.
- **Files that git ignores.** They are in no patch, but remain: a rewritten \`node_modules/.bin/vitest\` or \`.npmrc\` is run by
  your next command, and by verify commands in the work tree. \`--verify-in checkout\` does not see them; \`ignoredFiles\` in
  the result and a warning name those that changed. A bare repository planted there, or within another checkout of the work
  tree, runs programs for anyone who calls git in it. Use a disposable checkout, or check there before you continue.
- **Checkouts in the work tree that cannot be hidden** (more than 64 of them, or a \`.git\` that is a link): \`required\`
  refuses (exit 10), \`auto\` continues with a warning, and a command can then change what your git runs there.
- **Another person's run directory.** It is checked before it is used and grants nothing by itself, yet \`undo\` writes the
  contents it holds into files, and \`resume\` continues its conversation at your cost
  ([after-a-run.md](after-a-run.md#a-run-directory-that-is-not-yours)).

At the cost of the machine:

- **Memory in socket and pipe buffers** belongs to no process and is not a file. It does not count towards \`--max-memory\`; but
  the command is killed when the machine runs low.
- **A runner that is killed while it starts a command** (SIGKILL within milliseconds) executes nothing, but can leave one idle
  bubblewrap process behind, which has mounted nothing.
- **Processor time.** It is only limited by the time of a command (\`--max-command-timeout\`), the number of its processes and
  the deadline of the run. A cgroup around the runner limits it.
- **A fork bomb in a run that root has started**, or without a sandbox. There only a watch limits the number of processes: on a busy
  machine a bomb can be ahead of it, take every process number there is, and hold up its own end, and with it the run's, for
  minutes. A user without privileges has the kernel's limit (\`commandLimits\` says \`kernel\`). Do not run as root on a machine that
  others work on, or put a cgroup with \`pids.max\` around the runner.
- **Memory and disk up to their limits**, and for a moment beyond: where the watch keeps a limit it looks four times a second.
  \`--max-disk\` is 10 GiB by default; what was written to ignored folders stays after the run.
- **Inside one command** programs can trace, stop and replace each other, except process 1 and the shell that runs the script. So a
  test runner that starts hostile code under the same user can be made to say anything; the exit code that counts is that of the
  shell.`;

const TESTED = `## How it is tested

Each attack is a scripted model that obeys the attacker, played against the built command by a local Claude API as strict as
the real one, with real git, real bubblewrap and a victim that has a home with credentials, neighbours, traps and listeners.
Every attack is played in three modes: in the sandbox, in the sandbox without its filter, and with \`--sandbox off\`. **held**:
the goal is not reached. **not contained**: nothing is promised, and the test shows that the goal *is* reached, so that the
same test would see it where it must not be; where trying would harm the machine it is not tried. \`npm test\` plays all of them in
the sandbox and a part of them without its filter, \`npm run test:full\` all in every mode, and where root runs it, as a user without
privileges too. The tables hold for both. In the rows that say *root and user* in the column "as", it matters which of the two it is.

After each run the test searches for every canary in all that leaves (tool results, requests to the model, journal, log, patch,
result, stdout, stderr), as it is, reversed, in base64, hex, URL and JSON escapes, wrapped and spelled out; the runner must have
stayed below 300 MB.

## Results`;

const HELD_BY = `Each row names what holds the attack; where there are several, each is a further line of defence, or stops a part of the attack.`;

/** How many of a kind `npm test` and the nightly suite try. */
function runs(what: keyof typeof FUZZ_RUNS): string {
  const { sampled, all } = FUZZ_RUNS[what];
  const [few, many] = [sampled, all].map((number) => number.toLocaleString('en-US'));
  return `${few} ${what} in \`npm test\`, the same ones each time, and ${many} others every night in \`npm run test:full\``;
}

const FUZZ = `## Fuzzing

Property tests try paths as the model may write them (\`tests/fuzz/path.test.ts\`),
inputs of the tools, through the real executor (\`tests/fuzz/tool-inputs.test.ts\`), and redaction
(\`tests/fuzz/redact.test.ts\`), each with ${runs('cases')}.
Looks at a work tree are compared with a naive walk
(\`tests/fuzz/tree-walk.test.ts\`): ${runs('trees')}.

Random sequences of hostile commands between tool calls (\`tests/attacks/hostile-commands.test.ts\`: chmod, rename, exchange, links,
signals, ptrace, repositories, closed folders, sparse files, millions of lines) are played against the built command, as the user of
the tests and, where that is root, as one without privileges. After each run nothing outside was read or written, nothing
protected has changed, nothing is alive, no file has a set-id bit, git runs nothing that was planted, the runner has stayed below
400 MB, and the result is final; where a deadline strikes in their midst, the run is over within five seconds of it, with all of
this: ${runs('sequences')}.
\`PATCHSMITH_FUZZ_SEED\` and \`PATCHSMITH_FUZZ_SEQUENCES\` select others, and more.`;

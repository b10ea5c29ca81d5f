import { type Attack, CATEGORIES, LEVELS, MODES, type Mode, verdictOf } from '../../tests/attacks/attack.ts';
import { HOLDS, type Hold } from '../../tests/attacks/held-by.ts';
import { STAGES } from '../../tests/attacks/stages.ts';
import { FUZZ as FUZZ_RUNS } from '../../tests/support/setup/sample.ts';

const ATTACKS: readonly Attack[] = STAGES.flatMap((stage) => stage.attacks);

/** `docs/security.md`: what each mode promises, and how many attacks of each class are held by what. */
export function securityPage(): string {
  return `${[PROMISES, KEPT, OPEN, TESTED, classes(), HELD_BY, defences(), FUZZ].join('\n\n')}\n`;
}

/** How many attacks of each category are held in each mode. */
function classes(): string {
  const rows = [...CATEGORIES, null].map((category) => {
    const attacks = ATTACKS.filter((attack) => category === null || attack.category === category);
    return cells([category ?? 'All', attacks.length, ...MODES.map((mode) => held(attacks, mode))]);
  });
  const open = ATTACKS.filter((attack) => verdictOf(attack, 'contained') !== 'held');
  return [
    `| attacks | tried | ${MODES.map((mode) => `\`${LEVELS[mode]}\``).join(' | ')} |`,
    `|---|---|${MODES.map(() => '---|').join('')}`,
    ...rows,
    '',
    `Not held in the sandbox: ${open.map(({ id, what }) => `${what} (\`${id}\`)`).join('; ')}.`,
  ].join('\n');
}

/** What each defence is, where it works, and how many attacks name it. */
function defences(): string {
  const rows = Object.entries(HOLDS).map(([hold, { label, reach, means }]) =>
    cells([
      label,
      means,
      REACHES[reach],
      ATTACKS.filter(({ heldBy }) => heldBy.includes(hold as Hold)).length,
    ]),
  );
  return ['| defence | what it does | where | attacks |', '|---|---|---|---|', ...rows].join('\n');
}

const REACHES = { everywhere: 'everywhere', sandbox: 'in the sandbox', filter: 'with the filter' } as const;

function cells(values: readonly (string | number)[]): string {
  return `| ${values.map((value) => String(value).replaceAll('|', '\\|')).join(' | ')} |`;
}

function held(attacks: readonly Attack[], mode: Mode): number {
  return attacks.filter((attack) => verdictOf(attack, mode) === 'held').length;
}

const PROMISES = `# Security

What patchsmith promises against hostile input, what it does not, and how that is tested. [SECURITY.md](../SECURITY.md) says how to
report a vulnerability. \`npm run docs\` generates this page; its figures come from \`tests/attacks\`.

## Who is hostile

The model (it may obey an attacker), the repository with its history and configuration, issue texts and plans that quote them,
and the output of every command. Trusted are the machine and its programs (git, bubblewrap, the toolchains on PATH), the person
who starts the run, with flags and environment, and the endpoint that the key is sent to. On GitHub Actions a run also checks who
started it, whose code is checked out and whose text is the task: [trust.md](trust.md).

The model can read everything in the work tree, and what it reads is sent to the provider. If the environment names an
OpenTelemetry collector, times, names and counts are sent there ([observability.md](observability.md#traces)).

PDF files, and the HTML of \`web_fetch\`, are parsed outside the sandbox, each in a patchsmith process of its own without
variables, files, programs or anywhere to write (Node's permission model), which is killed after 30 seconds or at 768 MiB (HTML:
10 seconds). That process has network access. Images are not decoded: one with a known secret in its bytes is not shown, while a
secret drawn in the picture is not found.

## What is promised

| | in the sandbox (\`required\`, or \`auto\` where it is available) | \`--sandbox off\` |
|---|---|---|
| The checkout | is the folder that has \`.git\`; a repository that names another work tree, or another repository's git dir, is refused ([trust.md](trust.md#where-the-checkout-is)) | the same |
| File tools | reach nothing outside the work tree and no \`.git\`, even while others swap folders for links | the same |
| Commands: files | see only the work tree, the toolchains on PATH (read-only, credential files covered) and requested mounts: no home, no run directory, no \`.git\` of yours, of a submodule or of another checkout in the work tree. A git dir that is new is removed after the command that made it, unless it is a folder that may be a copy of one of yours that is gone (exit 8) | **nothing**: a command can do what the user can. New git dirs are removed as in the sandbox |
| Commands: secrets | get an environment from an allow-list; see no process of the machine, and no agent, daemon or runner socket unless it lies in a place that commands see | the same environment; the key and variables that are named like secrets are wiped from what \`/proc\` shows of the runner. **Not promised**: its memory, other variables, files |
| Commands: network | reach only a proxy that refuses all hosts but those of \`--allow-domain\`, and the services of \`--service\` ([network.md](network.md)) | **not contained** |
| Processes | are all dead after each command | the same, **unless** a command kills the program that started it |
| Memory, processes, file size, disk | are limited by the kernel or a watch; \`commandLimits\` in the result says which | the same, mostly by the watch |
| The runner's own work | ends within five seconds of the deadline or a signal, git processes included; text from outside is matched in linear time, or given up after seconds; a watchdog ends a stuck process ([outcomes.md](outcomes.md)); the files and bytes that a run may change are limited, and no more is read; one git process allocates at most 1 GiB and maps 256 MiB of packs | the same |
| git | as called by the runner, executes nothing that the repository or the model planted: it looks through a git dir of the run that names no program ([decision 060](decisions/060-git-looks-at-the-work-tree.md)) | the same. The model's own commands that call git run what the model planted |
| Policy | \`allow\` and \`protect\` hold for tools and, by reverting, for commands, whatever ignore rules these write. Submodules and other checkouts that the globs could concern are read-only for all but setup commands; changes in the others are named. Changes that deserve a second look are flagged; a patch that adds a secret is withheld | the same, but changes in such a checkout are found afterwards (exit 8) |
| Files that tools obey | what a model or an outsider wrote, such as \`.npmrc\`, \`.pnpmfile.cjs\` or \`rust-toolchain.toml\`, is interpreted only in the sandbox: the workflows that \`init\` writes start no tool beside it once something is checked out, and \`publish\` refuses such changes or makes the pull request a draft ([trust.md](trust.md#what-a-model-wrote-is-interpreted-only-in-the-sandbox)) | the same, except in the commands themselves |
| Follow-ups | are counted before a model is asked, whatever becomes of them; the same event pays once, and caps hold for a pull request and for a day ([follow-ups.md](follow-ups.md#rounds)) | the same |
| The network record | names every host that commands, pages, MCP servers and the model's API were asked for, reached or refused ([network.md](network.md)) | without those of commands |
| Output | has no effect on a terminal or a CI runner | the same |
| Redaction | hides known secret values (raw, by line, JSON, URL, base64, hex) and well-known token formats in results, journal, patch and messages | the same. **Not promised** in either mode: a secret in the work tree that a command disguises |

\`--sandbox off\` does not contain commands: use it only on a disposable machine that holds nothing of value. Where the kernel has no
system call filter, the sandbox runs without it (level \`namespaces\`) and warns.`;

const KEPT = `## What each level keeps

The promises above are those of \`namespaces+seccomp\`. The others keep them but for this:

| | \`namespaces\` | \`namespaces-lite\` | \`landlock\` |
|---|---|---|---|
| Files outside | hidden | hidden | closed: no reading, writing or starting. Names, sizes and modes can be seen; modes, owners, times and extended attributes of the user's own files **can be changed** |
| Processes outside | hidden | **names, arguments and states** can be seen | the same; no signals, no tracing, no limits or priorities |
| Git dirs | covered | covered | no run if one is in the work tree. \`.git\` files are put back when a command has ended, and may mislead a git that runs there **meanwhile** |
| Submodules under a policy | read-only | read-only | changes are **found afterwards** (exit 8) |
| Network | its own | its own | TCP to ports that the command listens on, to the proxy and to services, UNIX sockets in places it can write to; no datagrams. The machine's interfaces can be listed |
| \`/tmp\`, home | in memory, for each command | the same | on disk, for each command, as \`$TMPDIR\` and \`$HOME\`; the machine's \`/tmp\` is closed |
| Shared memory | its own | its own | none: no \`/dev/shm\`, System V IPC or message queues |
| Processes of a command | limited by kernel or watch | the same | limited by the watch |
| Set-id programs, kernel interfaces | **not filtered** | filtered | filtered |
| \`--cache\`, ssh and \`git://\` | work | work | refused, or without a way out |
| \`--service\` | by name and at \`localhost\` | the same | at \`localhost\` |`;

const OPEN = `## What an attacker could still try

None of this is prevented. Each point says what remains possible, and what limits the damage.

Past the sandbox:

- **A kernel vulnerability.** Commands share the machine's kernel, without capabilities and without the calls that have repeatedly
  let programs escape from containers (namespaces, mounts, bpf, io_uring, keyrings, userfaultfd). Run in a disposable virtual
  machine, as GitHub's runners are.
- **A machine without the filter** (level \`namespaces\`, which \`--sandbox required\` accepts). Sockets to the hypervisor are in reach,
  with bubblewrap before 0.8 also new namespaces. A command of root can make a set-uid program, which stays: only
  the filter refuses such modes. Do not run as root there.
- **A container that hides parts of \`/proc\`** (level \`namespaces-lite\`). Commands can read names, arguments, states, mounts and
  network tables of its processes; environments, memory, files and descriptors stay closed. Pass no secret as an argument there.
- **A container that refuses namespaces** (level \`landlock\`): what the table above says. Chmod can close files of the user to the
  user, or open them to other users of the container: run as a user who owns nothing else there. After each command, the way to the work
  tree and to the run directory is open again. If somebody kills launcher and guard of a command at the same moment, its processes
  and what it has made of a \`.git\` file stay; the latter also if the whole container ends.
- **\`--sandbox off\`**, and \`auto\` where no sandbox is available: a command can do whatever the user can. Set-uid programs and
  file capabilities (\`setcap\`) that root's commands leave stay. On GitHub Actions no such run starts on an outsider's code, or if a checkout
  has left git credentials.
- **Sockets with a path, and named pipes** in the work tree, a toolchain or a cache: a command can use one that a process of the
  machine listens on. A \`--mount\` is refused if one lies directly in it, or if \`/proc/net/unix\` lists a socket below. Not found are
  pipes below, and sockets bound by a relative path, in another container, or later.
- **Process 1 of the sandbox** cannot be traced or read, but its limits and priority can be changed, which can only end the command
  itself with a non-zero exit code.
- **What you have granted.** A folder of \`--mount PATH:rw\` can be filled with things that your later builds run (changes through hard links in it
  are reported); toolchain folders on PATH can be read, except for well-known credential files.

Through intended channels:

- **The work tree is shown to the provider**, ignored files and bare repositories (a git dir not called \`.git\`) included. Keep
  secrets out of the checkout.
- **A disguised secret of the work tree** (reversed, encrypted, letter by letter) passes redaction and the search of the patch: it
  can leave in a request, in the patch, and with \`publish\`. The runner's own secrets are out of reach of commands.
- **Every object of the repository can be read** by its id: also stashes, dropped commits, what was staged but never committed, and all
  of repositories that it borrows from (\`objects/info/alternates\`). A fresh clone has none of that ([decision 017](decisions/017-other-repositories-in-the-work-tree.md)).
- **Variables of \`--setup-env\`**: a package's install script can send them to an allowed host, or leave them in a file
  that the model's commands read ([network.md](network.md#credentials-of-a-registry)).
- **Behind the machine's proxy**, that proxy resolves names: the owner of an allowed name can point it inside the proxy's network.
- **Services of \`--service\`**: commands have all of their powers.
- **Hosts of \`--allow-domain\`**: whoever can publish there, or read its logs, can receive data; TLS is not inspected.
- **Addresses of pages, queries and calls.** Hosts of \`--web-fetch\` (with \`'*'\` any public one) and MCP servers get what the model sends them. Name only what a plan needs ([network.md](network.md#the-web-for-the-model),
  [mcp.md](mcp.md)).
- **The secret of an MCP server whose code is in the work tree**: the model may have written what it loads. Install a server that
  gets a secret elsewhere.
- **The record in a pull request** is believed by \`--continue\` if the branch is in the repository and has a commit of a run: anyone
  who may push there can write both. Rules come from the base if the plan is a file ([follow-ups.md](follow-ups.md)).
- **Side channels**: how long a command takes, how busy processors, caches and disks are.
- **Time.** A \`.gitignore\` pattern with six \`**/a/\` costs git 13 s for one path of 80 such folders, with twelve of them hours. Such a
  run ends by its deadline, with the patch so far.
- **Who changed a file.** What another process changes while a command runs counts as the command's and can get into the patch; a
  folder that another process makes a repository drops out of it. A change within the second in which the index was written is not
  seen if it leaves the size as it is and puts an older time back.

Into what you do next:

- **A change that is plausible and wrong.** A hidden instruction can lead the model to a patch that passes every test. \`allow\` limits
  where, flags name what to check, provenance names the calls behind each hunk. Somebody has to read the patch.
- **Verification of code by that code**, which can detect the test, end it with code 0, or weaken it. \`--protect\` keeps test files
  unchanged, flags name tests that are deleted, skipped or weakened, and \`--verify-in checkout\` (the action's default) leaves out all
  that is not in the patch. None of this proves that code which is made to deceive its tests is right.
- **Files that git ignores** are in no patch, but remain: your next command runs a rewritten \`node_modules/.bin/vitest\` or \`.npmrc\`,
  and a bare repository planted there, or in another checkout of the work tree, runs programs for whoever calls git in it.
  \`ignoredFiles\` in the result and a warning name what changed; \`--verify-in checkout\` does not see it. Use a disposable checkout.
- **Checkouts in the work tree that cannot be hidden** (more than 64, or a \`.git\` that is a link): \`required\` refuses (exit 10),
  \`auto\` warns, and a command can change what your git runs there.
- **Another person's run directory** is checked and grants nothing by itself, yet \`undo\` writes its contents into files, and \`resume\`
  continues its conversation at your cost ([after-a-run.md](after-a-run.md#a-run-directory-that-is-not-yours)).

At the cost of the machine:

- **Memory in socket and pipe buffers** does not count towards \`--max-memory\`; the command is killed when the machine runs low.
- **A runner that is killed while it starts a command** can leave one idle bubblewrap process, which has mounted nothing.
- **Processor time** is limited only by \`--max-command-timeout\`, the number of processes and the deadline; a cgroup limits it.
- **A fork bomb in a run that root has started**, or without a sandbox, is limited only by a watch: on a busy machine it can take
  every process number and hold up the run's end for minutes. Other users have the kernel's limit (\`commandLimits\` says \`kernel\`).
  Do not run as root on a shared machine, or put a cgroup with \`pids.max\` around the runner.
- **Memory and disk up to their limits**, and for a moment beyond where a watch keeps them: it looks four times a second.
- **Inside one command** programs can trace, stop and replace each other, except process 1 and the shell. A test runner that starts
  hostile code under the same user can be made to say anything; the exit code that counts is the shell's.`;

const TESTED = `## How it is tested

Each attack is a scripted model that obeys the attacker, played against the built command by a local Claude API as strict as
the real one, with real git, real bubblewrap and a victim that has a home with credentials, neighbours, traps and listeners. It is
*held* if its goal is not reached. Where nothing is promised, the test shows that the goal *is* reached, so that it would notice it
elsewhere; what would harm the machine is not tried. After each run every canary is searched for in all that leaves (results,
requests to the model, journal, patch, stdout, stderr), raw, reversed, in base64, hex, URL and JSON escapes, wrapped and spelled
out, and the runner must have stayed below 300 MB.

\`npm test\` plays all attacks in the sandbox and a part of them in the lesser levels; \`npm run test:full\` plays all in every mode, and
where root runs it, as a user without privileges too. \`npx vitest run --project attacks --reporter=verbose\` lists each attack, with
what it tries and how it ended.`;

const HELD_BY = `Each attack that is held names its defences; where there are several, each is a further line of defence, or stops a part of it.`;

/** How many of a kind \`npm test\` and the nightly suite try. */
function runs(what: keyof typeof FUZZ_RUNS): string {
  const { sampled, all } = FUZZ_RUNS[what];
  const [few, many] = [sampled, all].map((number) => number.toLocaleString('en-US'));
  return `${few} ${what} in \`npm test\`, ${many} others every night`;
}

const FUZZ = `Property tests in \`tests/fuzz\` try paths as a model may write them, inputs of tools through the real executor, and redaction (each
${runs('cases')}), and compare looks at a work tree with a naive walk (${runs('trees')}).
\`tests/attacks/hostile-commands.test.ts\` plays random sequences of hostile commands (chmod, rename, exchange, links, signals, ptrace,
repositories, closed folders, sparse files, millions of lines) against the built command (${runs('sequences')}). After each, nothing outside was read or
written, nothing protected has changed, nothing is alive, no file has a set-id bit, git runs nothing that was planted, the runner has
stayed below 400 MB, and the result is final, within five seconds of a deadline if one struck.`;

import { type Attack, CATEGORIES, MODES, type Mode, verdictOf } from '../attacks/attack.ts';
import { STAGES } from '../attacks/stages.ts';

/** `docs/security.md`: what is promised in each mode, and how each attack of the suite ends. */
export function securityPage(): string {
  const attacks = STAGES.flatMap((stage) => stage.attacks);
  const tables = CATEGORIES.map((category) =>
    [
      `### ${category}`,
      '',
      '| what the attacker tries | in the sandbox | without its filter | `--sandbox off` | case |',
      '|---|---|---|---|---|',
      ...attacks.filter((attack) => attack.category === category).map(row),
    ].join('\n'),
  );
  const counted = `The suite has ${attacks.length} attacks. In the sandbox ${count(attacks, 'contained')} are held, without its filter ${count(attacks, 'unfiltered')}, with \`--sandbox off\` ${count(attacks, 'none')}.`;
  return `${[THREATS, counted, ...tables, FUZZ].join('\n\n')}\n`;
}

const VERDICTS = {
  held: 'held',
  open: '**not contained**',
  untried: '**not contained** (not tried)',
} as const;

function row(attack: Attack): string {
  const cells = [attack.what, ...MODES.map((mode) => VERDICTS[verdictOf(attack, mode)])];
  return `| ${[...cells, `\`${attack.id}\``].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function count(attacks: readonly Attack[], mode: Mode): number {
  return attacks.filter((attack) => verdictOf(attack, mode) === 'held').length;
}

const THREATS = `# Security

What patchsmith promises against hostile input, what it does not, and how each was tested. The tables are generated from the
attack suite (\`tests/attacks\`, run by \`npm test\`) by \`npm run docs\`.

## Who is hostile

The model (it may obey an attacker), the repository with its history and configuration, issue texts and plans that quote
them, and the output of every command. Trusted are the machine, whoever starts the run, its flags and environment, the
programs of the machine (git, bubblewrap, the toolchains on PATH) and the endpoint that the key is sent to.

What the model is shown leaves the machine: it goes to the provider. Whatever lies in the work tree can be read by the model.

## What is promised

| | in the sandbox (\`required\`, \`auto\` where it can be had) | \`--sandbox off\` |
|---|---|---|
| File tools | nothing outside the work tree is read or written, \`.git\` is out of reach, also while others swap folders for links: every file, for the search too, is opened through descriptors, one plain name at a time | the same |
| Commands: files | only the work tree, the toolchains on PATH (read-only, credential files covered), mounts that were asked for; no home, no run directory, no \`.git\` of yours; nor that of a submodule or of another checkout in the work tree; a git dir that was not there at the start is removed after the command that made it | **nothing**: a command can do what the user can, but git dirs that it makes are removed |
| Commands: secrets | an environment from an allow-list; no process of the machine is seen; no agent, daemon or runner socket | the same environment; key and variables that are named like secrets are wiped from what \`/proc\` shows of the runner. **Not promised**: its memory, other variables, files |
| Commands: network | none | **not contained** |
| Processes | all are dead after each command, whatever they do | all that keep their environment; **not** one that empties it and leaves its session |
| Memory, processes, file size, disk | limits, kept by the kernel or a watch; \`commandLimits\` in the result says which | the same, mostly by the watch |
| git | nothing planted in the repository or by the model is run by the runner | the same. Commands of the model that call git run what the model has planted, as any program |
| Policy | \`allow\` and \`protect\` hold for tools and, by putting back, for commands; changes that deserve a second look are flagged; a patch that adds a secret is withheld | the same |
| Output | nothing printed is live for a terminal or a CI runner | the same |
| Redaction | known secret values (raw, by line, JSON, URL, base64, hex) and well-known token formats are hidden in results, journal, log, patch and messages | the same. **Not promised**, in either mode: a secret in the work tree that a command disguises |

\`--sandbox off\` contains no command. Use it only where the machine is thrown away afterwards and holds nothing of worth.

The sandbox is as strong as the kernel's namespaces: a hole in the kernel is a hole in it. On a machine whose kernel or
processor the system call filter cannot be had for, the sandbox does without (level \`namespaces\`) and says so in a warning: it
holds against the same attacks but for sockets to the hypervisor (\`network-vsock\`), and more of the kernel is in reach.

**What an attacker could still read**: every object of your repository, by its id. Commands see the whole object store read-only, and \`git fsck\`
or \`git cat-file --batch-all-objects\` lists also what no branch names any more: stashes, dropped commits, what was staged and never committed. A fresh clone, as
actions/checkout makes it, has none of that (docs/decisions/025-the-object-store-is-shown-whole.md).

On GitHub Actions a run also looks at who started it, whose code is checked out and whose words are the task: [trust.md](trust.md)
has the tables, and \`tests/e2e/trust.test.ts\` and \`tests/e2e/plan-from-issue.test.ts\` try them against a local GitHub: a bot that is
not on the list, hidden instructions in an issue, an edit after the label, rules in the head of a fork, \`pull_request_target\`, and
credentials in \`.git/config\`.

## How it is tested

Each attack is a scripted model that obeys the attacker, played against the built command by a local Claude API as strict as
the real one, with real git, real bubblewrap and a victim that has a home with credentials, neighbours, traps and listeners.
Every attack is played in three modes: in the sandbox, in the sandbox without its filter (the runner is started under a
filter of the test that refuses every further one, as a kernel without filters does), and with \`--sandbox off\`. **held**:
the goal is not reached. **not contained**: nothing is promised, and the test shows that the goal *is* reached, so that the
same test would see it where it must not be; where trying would harm the machine it is not tried. After each run every canary
is looked for in all that leaves (tool results, requests to the model, journal, log, patch, result, stdout, stderr), as it is,
reversed, in base64, hex, URL and JSON escapes, wrapped and spelled out; the runner must have stayed below 250 MB.

## Results`;

const FUZZ = `## Fuzzing

Property tests with at least 10,000 cases each run in \`npm test\`: paths as the model may write them (\`tests/fuzz/path.test.ts\`),
inputs of the tools, through the real executor (\`tests/fuzz/tool-inputs.test.ts\`), and redaction
(\`tests/fuzz/redact.test.ts\`). The tree walk is compared with a naive one
(\`tests/fuzz/tree-walk.test.ts\`) for 10,000 trees where \`CI\` is set and 1,000 elsewhere: a real tree takes 12 ms. Each is made
of the one before by small changes, since a checkout of its own for each would take an hour.`;

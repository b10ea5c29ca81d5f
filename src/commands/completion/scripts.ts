/** The completion of each shell, as the script that it reads. Pure. */

import type { Completed, CompletedCommand, CompletedFlag, SHELLS } from './words.ts';

type Shell = (typeof SHELLS)[number];

/** One script a shell. */
export const SCRIPTS: Readonly<Record<Shell, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The form of a run's id, for shells. */
const RUN_ID = '[0-9]{8}-[0-9]{6}-[0-9a-f]{6}';
const ZSH_RUN_ID = '[0-9](#c8)-[0-9](#c6)-[0-9a-f](#c6)';

function bashScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name);
  const values = commands.flatMap(({ name, flags }) =>
    flags.flatMap(({ flag, short, value }) =>
      value === null
        ? []
        : [{ at: [`${name}:${flag}`, ...(short === null ? [] : [`${name}:${short}`])], value }],
    ),
  );
  const byReply = new Map<string, string[]>();
  for (const { at, value } of values) {
    const reply = bashReply(value);
    byReply.set(reply, [...(byReply.get(reply) ?? []), ...at]);
  }
  return `# Completion of patchsmith for bash: source <(patchsmith completion bash)
_patchsmith_runs() {
  local place run
  echo last
  for place in "$RUNNER_TEMP" "$XDG_STATE_HOME" "$HOME/.local/state"; do
    [[ $place == /* ]] || continue
    for run in "$place"/patchsmith/*; do
      run=\${run##*/} run=\${run%.elsewhere}
      # compgen expands its words, so that no other name may get there.
      [[ $run =~ ^${RUN_ID}$ ]] && echo "$run"
    done
  done
}
_patchsmith() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command='' word=0 at
  COMPREPLY=()
  # bash takes --flag=value apart.
  if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ -n $command ]]; then
      [[ \${COMP_WORDS[at]} == -* ]] || ((word++))
    else
      case \${COMP_WORDS[at]} in ${names.join('|')}) command=\${COMP_WORDS[at]} ;; esac
    fi
  done
  case $command:$prev in
${[...byReply].map(([reply, at]) => `    ${at.join('|')}) ${reply}; return ;;`).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
      '') ${bashWords(['--help', '--version'])} ;;
${commands.map(({ name, flags }) => `      ${name}) ${bashWords(flags.flatMap(({ flag, short }) => (short ? [flag, short] : [flag])))} ;;`).join('\n')}
    esac
    return
  fi
  case $command:$word in
    :*) ${bashWords(names)} ;;
${commands.flatMap(({ name, operands }) => operands.map((operand, at) => `    ${name}:${at}) ${bashReply(operand)} ;;`)).join('\n')}
  esac
}
complete -F _patchsmith patchsmith
`;
}

function bashReply(value: Completed): string {
  if (value.kind === 'words') return bashWords(value.words);
  if (value.kind === 'anything') return ':';
  if (value.kind === 'runs')
    return `if [[ $cur == */* ]]; then ${bashReply({ kind: 'folders' })}; else mapfile -t COMPREPLY < <(compgen -W "$(_patchsmith_runs)" -- "$cur"); fi`;
  const only = value.kind === 'folders' ? '-d' : '-f';
  return `compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen ${only} -- "$cur")`;
}

function bashWords(words: readonly string[]): string {
  return `mapfile -t COMPREPLY < <(compgen -W '${words.join(' ')}' -- "$cur")`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef patchsmith
# Completion of patchsmith for zsh: source <(patchsmith completion zsh), or as a file _patchsmith in a folder of $fpath
_patchsmith_runs() {
  local place
  local -a runs=(last)
  for place in $RUNNER_TEMP $XDG_STATE_HOME $HOME/.local/state; do
    [[ $place == /* ]] && runs+=($place/patchsmith/*(N:t))
  done
  runs=(\${runs%.elsewhere})
  if [[ $PREFIX == */* ]]; then _files -/; else compadd -- \${(M)runs:#(last|${ZSH_RUN_ID})}; fi
}
_patchsmith() {
  local -a commands
  local state line
  commands=(
${commands.map(({ name, meaning }) => `    ${quoted(`${name}:${zshText(meaning)}`)}`).join('\n')}
  )
  _arguments -C '(- *)'{-h,--help}'[Show this]' '(- *)--version[Show the version]' '1: :->command' '*:: :->rest'
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
${commands.map(zshCommand).join('\n')}
      esac
      ;;
  esac
}
if [[ $funcstack[1] == _patchsmith ]]; then _patchsmith "$@"; else compdef _patchsmith patchsmith; fi
`;
}

function zshCommand({ name, flags, operands }: CompletedCommand): string {
  const specs = [
    ...flags.map(zshFlag),
    ...operands.map((operand, at) => quoted(`${at + 1}: :${zshAction(operand)}`)),
  ];
  return `        ${name}) _arguments ${specs.join(' ')} ;;`;
}

function zshFlag({ flag, short, meaning, value, isRepeatable }: CompletedFlag): string {
  const names = short === null ? [flag] : [flag, short];
  const once = isRepeatable ? '*' : short === null ? '' : `(${names.join(' ')})`;
  const end = `[${zshText(meaning)}]${value === null ? '' : `:value:${zshAction(value)}`}`;
  return names.map((name) => quoted(`${once}${name}${end}`)).join(' ');
}

function zshAction(value: Completed): string {
  switch (value.kind) {
    case 'words':
      return `(${value.words.join(' ')})`;
    case 'files':
      return '_files';
    case 'folders':
      return '_files -/';
    case 'runs':
      return '_patchsmith_runs';
    case 'anything':
      return ' ';
  }
}

function zshText(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&');
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, meaning, flags, operands }) => [
    `complete -c patchsmith -n __fish_use_subcommand -a ${name} -d ${quotedForFish(meaning)}`,
    ...flags.map(
      (flag) => `complete -c patchsmith -n '__fish_seen_subcommand_from ${name}' ${fishFlag(flag)}`,
    ),
    ...operands.flatMap((operand) => fishOperand(name, operand)),
  ]);
  return `# Completion of patchsmith for fish: patchsmith completion fish | source
function __patchsmith_runs
  echo last
  for place in $RUNNER_TEMP $XDG_STATE_HOME $HOME/.local/state
    string match -q '/*' -- $place; or continue
    for run in $place/patchsmith/*
      string replace -rf '^.*/(${RUN_ID})(?:\\.elsewhere)?$' '$1' -- $run
    end
  end
  __fish_complete_directories
end
complete -c patchsmith -f
complete -c patchsmith -n __fish_use_subcommand -l help -s h -d 'Show this'
complete -c patchsmith -n __fish_use_subcommand -l version -d 'Show the version'
${lines.join('\n')}
`;
}

function fishFlag({ flag, short, meaning, value }: CompletedFlag): string {
  const name = `-l ${flag.slice(2)}${short === null ? '' : ` -s ${short.slice(1)}`}`;
  return `${name}${value === null ? '' : ` ${fishValue(value)}`} -d ${quotedForFish(meaning)}`;
}

function fishValue(value: Completed): string {
  switch (value.kind) {
    case 'words':
      return `-x -a '${value.words.join(' ')}'`;
    case 'files':
      return '-r -F';
    case 'folders':
      return "-x -a '(__fish_complete_directories)'";
    case 'runs':
      return "-x -a '(__patchsmith_runs)'";
    case 'anything':
      return '-x';
  }
}

function fishOperand(command: string, operand: Completed): string[] {
  if (operand.kind === 'anything') return [];
  const what = operand.kind === 'files' ? '-F' : fishValue(operand).replace('-x ', '');
  return [`complete -c patchsmith -n '__fish_seen_subcommand_from ${command}' ${what}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quotedForFish(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

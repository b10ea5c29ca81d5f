/** Programs that commands name, and what to type if the machine lacks them. */

const apt = (packages: string) => `sudo apt-get install ${packages}`;

/** What is installed together: as people call it, and what to type, on Debian and Ubuntu where that differs. */
type Toolkit = readonly [name: string, programs: readonly string[], line: string, others?: readonly string[]];

/** `programs` are named to the model and tried by `doctor`; `others` are installed with them, and only known by name. */
const TOOLS: readonly Toolkit[] = [
  ['git', ['git'], apt('git')],
  ['Node.js', ['node', 'npm'], apt('nodejs npm'), ['npx']],
  ['pnpm', ['pnpm'], 'npm install --global pnpm', ['pnpx']],
  ['Yarn', ['yarn'], 'npm install --global yarn'],
  // Not the name of a program: Yarn 2 and later is called yarn, too.
  ['Yarn 2 or later', [], 'npm install --global @yarnpkg/cli-dist', ['berry']],
  ['Bun', ['bun'], 'npm install --global bun', ['bunx']],
  ['Deno', ['deno'], 'npm install --global deno'],
  ['Python', ['python3', 'pip3'], apt('python3-venv'), ['python', 'pip']],
  ['uv', ['uv'], 'pipx install uv', ['uvx']],
  ['Poetry', ['poetry'], 'pipx install poetry'],
  ['tox', ['tox'], 'pipx install tox'],
  ['Go', ['go'], 'see https://go.dev/dl, which has the version that go.mod names', ['gofmt']],
  ['Rust', ['cargo', 'rustc'], "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh", ['rustup']],
  ['Java', ['java'], apt('default-jdk'), ['javac']],
  ['Maven', ['mvn'], apt('maven')],
  ['Gradle', ['gradle'], apt('gradle')],
  ['Ruby', ['ruby'], apt('ruby-full'), ['gem']],
  ['Bundler', ['bundle'], apt('ruby-bundler'), ['bundler']],
  ['Perl', ['perl'], apt('perl')],
  ['PHP', ['php'], apt('php-cli')],
  ['Composer', ['composer'], apt('composer')],
  ['.NET', ['dotnet'], 'see https://learn.microsoft.com/dotnet/core/install/linux'],
  ['a compiler and make', ['make', 'gcc'], apt('build-essential'), ['cc', 'g++']],
  ['CMake', ['cmake'], apt('cmake')],
  ['Meson', ['meson'], apt('meson')],
];

/** Programs that are worth naming where they are on PATH. */
export const KNOWN_PROGRAMS: readonly string[] = TOOLS.flatMap(([, programs]) => programs);

/** A sentence with a leading space that says how to install the program; empty for one that is not in the table. */
export function toolHint(program: string): string {
  const line = installLine(program);
  return line === null ? '' : ` Install ${line} – or see with patchsmith doctor whether commands see it.`;
}

/** The package that the program belongs to, and the command that installs it; null if it is not in the table. */
export function installLine(program: string): string | null {
  const tool = TOOLS.find(([, programs, , others = []]) => [...programs, ...others].includes(program));
  return tool === undefined ? null : `${tool[0]}: ${tool[2]}`;
}

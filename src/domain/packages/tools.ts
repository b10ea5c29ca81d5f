/** Programs that commands name, and what to type if the machine lacks them. */

/** What is installed together. */
interface InstalledTool {
  /** As people call it. */
  readonly name: string;
  readonly programs: readonly string[];
  /** What to type, on Debian and Ubuntu where that differs. */
  readonly line: string;
}

const TOOLS: readonly InstalledTool[] = [
  { name: 'Node.js', programs: ['node', 'npm', 'npx'], line: 'sudo apt-get install nodejs npm' },
  { name: 'pnpm', programs: ['pnpm', 'pnpx'], line: 'npm install --global pnpm' },
  { name: 'Yarn', programs: ['yarn'], line: 'npm install --global yarn' },
  // Not the name of a program: Yarn 2 and later is called yarn, too.
  { name: 'Yarn 2 or later', programs: ['berry'], line: 'npm install --global @yarnpkg/cli-dist' },
  { name: 'Bun', programs: ['bun', 'bunx'], line: 'npm install --global bun' },
  {
    name: 'Python',
    programs: ['python3', 'python', 'pip3', 'pip'],
    line: 'sudo apt-get install python3-venv',
  },
  { name: 'uv', programs: ['uv', 'uvx'], line: 'pipx install uv' },
  { name: 'Poetry', programs: ['poetry'], line: 'pipx install poetry' },
  { name: 'tox', programs: ['tox'], line: 'pipx install tox' },
  {
    name: 'Go',
    programs: ['go', 'gofmt'],
    line: 'see https://go.dev/dl, which has the version that go.mod names',
  },
  {
    name: 'Rust',
    programs: ['cargo', 'rustc', 'rustup'],
    line: "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh",
  },
  { name: 'Java', programs: ['java', 'javac'], line: 'sudo apt-get install default-jdk' },
  { name: 'Maven', programs: ['mvn'], line: 'sudo apt-get install maven' },
  { name: 'Gradle', programs: ['gradle'], line: 'sudo apt-get install gradle' },
  { name: 'Ruby', programs: ['ruby', 'gem'], line: 'sudo apt-get install ruby-full' },
  { name: 'Bundler', programs: ['bundle', 'bundler'], line: 'sudo apt-get install ruby-bundler' },
  { name: 'PHP', programs: ['php'], line: 'sudo apt-get install php-cli' },
  { name: 'Composer', programs: ['composer'], line: 'sudo apt-get install composer' },
  { name: '.NET', programs: ['dotnet'], line: 'see https://learn.microsoft.com/dotnet/core/install/linux' },
  {
    name: 'a compiler and make',
    programs: ['make', 'cc', 'gcc', 'g++'],
    line: 'sudo apt-get install build-essential',
  },
  { name: 'CMake', programs: ['cmake'], line: 'sudo apt-get install cmake' },
  { name: 'Meson', programs: ['meson'], line: 'sudo apt-get install meson' },
];

/** A sentence with a leading space that says how to install the program; empty for one that is not in the table. */
export function toolHint(program: string): string {
  const line = installLine(program);
  return line === null ? '' : ` Install ${line} – or see with patchsmith doctor whether commands see it.`;
}

/** The package that the program belongs to, and the command that installs it; null if it is not in the table. */
export function installLine(program: string): string | null {
  const tool = TOOLS.find(({ programs }) => programs.includes(program));
  return tool === undefined ? null : `${tool.name}: ${tool.line}`;
}

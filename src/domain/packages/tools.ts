/** Programs that commands name, and what to type if the machine lacks them. */

const apt = (packages: string) => `sudo apt-get install ${packages}`;

/** What is installed together: as people call it, its programs, and what to type, on Debian and Ubuntu where that differs. */
const TOOLS: readonly (readonly [name: string, programs: string, line: string])[] = [
  ['Node.js', 'node npm npx', apt('nodejs npm')],
  ['pnpm', 'pnpm pnpx', 'npm install --global pnpm'],
  ['Yarn', 'yarn', 'npm install --global yarn'],
  // Not the name of a program: Yarn 2 and later is called yarn, too.
  ['Yarn 2 or later', 'berry', 'npm install --global @yarnpkg/cli-dist'],
  ['Bun', 'bun bunx', 'npm install --global bun'],
  ['Python', 'python3 python pip3 pip', apt('python3-venv')],
  ['uv', 'uv uvx', 'pipx install uv'],
  ['Poetry', 'poetry', 'pipx install poetry'],
  ['tox', 'tox', 'pipx install tox'],
  ['Go', 'go gofmt', 'see https://go.dev/dl, which has the version that go.mod names'],
  ['Rust', 'cargo rustc rustup', "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"],
  ['Java', 'java javac', apt('default-jdk')],
  ['Maven', 'mvn', apt('maven')],
  ['Gradle', 'gradle', apt('gradle')],
  ['Ruby', 'ruby gem', apt('ruby-full')],
  ['Bundler', 'bundle bundler', apt('ruby-bundler')],
  ['PHP', 'php', apt('php-cli')],
  ['Composer', 'composer', apt('composer')],
  ['.NET', 'dotnet', 'see https://learn.microsoft.com/dotnet/core/install/linux'],
  ['a compiler and make', 'make cc gcc g++', apt('build-essential')],
  ['CMake', 'cmake', apt('cmake')],
  ['Meson', 'meson', apt('meson')],
];

/** A sentence with a leading space that says how to install the program; empty for one that is not in the table. */
export function toolHint(program: string): string {
  const line = installLine(program);
  return line === null ? '' : ` Install ${line} – or see with patchsmith doctor whether commands see it.`;
}

/** The package that the program belongs to, and the command that installs it; null if it is not in the table. */
export function installLine(program: string): string | null {
  const tool = TOOLS.find(([, programs]) => programs.split(' ').includes(program));
  return tool === undefined ? null : `${tool[0]}: ${tool[2]}`;
}

/** .NET with NuGet. */

import { type Ecosystem, type Folder, found, textAt } from '../project.ts';
import { plainVersion, type WorkflowStep } from '../workflow-step.ts';

/** The entry of the registry. */
export const dotnet: Ecosystem = {
  extensions: ['.cs', '.fs', '.vb'],
  versionCommand: null,
  manifests: ['*.sln', '*.slnx', '*.csproj', '*.fsproj'],
  async look(folder) {
    const file = folder.first(...dotnet.manifests) ?? '';
    const several = [...folder.names].filter((name) => /\.slnx?$/.test(name)).length > 1;
    return {
      ecosystem: '.NET',
      manager: found('nuget', file),
      lockfile: folder.first('packages.lock.json'),
      setup: [],
      test: found('dotnet test', file),
      lint: null,
      build: found('dotnet build', file),
      domains: ['api.nuget.org'],
      cache: null,
      ...(await runnerOf(folder)),
      makes: null,
      decisions: several
        ? ['There are several solutions, and dotnet does not choose one: name one in verify.']
        : [],
    };
  },
};

async function runnerOf(folder: Folder): Promise<{ steps: WorkflowStep[]; guesses: string[] }> {
  const exact = plainVersion(textAt(await folder.json('global.json'), 'sdk', 'version'));
  const project = folder.first('*.csproj', '*.fsproj', 'Directory.Build.props');
  const [, major = '9'] =
    /<TargetFrameworks?>[^<]*\bnet(\d+)\.0/.exec((project && (await folder.text(project))) ?? '') ?? [];
  return {
    steps: [
      {
        name: 'Install .NET',
        uses: 'actions/setup-dotnet',
        with: { 'dotnet-version': exact ?? `${major}.0.x` },
      },
    ],
    guesses: exact === null ? [`.NET ${major}, since no global.json names a version`] : [],
  };
}

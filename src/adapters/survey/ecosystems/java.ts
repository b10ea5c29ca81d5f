/** Java and Kotlin: Maven, Gradle, with or without a wrapper. */

import { HOSTS } from '../../../domain/packages/installers.ts';
import { type Ecosystem, type Folder, found, type Project, type Said } from '../project.ts';
import { cacheOf } from '../project-cache.ts';
import { plainVersion, type WorkflowStep } from '../workflow-step.ts';

/** The entry of the registry for Maven. */
export const maven: Ecosystem = {
  extensions: ['.java', '.kt', '.scala'],
  versionCommand: 'java --version',
  manifests: ['pom.xml'],
  async look(folder) {
    const pom = (await folder.text('pom.xml')) ?? '';
    const [, release = null] =
      /<(?:maven\.compiler\.(?:release|source|target)|java\.version|release)>\s*([\d.]+)\s*</.exec(pom) ?? [];
    const names = { wrapper: 'mvnw', name: 'mvn', manager: 'maven', file: 'pom.xml' };
    const tasks = { test: 'test', build: 'package -DskipTests' };
    const tool = toolOf(folder, names, '-B -ntp', tasks);
    return {
      ...tool,
      setup: [],
      cache: cacheOf(folder, 'maven', { filledBy: tool.test.text }),
      domains: HOSTS.maven,
      ...(await runnerOf(folder, plainVersion(release), 'pom.xml')),
      decisions: [],
    };
  },
};

/** The entry of the registry for Gradle. */
export const gradle: Ecosystem = {
  extensions: ['.java', '.kt', '.groovy', '.scala'],
  versionCommand: 'java --version',
  manifests: ['settings.gradle.kts', 'settings.gradle', 'build.gradle.kts', 'build.gradle'],
  async look(folder) {
    const file = folder.first(...gradle.manifests) ?? 'build.gradle';
    const build = (await folder.text(folder.first('build.gradle.kts', 'build.gradle') ?? file)) ?? '';
    const [, language = null] = /JavaLanguageVersion\.of\((\d+)\)|jvmToolchain\((\d+)\)/.exec(build) ?? [];
    const tool = toolOf(
      folder,
      { wrapper: 'gradlew', name: 'gradle', manager: 'gradle', file },
      '--no-daemon --console=plain',
      {
        test: 'test',
        build: 'assemble',
      },
    );
    const hasWrapper = folder.names.has('gradlew');
    return {
      ...tool,
      setup: [],
      cache: cacheOf(folder, 'gradle', { filledBy: tool.test.text }),
      domains: hasWrapper ? [...HOSTS.gradle, ...HOSTS.gradlew] : HOSTS.gradle,
      ...(await runnerOf(folder, plainVersion(language), file)),
      decisions: /android/i.test(build)
        ? ['This builds for Android: its SDK has to be on the runner, and visible (--mount).']
        : [],
    };
  },
};

interface BuildTool {
  readonly wrapper: string;
  readonly name: string;
  readonly manager: string;
  readonly file: string;
}

function toolOf(
  folder: Folder,
  { wrapper, name, manager, file }: BuildTool,
  options: string,
  tasks: { readonly test: string; readonly build: string },
): Pick<Project, 'ecosystem' | 'manager' | 'lockfile' | 'test' | 'lint' | 'build' | 'makes'> & {
  test: Said;
} {
  const hasWrapper = folder.names.has(wrapper);
  const program = hasWrapper ? `./${wrapper}` : name;
  const from = hasWrapper ? `${wrapper}, ${file}` : file;
  const run = (task: string): Said => found(`${program} ${options} ${task}`, from);
  return {
    ecosystem: 'Java',
    manager: found(manager, from),
    lockfile: folder.first('gradle.lockfile'),
    test: run(tasks.test),
    lint: null,
    build: run(tasks.build),
    makes: null,
  };
}

/** `version` as `file` has it; releases before 8 no longer exist. */
async function runnerOf(
  { text, inWorkflows }: Folder,
  version: string | null,
  file: string,
): Promise<{ steps: WorkflowStep[]; guesses: string[] }> {
  const [, own = null] =
    /^(?:java=)?(?:[a-z]{1,20}-)?(\d+(?:\.\d+){0,3})\b/m.exec(
      (await text('.java-version')) ?? (await text('.sdkmanrc')) ?? '',
    ) ?? [];
  const wanted = Number(version?.replace(/^1\./, ''));
  const least = Number.isInteger(wanted) && wanted > 17 ? String(wanted) : '21';
  const why = version === null ? `${file} names no version` : `${file} compiles for ${version}`;
  const workflow = inWorkflows('java-version');
  const compare = workflow === null ? '' : `; compare ${workflow}`;
  return {
    steps: [
      {
        name: 'Install Java',
        uses: 'actions/setup-java',
        with: { distribution: 'temurin', 'java-version': own ?? least },
      },
    ],
    guesses: own === null ? [`Java ${least}, since ${why}${compare}`] : [],
  };
}

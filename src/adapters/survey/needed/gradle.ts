/** The Gradle version that a project's wrapper starts, and packages if Gradle has none at all. */

import { HOSTS } from '../../../domain/packages/installers.ts';
import type { Folder } from '../project.ts';
import type { NeededPackages } from './needed.ts';

const GRADLE =
  /^(?:gradle|\.\/gradlew)(?: (?:--(?:no-daemon|info|console=plain)|[a-z][\w:]*))* (?:test|build|check|assemble)$/;
const WRAPPER = 'gradle/wrapper/gradle-wrapper.properties';

/** A distribution is in a folder named after its archive. */
export async function ofGradle(folder: Folder, command: string): Promise<NeededPackages | null> {
  if (!GRADLE.test(command)) return null;
  const isWrapper = command.startsWith('./gradlew');
  const [, name] = /^distributionUrl=https\\?:\S*\/(gradle-[\w.-]{1,60})\.zip$/m.exec(
    (isWrapper ? await folder.text(WRAPPER) : null) ?? '',
  ) ?? [null, null];
  if (isWrapper && name === null) return null;
  if (!isWrapper && !(await loadsPackages(folder))) return null;
  return {
    command,
    manager: 'gradle',
    what: isWrapper
      ? `${name}, which ./gradlew starts, is not in ~/.gradle/wrapper`
      : 'no package is in ~/.gradle/caches',
    look: isWrapper
      ? `[ -d "\${GRADLE_USER_HOME:-$HOME/.gradle}/wrapper/dists/${name}" ]`
      : `[ -n "$GRADLE_RO_DEP_CACHE" ] || [ -d "\${GRADLE_USER_HOME:-$HOME/.gradle}/caches/modules-2" ]`,
    line: `${isWrapper ? './gradlew' : 'gradle'} test`,
    hosts: isWrapper ? [...HOSTS.gradle, ...HOSTS.gradlew] : HOSTS.gradle,
  };
}

/** Certain only if the packages cannot come from elsewhere. */
async function loadsPackages(folder: Folder): Promise<boolean> {
  const build = (await folder.text('build.gradle')) ?? (await folder.text('build.gradle.kts')) ?? '';
  return (
    /^[ \t]*mavenCentral\(\)/m.test(build) &&
    !/mavenLocal|flatDir|\bmaven\s*[{(]|file:/.test(build) &&
    /^[ \t]*(?:implementation|testImplementation|api)\s*\(?["'][\w.-]+:[\w.-]+:[\w.-]+["']/m.test(build)
  );
}

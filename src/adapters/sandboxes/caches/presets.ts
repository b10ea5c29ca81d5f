/**
 * What each package manager caches, and how it is configured to use that. Only these folders are visible; files beside them
 * (`~/.cargo/credentials.toml`, `~/.m2/settings.xml`, `~/.gradle/gradle.properties`) are not.
 */

import type { PackageManager } from '../../../domain/packages.ts';

/** A folder of a cache. */
export interface CachePart {
  /** The variable that moves it, and what follows after its value. */
  readonly variable?: readonly [name: string, below: string];
  /** Where it is below the home folder, on the machine by default and inside the sandbox always. */
  readonly usual: string;
  /** Where it is for root, if that is another place. */
  readonly ofRoot?: string;
  /**
   * What the layer links to. Everything else is copied, so these are large files that never change in place. Matched against
   * paths below the folder; those of folders end with a slash, and are linked as a whole.
   */
  readonly linked?: RegExp;
  /** What the layer leaves out. */
  readonly left?: RegExp;
  /** It contains paths of the machine: commands see it, read-only, where the machine has it. */
  readonly hasOwnPaths?: boolean;
}

/** The cache of a package manager. `places` are where the parts are inside, and null for what this machine does not have. */
export interface CachePreset {
  readonly parts: readonly CachePart[];
  /** How to fill the cache. */
  readonly filledBy: string;
  /** Variables of commands. `offline`: they have no network. */
  variables?(given: {
    offline: boolean;
    home: string;
    places: readonly (string | null)[];
  }): Record<string, string>;
  /** Read-only files below the home folder inside. */
  files?(given: { offline: boolean }): Record<string, string>;
}

const XDG_CACHE = (name: string) => ['XDG_CACHE_HOME', name] as const;

/** The presets, by package manager. */
export const CACHE_PRESETS: Readonly<Record<PackageManager, CachePreset>> = {
  npm: {
    // npm appends to its index, and does so offline too.
    parts: [
      {
        variable: ['npm_config_cache', '_cacache'],
        usual: '.npm/_cacache',
        linked: /^content-v\d+\/.*[^/]$/,
        left: /^tmp\/$/,
      },
    ],
    filledBy: 'npm ci',
    variables: ({ offline }) =>
      offline ? { npm_config_offline: 'true' } : { npm_config_prefer_offline: 'true' },
  },
  pnpm: {
    parts: [
      {
        variable: ['XDG_DATA_HOME', 'pnpm/store'],
        usual: '.local/share/pnpm/store',
        left: /^v\d+\/(projects|tmp)\/$/,
      },
      { variable: XDG_CACHE('pnpm'), usual: '.cache/pnpm', left: /^dlx\/$/ },
    ],
    filledBy: 'pnpm install',
    // Without it, the store would be in the work tree, which is on another disk than the home folder.
    variables: ({ offline, home }) => {
      const store = `${home}/.local/share/pnpm/store`;
      const which = offline ? 'offline' : 'prefer_offline';
      return Object.fromEntries(
        // The second prefix is that of pnpm 11 and later.
        ['npm_config_', 'pnpm_config_'].flatMap((prefix) => [
          [`${prefix}store_dir`, store],
          [`${prefix}${which}`, 'true'],
        ]),
      );
    },
  },
  yarn: {
    parts: [
      // Yarn 1 looks at the entries of the first level without following links.
      {
        variable: ['YARN_CACHE_FOLDER', ''],
        usual: '.cache/yarn',
        ofRoot: '/usr/local/share/.cache/yarn',
        linked: /^v\d+\/[^/]+\/node_modules\/$/,
        left: /^v\d+\/\.tmp\/$/,
      },
      { variable: ['YARN_GLOBAL_FOLDER', ''], usual: '.yarn/berry', linked: /^cache\/[^/]+\.zip$/ },
    ],
    filledBy: 'yarn install',
    variables: ({ offline, home }) => ({
      YARN_CACHE_FOLDER: `${home}/.cache/yarn`,
      ...(offline ? { YARN_ENABLE_NETWORK: 'false' } : {}),
    }),
  },
  uv: {
    parts: [{ variable: ['UV_CACHE_DIR', ''], usual: '.cache/uv' }],
    filledBy: 'uv sync',
    variables: ({ offline }) => ({ UV_LINK_MODE: 'copy', ...(offline ? { UV_OFFLINE: '1' } : {}) }),
  },
  cargo: {
    parts: [
      {
        variable: ['CARGO_HOME', 'registry'],
        usual: '.cargo/registry',
        linked: /^(cache\/.*\.crate|src\/[^/]+\/[^/]+\/)$/,
      },
      {
        variable: ['CARGO_HOME', 'git'],
        usual: '.cargo/git',
        linked: /^(checkouts\/[^/]+\/[^/]+\/|db\/.*\.pack)$/,
      },
    ],
    filledBy: 'cargo fetch',
    variables: ({ offline }) => (offline ? { CARGO_NET_OFFLINE: 'true' } : {}),
  },
  go: {
    parts: [
      // Go takes what it needs from the archives in it, as from a proxy: it does not follow a module's folder that is a link.
      { variable: ['GOMODCACHE', ''], usual: 'go/pkg/mod', left: /^/ },
      { variable: ['GOCACHE', ''], usual: '.cache/go-build', linked: /^[0-9a-f]{2}\/[0-9a-f]+-d$/ },
    ],
    filledBy: 'go mod download',
    variables: ({ offline, places: [modules] }) => {
      const proxies = [
        ...(modules ? [`file://${modules}/cache/download`] : []),
        ...(offline ? ['off'] : ['https://proxy.golang.org', 'direct']),
      ];
      // Otherwise the folders of modules are read-only, and the layer could not be removed.
      return { GOPROXY: proxies.join(','), GOFLAGS: '-modcacherw' };
    },
  },
  maven: {
    parts: [
      {
        usual: '.m2/repository',
        linked: /^(?!.*-SNAPSHOT\/).*\.(jar|pom|zip|war|aar|module|sha1)$/,
        // They bind downloads to the names of servers in a settings.xml that is not visible.
        left: /(^|\/)(_remote\.repositories|[^/]*\.lastUpdated)$/,
      },
      // The programs that a project's wrapper starts.
      { variable: ['MAVEN_USER_HOME', 'wrapper'], usual: '.m2/wrapper' },
    ],
    // dependency:go-offline leaves out what Surefire fetches when it runs.
    filledBy: 'mvn test',
    // In the settings, since Maven 3.8 has no variable for it.
    files: ({ offline }): Record<string, string> =>
      offline ? { '.m2/settings.xml': '<settings><offline>true</offline></settings>\n' } : {},
  },
  gradle: {
    parts: [
      {
        variable: ['GRADLE_USER_HOME', 'caches'],
        usual: '.gradle/caches',
        hasOwnPaths: true,
        // Gradle reads the cache itself (6.2 and later).
        left: /^/,
      },
      {
        variable: ['GRADLE_USER_HOME', 'wrapper'],
        usual: '.gradle/wrapper',
        linked: /^dists\/[^/]+\/[^/]+\/([^/]+\/|[^/]+\.zip)$/,
      },
    ],
    filledBy: 'gradle build',
    variables: ({ places: [caches] }): Record<string, string> =>
      caches ? { GRADLE_RO_DEP_CACHE: caches } : {},
    files: ({ offline }): Record<string, string> =>
      offline ? { '.gradle/init.d/offline.gradle': 'gradle.startParameter.offline = true\n' } : {},
  },
  bundler: {
    parts: [
      { variable: ['BUNDLE_USER_CACHE', ''], usual: '.bundle/cache' },
      {
        variable: ['XDG_DATA_HOME', 'gem'],
        usual: '.local/share/gem',
        linked: /^ruby\/[^/]+\/(gems|extensions\/[^/]+\/[^/]+)\/[^/]+\/$/,
      },
    ],
    filledBy: 'bundle install',
    variables: ({ offline }) => (offline ? { BUNDLE_PREFER_LOCAL: 'true' } : {}),
  },
};

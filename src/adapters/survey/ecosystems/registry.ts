/** Every ecosystem that `init` knows. If two are equally likely, the first one wins. */

import type { Ecosystem } from '../project.ts';
import { cmake } from './cmake.ts';
import { dotnet } from './dotnet.ts';
import { go } from './go.ts';
import { gradle, maven } from './java.ts';
import { make } from './make.ts';
import { meson } from './meson.ts';
import { node } from './node.ts';
import { php } from './php.ts';
import { python } from './python.ts';
import { ruby } from './ruby.ts';
import { rust } from './rust.ts';

/** `make` comes last, as the fallback. */
export const ECOSYSTEMS: readonly Ecosystem[] = [
  node,
  python,
  go,
  rust,
  maven,
  gradle,
  ruby,
  php,
  dotnet,
  cmake,
  meson,
  make,
];

/** Globs in the manner of .gitignore, for listing files. */

import picomatch from 'picomatch';

/**
 * A test for paths relative to one folder. Without a slash inside, the glob matches names at any depth; a glob that
 * matches a folder matches everything in it; a leading `!` turns the answer round. Names that start with a dot match.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.startsWith('!')) {
    const matches = globMatcher(glob.slice(1));
    return (path) => !matches(path);
  }
  const foldersOnly = glob.endsWith('/');
  const trimmed = glob.replace(/\/+$/, '');
  const anywhere = !trimmed.includes('/');
  const isMatch = picomatch(anywhere ? `**/${trimmed}` : trimmed.replace(/^\/+/, ''), {
    dot: true,
    nonegate: true,
  });
  return (path) => {
    if (!foldersOnly && isMatch(path)) return true;
    for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1)) {
      if (isMatch(path.slice(0, cut))) return true;
    }
    return false;
  };
}

/** Names of branches. */

/** Whether a branch may have this name: git's rules for refs, and nothing that a command line could take for a flag. */
export function isBranchName(name: string): boolean {
  if (name === '' || name === '@' || name.length > 200) return false;
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/.test(name) || name.startsWith('-') || name.startsWith('refs/'))
    return false;
  const parts = name.split('/');
  return parts.every((part) => part !== '' && !/^\.|\.$|\.lock$/.test(part));
}

/** A repository as named in the API's routes. */

/** `repository` is OWNER/NAME. */
export function ownerAndName(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}

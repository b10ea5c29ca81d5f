/** A repository as routes of the API name it. */

/** `repository` is OWNER/NAME. */
export function ownerAndName(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}

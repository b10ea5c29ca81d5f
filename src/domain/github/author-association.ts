/** An author's possible associations with a repository, as named by GitHub, in lower case; `any` includes all of them. */
export const AUTHOR_ASSOCIATIONS = ['owner', 'member', 'collaborator', 'contributor', 'any'] as const;

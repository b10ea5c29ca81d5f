/** What an author can be to a repository, as GitHub says it, in small letters; `any` stands for all of them. */
export const AUTHOR_ASSOCIATIONS = ['owner', 'member', 'collaborator', 'contributor', 'any'] as const;

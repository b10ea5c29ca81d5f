/**
 * How Ajv compiles a large schema that each test process holds only a few values against: what it takes to make its functions
 * faster, or to look whether the schema is one, would never come back.
 */
export const COMPILED_ONCE = { code: { optimize: false }, inlineRefs: false, validateSchema: false } as const;

/** Prompts, templates and samples are bundled as text: by esbuild's text loader, and by the test runner's plugin. */
declare module '*.md' {
  const text: string;
  export default text;
}

declare module '*.yml' {
  const text: string;
  export default text;
}

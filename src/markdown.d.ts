/** Prompts, templates, samples and the page of reports are bundled as text: by esbuild, and by the test runner's plugins. */
declare module '*.md' {
  const text: string;
  export default text;
}

declare module '*.yml' {
  const text: string;
  export default text;
}

declare module '*.html' {
  const text: string;
  export default text;
}

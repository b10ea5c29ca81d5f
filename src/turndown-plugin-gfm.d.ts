/** Tables, task lists and strikethrough for turndown; it ships without types. */
declare module '@joplin/turndown-plugin-gfm' {
  import type { Plugin } from 'turndown';

  export const gfm: Plugin;
}

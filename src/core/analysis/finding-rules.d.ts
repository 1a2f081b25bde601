/** The files in `rules`, which page.config.ts adds to every build. */
declare module 'virtual:finding-rules' {
  export const rules: readonly { readonly name: string; readonly sql: string }[];
}

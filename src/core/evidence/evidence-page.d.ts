/** docs/verify-evidence.mjs, which page.config.ts adds to every build. */
declare module 'virtual:evidence-page' {
  export const script: string;
}

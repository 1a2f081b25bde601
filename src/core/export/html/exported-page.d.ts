/** The bundle of src/page, which page.config.ts adds to every build. */
declare module 'virtual:exported-page' {
  export const script: string;
  export const style: string;
}

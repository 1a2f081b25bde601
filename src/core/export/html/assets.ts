/// <reference path="./exported-page.d.ts" />

/** The script and the style that every exported page contains. */
export { script, style } from 'virtual:exported-page';

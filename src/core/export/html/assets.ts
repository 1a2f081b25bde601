/// <reference path="./raw.d.ts" />

/** The page's own parts, as texts. */
export { default as style } from './viewer.css?raw';
export { default as script } from './viewer.js?raw';

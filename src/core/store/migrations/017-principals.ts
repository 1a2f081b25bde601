/** Drops the index by principal, which cost every commit a page of the log. What replaced it is derived (chain/principals.ts). */
export const principals = /* sql */ `
DROP INDEX contextPrincipal;
`;

/** Changes no table by itself: from this version on, a database contains no triggers. Each connection makes its own (sums.ts). */
export const noTriggers = /* sql */ `
-- see migrate.ts
`;

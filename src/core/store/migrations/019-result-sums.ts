/** Changes no table by itself: from this version on, rows of materialized carry a checksum too. */
export const resultSums = /* sql */ `
-- see sums.ts
`;

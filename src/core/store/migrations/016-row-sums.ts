/** Changes no table by itself: from this version on, rows carry a checksum. */
export const rowSums = /* sql */ `
-- see sums.ts
`;

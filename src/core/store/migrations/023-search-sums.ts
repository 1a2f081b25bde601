/** Changes no table by itself: from this version on, rows of searchEntry carry a checksum too. */
export const searchSums = /* sql */ `
-- see sums.ts
`;

/** Recordings name places on the disk. Only those that this machine wrote are read. */
export const followedHere = /* sql */ `
-- The seal of this machine over the places; null in rows of earlier versions, which are not read.
ALTER TABLE followed ADD COLUMN recorded TEXT;
`;

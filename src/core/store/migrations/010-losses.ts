/** What a translation could not carry over; null in rows from before this step. */
export const losses = /* sql */ `
ALTER TABLE materialized ADD COLUMN losses TEXT;
`;

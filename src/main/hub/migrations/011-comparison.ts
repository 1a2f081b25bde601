/** Links to a comparison: the name of the other commit. */
export const comparison = ['ALTER TABLE token ADD COLUMN against bytea'];

/** What prices and sums depend on beside the tokens of a call. Derived from commits, so that the calls are read again. */
export const usageTerms = /* sql */ `
-- Set for a call that a session repeats and did not make. It is in no sum.
ALTER TABLE usageCall ADD COLUMN replayed INTEGER;
-- The context window that the agent recorded.
ALTER TABLE usageCall ADD COLUMN windowLimit INTEGER;
-- JSON: the speed, the service tier, the uses of the provider's tools, and whether an advisor made the call.
ALTER TABLE usageCall ADD COLUMN terms TEXT;
`;

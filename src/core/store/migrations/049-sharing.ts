/** What a job decides about its calls, so that a preview shows the call that it makes. */
export const sharing = /* sql */ `
-- Whether its calls get the shared context: 1 or 0; null if the profile or the project decides.
ALTER TABLE job ADD COLUMN sharing INTEGER;
`;

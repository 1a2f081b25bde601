/** Profiles that were deleted, and can be brought back. */
export const deletedProfiles = /* sql */ `
ALTER TABLE profile ADD COLUMN deletedAt INTEGER;
`;

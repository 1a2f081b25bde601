/** A row is a commit; the name of the table said what it holds with its ancestors. Its indexes keep their names: making them again costs a scan each. */
export const commits = /* sql */ `
ALTER TABLE context RENAME TO commits;
`;

/** FTS5 collects up to 8 MB of words in memory before it sorts them. With its default of 1 MB it sorts eight times as often. */
export const searchMemory = /* sql */ `
INSERT INTO searchWords (searchWords, rank) VALUES ('hashsize', 8388608);
`;

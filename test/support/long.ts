/**
 * Two runs of the tests. `npm test` leaves out tests with the tag "long" and takes some cases of long tables, so that it ends within minutes.
 * `npm run test:all` runs every test and case, as does a run of a named file.
 */
export const isShort = process.env.STEMMA_TESTS === 'short';

/** The tag of long tests, for a configuration of Vitest. */
export const longTests = {
  tags: [{ name: 'long', description: 'Left out by `npm test`, run by `npm run test:all`.' }],
  tagsFilter: isShort ? ['!long'] : [],
};

/** All cases of a table, or in the short run `count` of them from its beginning to its end. */
export const some = <Case>(all: readonly Case[], count = 8): Case[] =>
  isShort ? all.filter((_, at) => Math.floor((at * count) / all.length) !== Math.floor(((at - 1) * count) / all.length)) : [...all];

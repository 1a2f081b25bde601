type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** The members of an object that are not undefined. */
export const defined = <Members extends object>(members: Members): Defined<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<Members>;

/** The members of an object with these names, in this order. */
export const picked = <Members extends object, Name extends keyof Members>(members: Members, ...names: readonly Name[]): Pick<Members, Name> =>
  Object.fromEntries(names.map((name) => [name, members[name]])) as Pick<Members, Name>;

type Present<Members> = { [Name in keyof Members]?: NonNullable<Members[Name]> };

/** The members of an object that are neither null nor undefined. */
export const present = <Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined)) as Present<Members>;

/** A name as a reader sees it. */
const lookOf = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/\p{Cf}|\p{Mn}|\p{Cc}|\p{Default_Ignorable_Code_Point}/gu, '')
    .trim()
    .toLowerCase();

/** Whether a name looks like a person's: somebody at a machine (`user@MACHINE`), or one of these people. */
export function looksLikePerson(name: string, people: readonly { readonly entityId: string; readonly name: string }[]): boolean {
  const look = lookOf(name);
  return /^user(?:@|$)/.test(look) || people.some((each) => lookOf(each.entityId) === look || lookOf(each.name) === look);
}

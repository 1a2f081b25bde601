/** A text of an export, and the name of the member, field or header whose value it is. */
export interface NamedText {
  readonly text: string;
  readonly name?: string | undefined;
}

export interface Replacing {
  replace(text: string, name?: string): string;
}

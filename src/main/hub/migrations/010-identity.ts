/**
 * Members who sign in at an issuer. They are rows of `token` whose hash nobody has a token for, so that an older hub keeps working and
 * what such a member wrote has an author like everything else.
 */
export const identity = [
  'ALTER TABLE token ADD COLUMN identity text',
  'CREATE INDEX token_of_identity ON token (identity) WHERE identity IS NOT NULL',
];

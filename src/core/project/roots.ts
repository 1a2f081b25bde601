/** Queries for the objects that are named otherwise than by a foreign key: what garbage collection must not take. */
export const roots: readonly string[] = [
  // An imported file is put together from ranges of objects, which its row lists as JSON.
  "SELECT DISTINCT json_extract(piece.value, '$[0]') AS no FROM source, json_each(source.pieces) piece",
];

/** Queries for the objects that are named otherwise than by a foreign key: what garbage collection must not take. */
export const roots: readonly string[] = [
  // An imported file is put together from ranges of objects, which its row lists as JSON.
  "SELECT DISTINCT json_extract(piece.value, '$[0]') AS no FROM source, json_each(source.pieces) piece",
  // A card names an object by its ref, somewhere in its content or metadata.
  `SELECT a.no FROM card c, json_tree(json_array(json(c.content), json(c.metadata))) t JOIN artifact a ON a.hash = unhex(substr(t.atom, 8)) AND a.project = c.project
    WHERE (instr(c.content, 'blake3:') OR instr(c.metadata, 'blake3:')) AND t.type = 'text' AND t.atom LIKE 'blake3:%'`,
];

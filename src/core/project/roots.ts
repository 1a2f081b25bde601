import type { Root } from '../artifacts/index.js';

/** Objects that are referenced without a foreign key. Garbage collection must keep them. */
export const roots: readonly Root[] = [
  // An imported file consists of ranges of objects, listed as JSON in its row.
  { table: 'source', query: "SELECT DISTINCT json_extract(piece.value, '$[0]') AS no FROM source, json_each(source.pieces) piece WHERE TRUE" },
  // A card may contain the ref of an object in its content or metadata.
  {
    table: 'card',
    query: `SELECT a.no FROM card c, json_tree(json_array(json(c.content), json(c.metadata))) t JOIN artifact a ON a.hash = unhex(substr(t.atom, 8)) AND a.project = c.project
    WHERE (instr(c.content, 'blake3:') OR instr(c.metadata, 'blake3:')) AND t.type = 'text' AND t.atom LIKE 'blake3:%'`,
  },
];

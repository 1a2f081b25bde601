// kilo: the histories of Kilo CLI, which is OpenCode under another name: the same tables, lines and documents.
// Only the name of the database and its own tables differ.
// Task folders of the older extension are read by the format cline.
import type { ImportableFormat } from '../format.js';
import { opencode } from '../opencode/index.js';
import { renamed } from '../shared/renamed.js';

const formatId = 'kilo-v1';
const ownName = /^kilo[\w.-]*\.db$/;

const { database, recognize: _, ...rest } = opencode;

export const kilo: ImportableFormat = {
  ...rest,
  id: formatId,
  about: { name: 'Kilo session', what: 'A session that Kilo CLI imports.', extension: 'json' },
  recognize: () => 0,
  plan: (file, context) => renamed(rest.plan(file, context), { format: formatId, from: 'opencode', to: 'kilo' }),
  ...(database && {
    database: {
      ...database,
      mayBe: (name) => ownName.test(name),
      isFollowed: (name) => ownName.test(name),
      // Kilo's own tables tell its database from OpenCode's.
      recognize: (tables) => [...tables.keys()].some((table) => table.startsWith('kilo_')) && database.recognize(tables),
    },
  }),
};

import { badRequest } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { type AnalysisAnswer, kinds } from '../contract/index.js';
import { besidePrefix } from '../formats/index.js';
import { type ConfinedDatabase, openConfined } from '../store/index.js';
import { cardCallPrefix } from '../usage/index.js';
import { contentFunctions } from './content.js';
import type { Statement } from './question.js';
import { viewList, viewSql } from './views.js';

/** Limits of a question. Whoever starts the process limits time and memory. */
export const limits = { rows: 10_000, bytes: 32 * 1024 * 1024 } as const;

/** Opens the views of a project for statements that a person or an agent wrote. `file` is the database of the chain. With `isRaw`, times are numbers. */
export function openViews(
  chain: ReadChain,
  { file, mark }: { readonly file: string; readonly mark: string | undefined },
  isRaw = false,
): Promise<ConfinedDatabase> {
  const words = {
    project: chain.project,
    card: cardCallPrefix,
    beside: besidePrefix,
    call: kinds.indexOf('tool_call'),
    result: kinds.indexOf('tool_result'),
  };
  return openConfined({
    file,
    mark,
    views: Object.fromEntries(viewList.map((view) => [view.name, viewSql(view, words, isRaw)])),
    isRaw,
    functions: contentFunctions(chain),
  });
}

/** The answer to a statement, up to a number of rows and of bytes. @throws as `ConfinedDatabase.select` */
export function answer(db: ConfinedDatabase, { sql, values }: Statement, limit: number = limits.rows): AnalysisAnswer {
  const found = db.select(sql, values);
  const rows: (string | number | null)[][] = [];
  let bytes = 0;
  for (const row of found.rows()) {
    bytes += row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 8);
    if (rows.length >= limit) return { columns: [...found.columns], rows, truncated: true };
    if (bytes > limits.bytes) {
      if (rows.length === 0)
        throw badRequest('sql', `One row has more than ${limits.bytes} bytes. Select fewer columns, or the beginning of a text with substr().`);
      return { columns: [...found.columns], rows, truncated: true };
    }
    rows.push([...row]);
  }
  return { columns: [...found.columns], rows, truncated: false };
}

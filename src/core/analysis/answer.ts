import { badRequest, defined } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { type AnalysisAnswer, kinds } from '../contract/index.js';
import { besidePrefix } from '../formats/index.js';
import { type ConfinedDatabase, openConfined } from '../store/index.js';
import { cardCallPrefix } from '../usage/index.js';
import { contentFunctions } from './content.js';
import type { Statement } from './question.js';
import { type ViewOptions, viewList, viewSql } from './views.js';

/** Limits of a question. Whoever starts the process limits time and memory. */
export const limits = { rows: 10_000, bytes: 32 * 1024 * 1024 } as const;

/** Where the views of a project are read: the database of the chain. */
interface ViewsPlace {
  readonly file: string;
  readonly mark: string | undefined;
}

/** The views of a project, limited to the commits of some runs. */
export interface ScopedViews extends Omit<ConfinedDatabase, 'select'> {
  /** The views with the commits of these runs, a JSON list. */
  within(runs: string): Pick<ConfinedDatabase, 'select'>;
}

/** Opens the views of a project for questions about some of its sessions. */
export async function openScopedViews(chain: ReadChain, place: ViewsPlace): Promise<ScopedViews> {
  let scope = '[]';
  const { select, close } = await openWith(chain, place, { isScoped: true }, { stemma_runs: () => scope });
  return {
    within: (runs) => ({
      select: (sql, values) => {
        scope = runs;
        return select(sql, values);
      },
    }),
    close,
  };
}

/** Opens the views of a project for statements that a person or an agent wrote. With `isRaw`, times are numbers. */
export const openViews = (chain: ReadChain, place: ViewsPlace, options: Pick<OpenOptions, 'isRaw' | 'isSpilling'> = {}): Promise<ConfinedDatabase> =>
  openWith(chain, place, options);

type OpenOptions = ViewOptions & Pick<Parameters<typeof openConfined>[0], 'isSpilling'>;

function openWith(
  chain: ReadChain,
  { file, mark }: ViewsPlace,
  options: OpenOptions,
  functions: ReturnType<typeof contentFunctions> = {},
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
    views: Object.fromEntries(viewList.map((view) => [view.name, viewSql(view, words, options)])),
    ...defined({ isRaw: options.isRaw, isSpilling: options.isSpilling }),
    functions: { ...contentFunctions(chain), ...functions },
  });
}

/** The answer to a statement, up to a number of rows and of bytes. @throws as `ConfinedDatabase.select` */
export function answer(db: Pick<ConfinedDatabase, 'select'>, { sql, values }: Statement, limit: number = limits.rows): AnalysisAnswer {
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

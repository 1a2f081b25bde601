import { type ArtifactNo, decodeText, type Json, onceFor, toTimestamp } from '../../base/index.js';
import type { ReadChain } from '../../chain/index.js';
import type { RequestPoint } from '../../contract/index.js';
import { answerPoints } from '../rebuild/answers.js';
import { type ListedCall, type RequestFilter, rowsInOrder } from '../rebuild/requests.js';
import { sentSize } from '../runtimes/runtime.js';
import { addAll, type CauseSums, causesOfMessage, causesOfStated, noCauses } from '../shared/causes.js';
import { listRow, readList } from '../shared/lists.js';
import { messageReader } from '../shared/messages.js';
import { unpackNumbers } from '../shared/varints.js';

/** The content of the context window for each call in order: tokens by cause, and the provider's count. Yields. @throws NOT_FOUND */
export function* requestSeries(chain: ReadChain, filter: RequestFilter): Generator<undefined, RequestPoint[]> {
  const { commits, rows } = rowsInOrder(chain, filter);
  const replies = new Set(rows.map((row) => row.replyRecord));
  const sums = summing(chain);
  const recorded = rows.map(
    (row): RequestPoint => ({
      requestId: row.requestId,
      at: toTimestamp(row.at),
      ...(row.agentId !== '' && { agentId: row.agentId }),
      model: row.model,
      messageCount: row.messageCount,
      counted: sentSize(row),
      output: row.output,
      causes: sums(row),
    }),
  );
  const answered = yield* answerPoints(chain, [...commits], (record) => replies.has(record));
  return answered.length ? [...answered, ...recorded].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)) : recorded;
}

/** Sums the messages of calls. For a call that continues another one, only the added messages are counted anew. */
function summing(chain: ReadChain): (row: ListedCall) => CauseSums {
  const { db } = chain;
  const reader = messageReader(chain);
  const tools = new Map<string, string>();
  const costOf = onceFor((no: number) => causesOfMessage(reader.valueAt(no), tools));
  const fixedOf = fixedCosts(chain);
  const known = new Map<number, { readonly sums: CauseSums; readonly messageCount: number }>();
  return (row) => {
    const base = row.base === null ? undefined : known.get(row.base);
    const continues = base !== undefined && base.messageCount === row.keep;
    const added = continues ? unpackNumbers(row.tail) : readList((no) => listRow(db, no), row.no);
    const sums = continues ? { ...base.sums } : noCauses();
    for (const no of added) if (no > 0) addAll(sums, costOf(no));
    known.set(row.no, { sums, messageCount: row.messageCount });
    const all = { ...sums };
    if (row.shape !== null) addAll(all, fixedOf(row.shape));
    return all;
  };
}

const fixedCosts = ({ db, artifacts }: ReadChain): ((shape: number) => CauseSums) =>
  onceFor((shape) => {
    const row = db.one<{ system: ArtifactNo | null; tools: ArtifactNo | null }>('SELECT system, tools FROM requestShape WHERE no = ?', shape);
    const partAt = (artifact: ArtifactNo | null | undefined): Json => (artifact ? (JSON.parse(decodeText(artifacts.read(artifact))) as Json) : []);
    return causesOfStated({ system: partAt(row?.system), tools: partAt(row?.tools) });
  });

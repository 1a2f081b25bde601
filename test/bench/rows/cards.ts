import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { addCards, appendToBox, batchCards, createBox, putProfile } from '../../../src/core/cards/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { pack } from '../../../src/core/handover/index.js';
import { openEngine } from '../engine.js';
import { chance, prose } from '../material.js';
import { medians, type Part, plain, type Row } from '../measure.js';

const boxes = 1_000;
const perBox = 100;
const packedBoxes = 50;
const perPackedBox = 200;

const idOf = (place: number): string => `0193a0c7${place.toString(16).padStart(24, '0')}`;

interface Made {
  readonly cardId: string;
  readonly text: string;
}

/** The same cards and boxes in bare tables: the floor for reading them. */
function openBare(folder: string, cards: readonly Made[], lists: ReadonlyMap<string, readonly string[]>) {
  const db = new Database(join(folder, 'bare.db'));
  db.pragma('journal_mode = WAL');
  db.exec(`CREATE TABLE card (id TEXT PRIMARY KEY, content TEXT, metadata TEXT, author TEXT, at INTEGER) WITHOUT ROWID;
           CREATE TABLE boxCard (box TEXT, place INTEGER, card TEXT, PRIMARY KEY (box, place)) WITHOUT ROWID`);
  const addCard = db.prepare('INSERT INTO card VALUES (?, ?, ?, ?, ?)');
  const addPlace = db.prepare('INSERT INTO boxCard VALUES (?, ?, ?)');
  db.transaction(() => {
    for (const { cardId, text } of cards)
      addCard.run(cardId, JSON.stringify({ kind: 'text', text }), '{"type":"agent.thought","role":"assistant"}', 'bench', 0);
    for (const [box, ids] of lists) for (const [place, id] of ids.entries()) addPlace.run(box, place, id);
  })();
  const byIds = new Map<number, Database.Statement>();
  const ofCards = (count: number): Database.Statement => {
    const known = byIds.get(count);
    if (known) return known;
    const made = db.prepare(`SELECT * FROM card WHERE id IN (${Array.from({ length: count }, () => '?').join()})`);
    byIds.set(count, made);
    return made;
  };
  const inBoxes = db.prepare(
    `SELECT b.box, b.place, c.* FROM boxCard b JOIN card c ON c.id = b.card WHERE b.box IN (${Array.from({ length: packedBoxes }, () => '?').join()}) ORDER BY b.box, b.place`,
  );
  const idsInBoxes = db
    .prepare(`SELECT card FROM boxCard WHERE box IN (${Array.from({ length: packedBoxes }, () => '?').join()}) ORDER BY box, place`)
    .pluck();
  return {
    cards: (ids: readonly string[]) => ofCards(ids.length).all(...ids),
    rows: (names: readonly string[]) => inBoxes.all(...names),
    ids: (names: readonly string[]) => idsInBoxes.all(...names) as string[],
    close: () => db.close(),
  };
}

const packAll = (chain: WriteChain, names: readonly string[]) =>
  pack(chain, {
    toolSuffix: 'bench',
    sourceAgentId: 'bench',
    arguments: { instruction: 'go', src: [...names] },
    handover: {
      target_profile_config: { profile_name: 'Writer' },
      context_packing_config: {
        pack_arguments: [{ arg_key: 'instruction' }],
        inherit_context: { include_boxes_from_args: ['src'], include_parent: true },
      },
    },
  });

function cardsAndBoxes(folder: string): Row[] {
  const at = mkdtempSync(join(folder, 'cards-'));
  const project = openEngine(join(at, 'project'));
  const { chain } = project;
  const next = chance(11);
  const cards: Made[] = Array.from({ length: boxes * perBox }, (_, place) => ({ cardId: idOf(place), text: prose(next, 240) }));
  const lists = new Map<string, readonly string[]>();
  for (let box = 0; box < boxes; box++)
    lists.set(
      `box-${box}`,
      cards.slice(box * perBox, (box + 1) * perBox).map((card) => card.cardId),
    );
  for (let box = 0; box < packedBoxes; box++)
    lists.set(
      `packed-${box}`,
      cards.slice(box * perPackedBox, (box + 1) * perPackedBox).map((card) => card.cardId),
    );
  chain.db.transaction(() => {
    addCards(
      chain,
      cards.map(({ cardId, text }) => ({ cardId, type: 'agent.thought', content: { kind: 'text', text }, authorId: 'bench' })),
    );
    for (const [boxId, ids] of lists) createBox(chain, ids, boxId);
    putProfile(chain, 'Writer', { content: { kind: 'json', data: {} } });
  });
  const bare = openBare(at, cards, lists);
  const names = Array.from({ length: packedBoxes }, (_, box) => `packed-${box}`);
  const asked = Array.from({ length: 1_000 }, () => idOf(Math.floor(next() * boxes * perBox)));

  const packed = packAll(chain, names).attachedCardIds.slice(1, -1);
  const rows = bare.rows(names) as { card: string }[];
  if (packed.length !== packedBoxes * perPackedBox || rows.length !== packed.length)
    throw new Error(`${packed.length} cards were packed of ${rows.length}`);
  if (new Set(packed).size !== new Set(bare.ids(names)).size) throw new Error('the packed cards differ from those of the boxes');
  if (batchCards(chain, asked).cards.length !== new Set(asked).size) throw new Error('a batch read misses cards');

  let added = 0;
  const ms = medians(
    {
      pack: plain(() => packAll(chain, names)),
      select: plain(() => bare.rows(names)),
      selectIds: plain(() => bare.ids(names)),
      batch: plain(() => batchCards(chain, asked)),
      selectCards: plain(() => bare.cards([...new Set(asked)])),
      append: plain(() => appendToBox(chain, 'box-0', [idOf(perBox + added++)])),
    },
    9,
  );
  bare.close();
  project.close();
  return [
    {
      id: 'W11',
      what: 'packing 50 boxes of 200 cards over a select of the same rows',
      ratio: ms.pack / ms.select,
      must: 2,
      stretch: 1.3,
      better: 'less',
      note: 'packing writes the new box and syncs it; the select reads the 10,000 cards in the order of their boxes',
      figures: { oursMs: ms.pack, selectMs: ms.select, selectIdsMs: ms.selectIds },
    },
    {
      id: 'B1',
      what: 'reading 1,000 of 100,000 cards over a bare select of the same rows',
      ratio: ms.batch / ms.selectCards,
      must: 4,
      stretch: 2.5,
      better: 'less',
      note: 'cards come as values, in the order asked, with what is missing; the select gives rows',
      figures: { oursMs: ms.batch, selectMs: ms.selectCards, appendMs: ms.append },
    },
  ];
}

export const cardParts: readonly Part[] = [{ rows: ['W11', 'B1'], run: cardsAndBoxes }];

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { addCard, createBox, deleteCard } from '../../src/core/cards/index.js';
import { tips, update, type WriteChain } from '../../src/core/chain/index.js';
import { type Hub, itemKey, pull, push, unpackParcel } from '../../src/core/sync/index.js';
import { createTicket, listTickets, updateTicket } from '../../src/core/tickets/index.js';
import { addEntity, createSpace, finishRun, listEntities, post, send, startByTrigger } from '../../src/core/timeline/index.js';
import { commitText, digestsOf } from '../support/hub.js';
import { cli, type HubProcess, team } from '../support/hub-processes.js';
import { emptyChain } from '../support/project.js';

const isShort = process.env.STEMMA_FAULTS === 'short';

describe.skipIf(!existsSync(cli))('three clones, two hub processes, cut lines and killed hubs', () => {
  // STEMMA_SYNC_SECONDS sets how long it works, STEMMA_SEED repeats a run.
  test('[E6, E44] random work ends up equal everywhere, and nothing is lost', { tags: 'long' }, async () => {
    const seed = Number(process.env.STEMMA_SEED ?? (isShort ? 20260101 : Date.now() % 1_000_000));
    const next = chance(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
    const { start, create, at } = await team('model');
    const hubs = [await start(), await start()];
    await create(hubs[0] as HubProcess);
    const clones = [emptyChain(), emptyChain(), emptyChain()];
    const made = { commits: new Set<string>(), keys: new Set<string>() };
    const end = Date.now() + Number(process.env.STEMMA_SYNC_SECONDS ?? 60) * 1_000;
    const [kinds, counts] = [Object.keys(work), { steps: 0, cuts: 0, kills: 0 }];
    while (isShort ? counts.steps < 60 : Date.now() < end) {
      const chain = pick(clones);
      const hub = at(pick(hubs));
      const step = `${++counts.steps}`;
      const what = pick([...kinds, ...kinds, 'push', 'push', 'push', 'pull', 'pull', 'cut', 'cut', 'kill']);
      work[what]?.(chain, step, pick);
      if (what === 'push') await push(chain, hub);
      if (what === 'pull') await pull(chain, hub);
      if (what === 'cut') {
        counts.cuts++;
        await pick([push, pull])(chain, cutAfter(hub, Math.floor(next() * 6), pick([true, false]))).catch(() => {});
      }
      if (what === 'kill') {
        counts.kills++;
        const place = Math.floor(next() * hubs.length);
        const sent = clones.map((each) => push(each, at(hubs[place] as HubProcess)).catch(() => {}));
        await sleep(next() * 60);
        hubs[place]?.process.kill('SIGKILL');
        await Promise.all(sent);
        hubs[place] = await start();
      }
    }
    for (const chain of clones) {
      for (const digest of digestsOf(chain)) made.commits.add(digest);
      for (const [key] of await everything(chain)) made.keys.add(key);
    }
    const hub = at(hubs[0] as HubProcess);
    const refused: unknown[] = [];
    for (let round = 0; round < 2; round++)
      for (const chain of clones) await push(chain, hub).then(async () => refused.push(...(await pull(chain, hub)).refused));
    const fresh = emptyChain();
    for (const chain of [...clones, fresh]) refused.push(...(await pull(chain, hub)).refused);
    expect(refused, `seed ${seed}`).toEqual([]);
    const whole = await everything(fresh);
    for (const chain of clones) expect(await everything(chain), `seed ${seed}`).toEqual(whole);
    expect(digestsOf(fresh), `seed ${seed}`).toEqual([...made.commits].sort());
    const lost = [...made.keys].filter((key) => !whole.has(key));
    expect(lost, `seed ${seed}`).toEqual([]);
    for (const chain of [...clones, fresh]) expect(await push(chain, hub), `seed ${seed}`).toMatchObject({ items: {}, sent: 0 });
    console.log(`seed ${seed}: ${JSON.stringify(counts)}, ${made.commits.size} commits, ${whole.size} items`);
  });
});

type Pick = <T>(list: readonly T[]) => T;

const names = ['a', 'b', 'c', 'd', 'e'];

/** What people and agents do in a project. */
const work: Readonly<Record<string, (chain: WriteChain, step: string, pick: Pick) => void>> = {
  // Also the same commit in several clones.
  commit: (chain, step, pick) => void commitText(chain, pick([step, 'same']), pick([null, tips(chain, {})[0]?.id ?? null])),
  summary: (chain, step, pick) => {
    const [tip] = tips(chain, {});
    if (tip) update(chain, tip.id, { summary: step, tags: [pick(names)] });
  },
  card: (chain, step, pick) =>
    void addCard(chain, {
      cardId: pick(names),
      content: { kind: 'text', text: step },
      metadata: { role: 'user', type: 'user.text' },
      authorId: 'me',
    }),
  deletion: (chain, _, pick) => {
    const card = chain.db.one<{ cardId: string }>('SELECT cardId FROM card WHERE cardId = ? AND deletedAt IS NULL', pick(names));
    if (card) deleteCard(chain, card.cardId);
  },
  box: (chain, step) => {
    const card = chain.db.one<{ cardId: string }>('SELECT cardId FROM card WHERE deletedAt IS NULL ORDER BY cardId');
    if (card) createBox(chain, [card.cardId], `box-${step}`);
  },
  ticket: (chain, step) => void createTicket(chain, { title: step, type: 'task', body: '' }),
  edit: (chain, step, pick) => {
    const { ticketId } = pick(listTickets(chain, { limit: 100, offset: 0 })) ?? {};
    if (ticketId !== undefined) updateTicket(chain, { ticketId, title: step } as never);
  },
  message: (chain, step) => {
    enter(chain);
    post(chain, { spaceId: 'room', senderId: 'ann', text: step });
  },
  run: (chain, step, pick) => {
    enter(chain);
    const { runId } = startByTrigger(chain, 'bot', { type: 'service', service: 'timer', payload: {} });
    send(chain, { runId, spaceId: 'room', text: `answer ${step}` });
    if (pick([true, false])) finishRun(chain, { runId, status: 'completed', output: step });
  },
};

/** Makes the space with a person and an agent, if this clone has none. */
function enter(chain: WriteChain): void {
  if (listEntities(chain).length > 0) return;
  addEntity(chain, { entityId: 'ann', name: 'Ann', type: 'human' });
  addEntity(chain, { entityId: 'bot', name: 'Bot', type: 'agent' });
  createSpace(chain, { spaceId: 'room', name: 'Room', members: ['ann', 'bot'] });
}

/** A hub whose line breaks after some calls: before the hub gets the next one, or after it has done its work. */
function cutAfter(hub: Hub, calls: number, isDone: boolean): Hub {
  let left = calls;
  return new Proxy(hub, {
    get:
      (target, name: keyof Hub) =>
      async (...given: never[]) => {
        const isCut = left-- <= 0;
        if (isCut && !isDone) throw new Error('the line broke');
        const result = await (target[name] as (...given: never[]) => Promise<unknown>)(...given);
        if (isCut) throw new Error('the line broke');
        return result;
      },
  });
}

/** Every item of a project by what names it, with its digest, and every object: what it would send to a hub that holds nothing. */
async function everything(chain: WriteChain): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const all = (list: readonly unknown[]): number[] => list.map((_, place) => place);
  const nowhere = {
    hello: async () => ({ id: crypto.randomUUID(), seq: 0 }),
    lack: async (items: readonly unknown[], objects: readonly unknown[]) => ({ items: all(items), objects: all(objects) }),
    send: async (parcel: Uint8Array) => {
      const { items, objects } = unpackParcel(parcel, itemKey);
      for (const { kind, key, digest } of items) found.set(`${kind} ${key}`, digest);
      for (const { hash } of objects) found.set(`object ${hash}`, hash);
      return { seq: -1, stored: 0 };
    },
  };
  await push(chain, nowhere as unknown as Hub);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A seeded random generator, so that a failed run can be repeated. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadPrices } from '../../../src/core/usage/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { heldClock } from '../../support/project.js';

const usage = { input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

test('an import says how far it is; sessions appear with their prices, the newest folder first', { tags: 'long' }, async () => {
  await loadPrices();
  // Each look at the clock takes a while, so that the files need several transactions.
  const held = heldClock();
  const clock = Object.assign(() => (held.at += 20), held);
  const { client, folder } = door({ clock });
  const place = join(folder, 'histories');
  const count = 40;
  for (let n = 0; n < count; n++) {
    const file = join(place, `folder-${n}`, `s${n}.jsonl`);
    mkdirSync(dirname(file), { recursive: true });
    const extra = { sessionId: `s${n}`, cwd: '/work/shop' };
    const reply = JSON.parse(answer(`a${n}`, 'Done.', { parent: `u${n}`, extra })) as { message: object };
    const message = { ...reply.message, model: 'claude-sonnet-4-5', usage };
    writeFileSync(file, `${prompt(`u${n}`, `Question ${n}`, { extra })}${JSON.stringify({ ...reply, message })}\n`);
    utimesSync(file, 1_780_000_000 + n, 1_780_000_000 + n);
  }
  const looks: { done: number; sessions: string[]; priced: number }[] = [];
  const phases = new Set<string>();
  for await (const { phase, done, total } of await client.import.run({ paths: [place] })) {
    phases.add(phase);
    if (phase !== 'storing' || done === 0) continue;
    expect(total).toBe(count);
    const { sessions } = await client.session.list({ limit: count });
    looks.push({ done, sessions: sessions.map(({ sessionId }) => sessionId), priced: sessions.filter(({ cost }) => cost !== null).length });
  }
  expect([...phases]).toEqual(['finding', 'storing', 'done']);
  const before = looks.filter(({ sessions }) => sessions.length > 0 && sessions.length < count);
  expect(before.length).toBeGreaterThan(1);
  for (const { sessions, priced } of before) {
    expect(priced).toBe(sessions.length);
    expect(new Set(sessions)).toEqual(new Set(Array.from({ length: sessions.length }, (_, n) => `s${count - 1 - n}`)));
  }
  expect(looks.map(({ done }) => done)).toEqual(looks.map(({ done }) => done).toSorted((a, b) => a - b));
});

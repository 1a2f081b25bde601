import { describe, expect, test } from 'vitest';
import { type ContextId, decodeText, type StemmaError } from '../../../src/core/base/index.js';
import { checkpoint, compact, entries, fork, materialize, materializedBytes, snapshot } from '../../../src/core/chain/index.js';
import { call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

const base = { type: 'delta', template: 't', checkpoint: 'explicit' } as const;
const counts = { messageCount: 1, tokenCount: 5 };
const refusal = (act: () => unknown): StemmaError => {
  try {
    act();
  } catch (error) {
    return error as StemmaError;
  }
  throw new Error('it was not refused');
};

/** A call in one format, its result in another, an answer in a third, and a delta of an unknown format. */
function mixed() {
  const chain = emptyChain();
  const a = checkpoint(chain, {
    ...base,
    parent: null,
    format: 'claude-code-v1',
    text: prompt('u1', 'look') + call('a1', 'c1', 'Read', { path: 'x' }, { parent: 'u1' }),
  });
  const b = checkpoint(chain, { ...base, parent: a.id, format: 'claude-code-v1', text: result('r1', 'c1', 'content', { parent: 'a1' }) });
  const c = checkpoint(chain, {
    ...base,
    parent: b.id,
    format: 'openai-chat-v1',
    text: JSON.stringify({ messages: [{ role: 'assistant', content: 'It says content.' }] }),
  });
  const d = checkpoint(chain, { ...base, ...counts, parent: c.id, format: 'tracer-v3', text: '{"step":1,"note":"the gate was open"}\n{"step":2}\n' });
  return { chain, a, b, c, d };
}
const bytesIn = (chain: ReturnType<typeof emptyChain>, id: ContextId, format: string): string =>
  decodeText(materializedBytes(chain, { id, format }).bytes);

describe('tiers', () => {
  test('[C7] [F20] each delta gets its best tier, and the worst tier is reported', () => {
    const { chain, b, c, d } = mixed();
    expect(materialize(chain, { id: b.id }).tier).toBe('native');
    expect(materialize(chain, { id: c.id, format: 'claude-code-v1' }).tier).toBe('translated');
    expect(materialize(chain, { id: c.id, format: 'markdown' }).tier).toBe('rendered');
    expect(materialize(chain, { id: d.id, format: 'claude-code-v1' }).tier).toBe('raw');
    // A document has no turns, so its text is rendered as what the previous session knew.
    const note = checkpoint(chain, { ...base, parent: b.id, format: 'markdown', text: 'The file says content.' });
    expect(materialize(chain, { id: note.id, format: 'openai-chat-v1' }).tier).toBe('rendered');
    expect(bytesIn(chain, note.id, 'openai-chat-v1')).toContain('What the previous session knew');
  });

  test('[C7] deltas in the target format keep their bytes, and translated ones link to them', () => {
    const { chain, b, c } = mixed();
    const whole = bytesIn(chain, c.id, 'claude-code-v1');
    const kept = bytesIn(chain, b.id, 'claude-code-v1');
    expect(whole.startsWith(kept)).toBe(true);
    expect(JSON.parse(whole.slice(kept.length))).toMatchObject({ parentUuid: 'r1', message: { content: [{ text: 'It says content.' }] } });
  });

  test('[C7] [F19] a call keeps its result from another delta', () => {
    const { chain, c } = mixed();
    const { messages } = JSON.parse(bytesIn(chain, c.id, 'openai-chat-v1')) as { messages: unknown[] };
    expect(messages).toMatchObject([
      { role: 'user', content: 'look' },
      { role: 'assistant', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'content' },
      { role: 'assistant', content: 'It says content.' },
    ]);
  });

  test('[F25] losses are listed by entry and counted, also from the cache', () => {
    const { chain, b } = mixed();
    const first = materialize(chain, { id: b.id, format: 'openai-chat-v1' });
    expect(first.lossCounts).toEqual([
      { what: 'name of the model', count: 1 },
      { what: 'time', count: 3 },
    ]);
    expect(first.losses[0]).toEqual({ entry: 'a1.0', what: 'name of the model' });
    const again = materialize(chain, { id: b.id, format: 'openai-chat-v1' });
    expect(again).toEqual({ ...first, cached: true });
    expect(materialize(chain, { id: b.id }).losses).toEqual([]);
  });

  test('[F26] unknown content is returned unchanged, described, and read as one text', () => {
    const { chain, d } = mixed();
    const own = checkpoint(chain, { ...base, ...counts, parent: null, format: 'tracer-v3', data: Buffer.from([0x82, 1, 2]).toString('base64') });
    const raw = materialize(chain, { id: own.id });
    expect(raw).toMatchObject({ tier: 'raw', format: 'tracer-v3', contentType: 'application/octet-stream', ...counts });
    expect(raw.description).toBe('The format tracer-v3 is not read here. It is CBOR, shown as JSON: 2 items.');
    expect([...materializedBytes(chain, { id: own.id }).bytes]).toEqual([0x82, 1, 2]);
    const { entries: all } = entries(chain, { id: d.id });
    expect(all.at(-1)).toMatchObject({ role: 'user', kind: 'text', marks: ['meta', 'raw'] });
    expect(bytesIn(chain, d.id, 'openai-chat-v1')).toContain('JSON Lines, 2 of them: 2 items with the keys \\"step, note\\"');
    expect(bytesIn(chain, d.id, 'narrative')).toContain('the gate was open');
  });

  test('[F26] [C21] an unknown format needs counts and cannot be edited', () => {
    const { chain, d } = mixed();
    const uncounted = refusal(() => checkpoint(chain, { ...base, parent: null, format: 'tracer-v3', text: 'x' }));
    expect(uncounted.data).toMatchObject({ field: 'format', value: 'tracer-v3' });
    expect(uncounted.message).toMatch(/does not read the format "tracer-v3".*Give messageCount and tokenCount/);
    expect(refusal(() => materialize(chain, { id: d.id, format: 'tracer-v4' })).data).toMatchObject({ field: 'format' });
    expect(refusal(() => fork(chain, { id: d.id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'x' } }] })).message).toMatch(
      /tracer-v3.*not changed/,
    );
  });

  test('[F24] a narrative is cached per budget, and only a narrative has a budget', () => {
    const { chain, c } = mixed();
    const small = materialize(chain, { id: c.id, format: 'narrative', maxTokens: 40 });
    expect(small).toMatchObject({ tier: 'rendered', cached: false });
    expect(small.tokenCount).toBeLessThanOrEqual(40);
    expect(materialize(chain, { id: c.id, format: 'narrative', maxTokens: 40 })).toEqual({ ...small, cached: true });
    const whole = materialize(chain, { id: c.id, format: 'narrative' });
    expect(whole.cached).toBe(false);
    expect(whole.tokenCount).toBeGreaterThan(40);
    expect(refusal(() => materialize(chain, { id: c.id, format: 'openai-chat-v1', maxTokens: 40 })).data).toMatchObject({ field: 'maxTokens' });
  });
});

test('[C20] a kept result names the commits of its walk, after forks, compactions and snapshots', () => {
  const chain = emptyChain();
  const said = (parent: { readonly id: ContextId } | undefined, text: string) =>
    checkpoint(chain, { ...base, parent: parent?.id ?? null, format: 'claude-code-v1', text: prompt(text, text) });
  const deltas: ReturnType<typeof said>[] = [];
  for (const word of ['one', 'two', 'three', 'four']) deltas.push(said(deltas.at(-1), word));
  const side = said(deltas[1], 'aside');
  const compaction = compact(chain, deltas.at(-1)?.id as ContextId, 'sum');
  const after = said(compaction, 'go on');
  const copied = said(snapshot(chain, side.id, 'root'), 'further');
  const ids = (...commits: readonly ({ readonly id: ContextId } | undefined)[]): unknown[] => commits.map((commit) => commit?.id);
  const cases = [
    [side, 'compaction', ids(deltas[0], deltas[1], side)],
    [after, 'compaction', ids(compaction, after)],
    [after, 'root', ids(...deltas, after)],
    [copied, 'root', ids(deltas[0], deltas[1], side, copied)],
  ] as const;
  for (const [{ id }, stop, commits] of cases)
    for (const cached of [false, true]) expect(materialize(chain, { id, stop })).toMatchObject({ cached, commits });
});

import { expect, test } from '../../support/e2e.js';
import type { WebHost } from '../../support/machine.js';

/** The read endpoints of the public system on the real web host. */
test.describe('cards and boxes over HTTP', () => {
  const bearer = (host: WebHost) => ({ authorization: `Bearer ${host.bearer}` });
  const get = async (host: WebHost, path: string, headers: Record<string, string> = bearer(host)) => {
    const answer = await fetch(`http://127.0.0.1:${host.port}${path}`, { headers });
    return { status: answer.status, body: await answer.json().catch(() => undefined) };
  };
  const post = async (host: WebHost, path: string, input: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${host.port}${path}`, {
      method: 'POST',
      headers: { ...bearer(host), 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    return { status: answer.status, body: await answer.json().catch(() => undefined) };
  };

  test('[B13] are read at the addresses of the public system, separately for each project', async ({ machine }) => {
    const dir = machine.path('cards.stemma');
    await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir, projectId: 'P' }));
    const call = (procedure: string, input: unknown) => machine.ask('call', procedure, '--project', dir, '--input', JSON.stringify(input));
    await call('card.add', { card: { cardId: 'i1', type: 'task.instruction', content: { kind: 'text', text: 'Write it' }, authorId: 'u' } });
    const ghost = await call('box.create', { boxId: 'box', cardIds: ['i1', 'ghost'] });
    expect([ghost.code, JSON.parse(ghost.err)]).toMatchObject([1, { code: 'NOT_FOUND', data: { id: 'ghost' } }]);
    await call('box.create', { boxId: 'box', cardIds: ['i1', 'i1'] });
    const host = await machine.web(dir);

    expect(await get(host, '/projects/P/boxes/box')).toEqual({ status: 200, body: { box_id: 'box', card_ids: ['i1', 'i1'] } });
    const cards = await get(host, '/projects/P/boxes/box/cards?limit=1');
    expect(cards).toMatchObject({ status: 200, body: [{ card_id: 'i1', content: { kind: 'text', text: 'Write it' }, tool_calls: null }] });
    expect(await get(host, '/projects/P/cards/i1')).toMatchObject({ status: 200, body: { card_id: 'i1', project_id: 'P', author_id: 'u' } });
    expect(await post(host, '/projects/P/cards/batch', { card_ids: ['i1', 'zz'] })).toMatchObject({ status: 200, body: { missing_ids: ['zz'] } });
    expect(await post(host, '/projects/P/boxes/batch', { box_ids: ['box', 'no'], hydrate: true })).toMatchObject({
      status: 200,
      body: { missing_box_ids: ['no'], missing_card_ids: [], boxes: [{ hydrated_cards: [{ card_id: 'i1' }, { card_id: 'i1' }] }] },
    });

    expect((await get(host, '/projects/P/boxes/box', {})).status).toBe(401);
    for (const path of ['/projects/Q/boxes/box', '/projects/P/boxes/none', '/projects/P/cards/none', '/projects/P/boxes', '/projects/'])
      expect(await get(host, path), path).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await post(host, '/projects/P/boxes/batch', { box_ids: 'x' })).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', data: { field: 'box_ids' } },
    });
    const many = Array.from({ length: 101 }, (_, at) => `c${at}`);
    expect(await post(host, '/projects/P/cards/batch', { card_ids: many })).toMatchObject({
      status: 400,
      body: { message: 'card_ids exceeds limit 100' },
    });

    const { body: description } = await get(host, '/api/openapi.json');
    for (const path of ['boxes/{boxId}', 'boxes/batch', 'boxes/{boxId}/cards', 'cards/batch', 'cards/{cardId}'])
      expect(description.paths, path).toHaveProperty([`/projects/{projectId}/${path}`]);
  });
});

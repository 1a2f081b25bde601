import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { WebSocket } from 'ws';
import type { Contract, TicketVersion } from '../../../src/core/contract/index.js';
import { expect, test } from '../../support/e2e.js';
import type { WebHost } from '../../support/machine.js';
import { ask as askAt, type Reply, upgrade as upgradeAt } from '../../support/raw-web.js';
import { transcript } from '../../support/transcript.js';

/** Sends a request as given, without normalizing its path or adding headers. */
const ask = (host: WebHost, path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Reply> =>
  askAt(host.port, path, headers, method, body);

const bearer = (host: WebHost): Record<string, string> => ({ authorization: `Bearer ${host.bearer}` });
const post = (host: WebHost, path: string, input: unknown, headers = bearer(host)): Promise<Reply> =>
  ask(host, path, { 'content-type': 'application/json', ...headers }, 'POST', JSON.stringify(input));

/** The status of the answer to an upgrade. */
async function upgrade(host: WebHost, path: string, headers: Record<string, string>): Promise<number> {
  const { status, socket } = await upgradeAt(host.port, path, headers);
  socket.destroy();
  return status;
}

test.describe('the web host', () => {
  test('prints a link with a code of 256 bits and listens on loopback only', async ({ machine }) => {
    const host = await machine.web();
    expect(host.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
    await expect(new Promise((resolve, reject) => connect(host.port, '127.0.0.2').on('connect', resolve).on('error', reject))).rejects.toThrow();
    for (const address of ['0.0.0.0', '::', '192.168.0.1', 'example.com'])
      expect(await machine.ask('web', '--no-open', '--host', address)).toMatchObject({ code: 2, err: expect.stringContaining('loopback') });
  });

  test('listens on the given port, and reports a port in use', async ({ machine }) => {
    const host = await machine.web();
    expect(await machine.run('web', '--no-open', '--port', String(host.port))).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${host.port} is taken`),
    });
    expect(await machine.ask('web', '--no-open', '--port', '70000')).toMatchObject({ code: 2 });
  });

  test('refuses a foreign host and a foreign page, even with the secrets', async ({ machine }) => {
    const host = await machine.web();
    const own = `127.0.0.1:${host.port}`;
    for (const foreign of ['evil.example', `evil.example:${host.port}`, `127.0.0.1:${host.port + 1}`, 'localhost'])
      expect((await ask(host, `/?token=${host.code}`, { host: foreign, ...bearer(host) })).status, foreign).toBe(403);
    for (const origin of ['http://evil.example', 'null', `http://evil.example:${host.port}`, `https://${own}`])
      for (const path of ['/', '/api/project/info', '/api/openapi.json'])
        expect((await ask(host, path, { origin, ...bearer(host) })).status, `${origin} ${path}`).toBe(403);
    expect((await ask(host, '/', { 'sec-fetch-site': 'cross-site', ...bearer(host) })).status).toBe(403);
    // The refused requests have not used up the link.
    expect((await ask(host, `/?token=${host.code}`)).status).toBe(303);
  });

  test('[T43] answers nothing without a session or the bearer', async ({ machine }) => {
    const host = await machine.web();
    for (const path of [
      '/',
      '/index.html',
      '/assets/x.js',
      '/api/openapi.json',
      '/api/project/info',
      '/?token=',
      `/?token=${host.code.slice(1)}`,
      `/index.html?token=${host.code}`,
    ])
      expect((await ask(host, path)).status, path).toBe(401);
    const refused = await post(host, '/api/project/info', {}, { authorization: 'Bearer wrong' });
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([401, { code: 'UNAUTHORIZED', data: { field: 'authorization' } }]);
    expect(await upgrade(host, '/rpc', {})).toBe(403);
    expect(await upgrade(host, `/rpc?token=${host.code}`, {})).toBe(403);
  });

  test('serves the window and no other file', async ({ machine }) => {
    const host = await machine.web();
    for (const path of [
      '/../package.json',
      '/../cli/stemma.js',
      '/%2e%2e/cli/stemma.js',
      '/..%2fcli%2fstemma.js',
      '/assets/..%2f..%2fcli/stemma.js',
      '/..%5ccli%5cstemma.js',
      '//etc/passwd',
      '/etc/passwd',
      '/%00',
    ])
      expect((await ask(host, path, bearer(host))).status, path).toBe(404);
    expect((await ask(host, '/', bearer(host), 'DELETE')).status).toBe(405);
  });

  test('every answer has the content security policy', async ({ machine }) => {
    const host = await machine.web();
    for (const [path, headers] of [
      ['/', bearer(host)],
      ['/', {}],
      ['/none', bearer(host)],
      ['/', { host: 'evil.example' }],
      ['/api/openapi.json', bearer(host)],
      ['/api/none', bearer(host)],
    ] as const) {
      const reply = await ask(host, path, headers);
      const policy = String(reply.headers['content-security-policy']);
      expect(policy, path).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toMatch(/script-src[^;]*(unsafe|\*|https?:)/);
      expect(reply.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('answers the contract over HTTP, for the named project', async ({ machine }) => {
    const host = await machine.web();
    const dir = machine.path('p.stemma');
    expect((await post(host, '/api/project/create', { dir })).status).toBe(200);
    const inProject = { ...bearer(host), 'stemma-project': encodeURIComponent(dir) };
    expect(JSON.parse((await post(host, '/api/project/info', {}, inProject)).body)).toMatchObject({ dir });
    const missing = await post(host, '/api/context/show', { id: 'ctx-00000000' }, inProject);
    expect(missing.status).toBe(404);
    expect(JSON.parse(missing.body)).toMatchObject({ code: 'NOT_FOUND', data: { id: 'ctx-00000000' } });
    const bad = await post(host, '/api/context/show', { id: 1 }, inProject);
    expect(JSON.parse(bad.body)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'id' } });
    expect((await post(host, '/api/project/info', {}, { ...bearer(host), 'stemma-project': '/nowhere' })).status).toBe(404);
    expect((await post(host, '/api/no/such', {})).status).toBe(404);
    const imported = await post(host, '/api/import/run', { paths: [machine.giveHistory()] }, inProject);
    expect(imported.headers['content-type']).toContain('text/event-stream');
    expect(imported.body).toContain('event: done');
  });

  test('[K4] takes a ticket through a review over HTTP; each write has its context', { tag: '@long' }, async ({ machine }) => {
    const host = await machine.web();
    const dir = machine.path('p.stemma');
    await post(host, '/api/project/create', { dir });
    const headers = { ...bearer(host), 'stemma-project': encodeURIComponent(dir) };
    const call = async (name: string, input: unknown, status = 200) => {
      const { status: got, body } = await post(host, `/api/${name}`, input, headers);
      expect(got, body).toBe(status);
      return JSON.parse(body);
    };
    const understood = (principal: string, content: string) =>
      call('context/checkpoint', {
        ...{ parent: null, type: 'delta', format: 'claude-code-v1', template: 'coder', principal, checkpoint: 'explicit' },
        text: `${JSON.stringify({ type: 'user', uuid: content, parentUuid: null, sessionId: 's', message: { role: 'user', content } })}\n`,
      });
    const work = await understood('@author', 'Make the queue retry');
    const review = await understood('@rev', 'Review the queue');

    const made = await call('ticket/create', { title: 'Retry failed jobs', type: 'task', by: '@author' });
    expect(made).toMatchObject({ contextId: work.id, contextFound: 'resolved' });
    const { ticketId } = made;
    await call('ticket/transition', { ticketId, to: 'in_progress', assignee: '@author', contextId: 'of another machine' });
    const inReview = await call('ticket/transition', { ticketId, to: 'review', reviewers: ['@rev'], by: '@author' });
    expect(inReview.versions.map((each: TicketVersion) => [each.contextId, each.contextFound, each.known])).toEqual([
      [work.id, 'resolved', true],
      ['of another machine', 'given', false],
      [work.id, 'resolved', true],
    ]);
    const finding = await call('ticket/create', { title: 'Counts twice', type: 'review_finding', parent: ticketId, by: '@rev' });
    expect(finding).toMatchObject({ contextId: review.id, contextFound: 'resolved' });
    const { commit } = await call('ticket/discuss', { ticketId: finding.ticketId, text: 'Why?', principal: '@author' });
    expect(commit).toMatchObject({ parent: review.id, ticketId: finding.ticketId });
    const answered = await post(host, '/api/ticket/answer', { ticketId: finding.ticketId, provider: 'recorded' }, headers);
    expect(answered.headers['content-type']).toContain('text/event-stream');
    expect(answered.body).toContain('event: done');
    expect(await call('ticket/events', { who: '@rev', state: 'waiting' })).toMatchObject([
      { task: 'review' },
      { task: 'answer', contextId: commit.id },
    ]);

    expect(await call('ticket/transition', { ticketId, to: 'closed' }, 409)).toMatchObject({
      code: 'CONFLICT',
      data: { findings: [finding.ticketId] },
    });
    await call('ticket/transition', { ticketId: finding.ticketId, to: 'closed', resolution: 'Begins at zero', by: '@author' });
    expect(await call('ticket/transition', { ticketId, to: 'closed' }, 409)).toMatchObject({ data: { reviewers: [{ name: '@rev' }] } });
    const verdict = await call('ticket/verdict', { ticketId, reviewer: '@rev', verdict: 'approved' });
    expect(verdict.versions.at(-1)).toMatchObject({ by: '@rev', contextId: review.id, contextFound: 'resolved' });
    expect(await call('ticket/transition', { ticketId, to: 'closed', by: '@author' })).toMatchObject({ status: 'closed', contextId: work.id });
  });

  test('describes itself', async ({ machine }) => {
    const host = await machine.web();
    const { openapi, paths } = JSON.parse((await ask(host, '/api/openapi.json', bearer(host))).body) as { openapi: string; paths: object };
    expect(openapi).toMatch(/^3\.1/);
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/context/show', '/import/run']));
  });

  test('a window that closes during an import leaves the engine and the project intact', { tag: '@long' }, async ({ machine }) => {
    const host = await machine.web();
    const dir = machine.path('p.stemma');
    await post(host, '/api/project/create', { dir });
    const files = Array.from({ length: 30 }, (_, place) => machine.path('work', `${place}.jsonl`));
    for (const [place, file] of files.entries())
      writeFileSync(
        file,
        transcript(
          `file ${place}`,
          Array.from({ length: 40 }, (_, turn) => ({ prompt: `Question ${turn}`, answers: ['Answer'] })),
        ),
      );
    for (let windows = 0; windows < 5; windows++) {
      const socket = new WebSocket(`ws://127.0.0.1:${host.port}/rpc`, { headers: bearer(host) });
      const client: ContractRouterClient<Contract> = createORPCClient(new RPCLink({ websocket: socket as never }));
      await client.project.open({ dir });
      const progress = await client.import.run({ paths: files });
      await progress.next();
      socket.terminate();
    }
    const inProject = { ...bearer(host), 'stemma-project': encodeURIComponent(dir) };
    expect((await post(host, '/api/import/run', { paths: files }, inProject)).body).toContain('event: done');
    const info = JSON.parse((await post(host, '/api/project/info', {}, inProject)).body) as { counts: { commits: number } };
    expect(info.counts.commits).toBe(30 * 40);
    expect(JSON.parse((await post(host, '/api/project/check', {}, inProject)).body)).toMatchObject({ ok: true, problems: [] });
    expect(host.said()).not.toContain('the engine ended');
  });

  test('ends with success on a signal', async ({ machine }) => {
    const host = await machine.web();
    const code = new Promise((resolve) => host.process.once('exit', (exit) => resolve(exit)));
    host.process.kill('SIGTERM');
    expect(await code).toBe(0);
  });
});

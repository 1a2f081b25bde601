import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/index.js';
import { show } from '../../../../src/core/chain/index.js';
import { listSources } from '../../../../src/core/import/index.js';
import { getRequest, listRequests } from '../../../../src/core/requests/index.js';
import { hasAgent, runAgent, scenario, unlessHere } from '../../../support/agents.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

const session = '11111111-2222-4333-8444-555555555555';
const ids = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'] as const;

/** A folder of raw bodies: two requests, the second with the redacted thinking of the first reply. */
function bodiesIn(folder: string, thinking = 'c2lnbmVk'): string {
  mkdirSync(folder, { recursive: true });
  const base = {
    model: 'claude-test',
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
      { type: 'text', text: 'You help.', cache_control: { type: 'ephemeral' } },
    ],
    tools: [{ name: 'Read', input_schema: { type: 'object' } }],
    betas: ['beta-1', 'beta-2'],
    metadata: { user_id: JSON.stringify({ device_id: 'd3v1ce', account_uuid: 'acc0unt', session_id: session }) },
    stream: true,
  };
  const first = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
  const reply = {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: '<REDACTED>', signature: thinking },
      { type: 'text', text: 'Hi' },
    ],
  };
  const bodies = [
    { ...base, messages: [first] },
    { ...base, messages: [first, reply, { role: 'user', content: 'More' }] },
  ];
  const replies = ['m1', 'm2'].map((id) => ({
    id,
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
    usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 0 },
  }));
  const replyName = (n: number): string => `bbbbbbbb-0000-4000-8000-00000000000${n}.response.json`;
  ids.forEach((id, n) => {
    writeFileSync(join(folder, `${id}.request.json`), JSON.stringify(bodies[n]));
    writeFileSync(join(folder, replyName(n)), JSON.stringify(replies[n]));
  });
  const index = ids.map((id, n) =>
    JSON.stringify({
      timestamp: `2026-01-01T00:00:0${n + 1}.000Z`,
      session_id: session,
      query_source: 'sdk',
      request_file: `${id}.request.json`,
      response_file: replyName(n),
    }),
  );
  writeFileSync(join(folder, 'index.jsonl'), `${index.join('\n')}\n`);
  return folder;
}

const line = (uuid: string, parent: string | null, message: object): string =>
  `${JSON.stringify({ parentUuid: parent, sessionId: session, type: 'id' in message ? 'assistant' : 'user', message, uuid, timestamp: '2026-01-01T00:00:01.000Z', cwd: '/work', version: '2.1.0' })}\n`;
const said = (id: string, block: object): object => ({ id, role: 'assistant', type: 'message', model: 'claude-test', content: [block] });

const transcript = (): string =>
  [
    line('u1', null, { role: 'user', content: 'Hello' }),
    line('a1', 'u1', said('m1', { type: 'thinking', thinking: 'A greeting.', signature: 'c2lnbmVk' })),
    line('a2', 'a1', said('m1', { type: 'text', text: 'Hi' })),
    line('u2', 'a2', { role: 'user', content: 'More' }),
    line('a3', 'u2', said('m2', { type: 'text', text: 'Hi' })),
  ].join('');

describe('[R7] raw bodies of Claude Code', () => {
  test('calls belong to their replies, and the transcript supplies the thinking texts', () => {
    const chain = emptyChain();
    const folder = scratch();
    writeFileSync(join(folder, `${session}.jsonl`), transcript());
    bodiesIn(join(folder, 'bodies'));
    const result = importInto(chain, folder);
    expect(result).toMatchObject({ sessions: 1, requests: 2, skipped: [] });
    expect(result.notes.map(({ reason }) => reason)).toEqual(['the model calls are stored; the files are not kept, because they name an account']);
    const listed = listRequests(chain, { sessionId: session });
    expect(listed.map(({ requestId, source, proof, replyKey, tokens }) => ({ requestId, source, proof, replyKey, tokens }))).toEqual(
      ['a1.0', 'a3.0'].map((replyKey, n) => ({
        requestId: `body:${ids[n]}`,
        source: 'claude-code',
        proof: 'recorded',
        replyKey,
        tokens: { input: 7, output: 3, cacheRead: 5, cacheWrite: 0 },
      })),
    );
    const second = getRequest(chain, `body:${ids[1]}`);
    expect(second).toMatchObject({ proof: 'recorded', missing: ['metadata'], headers: { 'anthropic-beta': 'beta-1,beta-2' } });
    expect(second.problem).toBe('no transcript records a digest of this call');
    expect((second.body.messages as JsonObject[])[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A greeting.', signature: 'c2lnbmVk' },
        { type: 'text', text: 'Hi' },
      ],
    });
    expect(Object.keys(second.body)).toEqual(['model', 'system', 'tools', 'stream', 'messages']);
    expect(listSources(chain).map(({ format }) => format)).toEqual(['claude-code-v1']);
    expect(importInto(chain, folder)).toMatchObject({ commits: 0, requests: 0 });
    expect(listRequests(chain, {})).toHaveLength(2);
  });

  test('a thinking text that no transcript contains is named and left out', () => {
    const chain = emptyChain();
    const folder = bodiesIn(scratch());
    expect(importInto(chain, folder)).toMatchObject({ sessions: 0, requests: 2 });
    const second = getRequest(chain, `body:${ids[1]}`);
    expect(second).toMatchObject({ proof: 'recorded', missing: ['metadata', 'messages[1].content[0].thinking'] });
    expect(second.problem).toBe('Claude Code left out a thinking text that no imported transcript contains');
    expect(JSON.stringify(second.body)).not.toContain('<REDACTED>');
    // The transcript arrives later: it connects the calls, and another import completes them.
    const path = join(scratch(), `${session}.jsonl`);
    writeFileSync(path, transcript());
    importInto(chain, path);
    expect(listRequests(chain, {}).map(({ replyKey }) => replyKey)).toEqual(['a1.0', 'a3.0']);
    expect(importInto(chain, folder)).toMatchObject({ requests: 1 });
    expect(getRequest(chain, `body:${ids[1]}`).missing).toEqual(['metadata']);
  });

  test('[R5] nothing that names an account is stored', () => {
    const chain = emptyChain();
    importInto(chain, bodiesIn(scratch()));
    const stored = Buffer.concat(
      chain.db.all<{ no: number }>('SELECT no FROM artifact').map(({ no }) => Buffer.from(chain.artifacts.read(no as never))),
    );
    expect(stored.toString()).toContain('You help.');
    expect(stored.toString()).not.toMatch(/acc0unt|d3v1ce/);
  });

  test('broken files and an index that points elsewhere are named or ignored', () => {
    const chain = emptyChain();
    const folder = bodiesIn(join(scratch(), 'bodies'));
    writeFileSync(join(folder, `${ids[0]}.request.json`), '{"model":');
    writeFileSync(join(folder, '..', 'secret.json'), '{"id":"m9"}');
    const index = readFileSync(join(folder, 'index.jsonl'), 'utf8');
    writeFileSync(join(folder, 'index.jsonl'), `not json\n[1]\n${index.replace(/"response_file":"[^"]*"/g, '"response_file":"../secret.json"')}`);
    const result = importInto(chain, folder);
    expect(result.skipped.map(({ path, reason }) => [path.slice(-13), reason])).toEqual([['.request.json', 'it is no request to the Messages API']]);
    expect(listRequests(chain, {}).map(({ replyKey, tokens }) => [replyKey, tokens.input])).toEqual([[null, null]]);
  });
});

describe.skipIf(!hasAgent('claude'))(`[R7] raw bodies, run now${unlessHere('claude')}`, { tags: 'long' }, () => {
  let home = '';
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'stemma-bodies-'));
    mkdirSync(join(home, '.claude'));
    const env = { CLAUDE_CODE_ENABLE_TELEMETRY: '1', OTEL_LOG_RAW_API_BODIES: `file:${join(home, 'bodies')}` };
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify({ env }));
    await runAgent('claude', scenario('claude-tour'), home);
  }, 120_000);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const wire = (): JsonObject[] =>
    readdirSync(join(home, 'requests'))
      .sort()
      .map((file) => JSON.parse(readFileSync(join(home, 'requests', file), 'utf8')) as JsonObject);
  const withoutAccount = ({ metadata: _, ...rest }: JsonObject): JsonObject => rest as JsonObject;

  test('every request that was sent comes back as it was sent, those of the compaction too', () => {
    const chain = emptyChain();
    const result = importInto(chain, join(home, '.claude', 'projects'), join(home, 'bodies'));
    expect(result).toMatchObject({ skipped: [], requests: 13 });
    const listed = listRequests(chain, {});
    expect(listed).toHaveLength(13);
    const bodies = listed.map(({ requestId }) => getRequest(chain, requestId));
    expect(bodies.map(({ body }) => body)).toEqual(wire().map(withoutAccount));
    for (const { missing, digest, recordedDigest } of bodies) {
      expect(missing).toEqual(['metadata']);
      if (recordedDigest !== null) expect(digest).toBe(recordedDigest);
    }
    // The transcripts record digests of all calls but the two for the summary.
    expect(listed.filter(({ proof }) => proof === 'digest')).toHaveLength(11);
    const summaries = listed.filter(({ proof }) => proof === 'recorded');
    expect(summaries.map(({ commit }) => commit && show(chain, commit).type)).toEqual(['compaction', 'compaction']);
    expect(listed.every(({ commit, replyKey }) => commit !== null && replyKey !== null)).toBe(true);
  });

  test('without the transcripts, thinking texts are missing and everything else is recorded', () => {
    const chain = emptyChain();
    const folder = join(scratch(), 'bodies');
    cpSync(join(home, 'bodies'), folder, { recursive: true });
    rmSync(join(folder, 'index.jsonl'));
    expect(importInto(chain, folder)).toMatchObject({ requests: 13, sessions: 0 });
    const listed = listRequests(chain, {});
    expect(listed.every(({ proof }) => proof === 'recorded')).toBe(true);
    expect(listed.some(({ problem }) => problem?.includes('thinking'))).toBe(true);
  });
});

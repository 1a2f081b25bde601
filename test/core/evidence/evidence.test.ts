import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { canonicalJson, encodeText, type Json, type JsonObject } from '../../../src/core/base/index.js';
import { verifyPack } from '../../../src/core/evidence/index.js';
import { computeRoot } from '../../../src/core/evidence/manifest.js';
import { makeMember, readZip, zipParts } from '../../../src/core/evidence/zip.js';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';
import { laterRefusal } from '../../support/refusal.js';

const second: (file: Uint8Array) => Promise<{ ok: boolean; digest: string | null; problems: unknown[] }> = (
  await import(join(import.meta.dirname, '..', '..', '..', 'docs', 'verify-evidence.mjs'))
).verify;

const pem = (): string => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** A pack of a short conversation and a ticket. */
async function packed(key?: string) {
  const { client } = door();
  const chain = { type: 'delta', format: 'openai-chat-v1', template: 'x', checkpoint: 'explicit' } as const;
  const say = (role: string, content: string) => JSON.stringify({ messages: [{ role, content }] });
  const first = await client.context.checkpoint({ ...chain, parent: null, text: say('user', 'What is 2 + 2?') });
  const tip = await client.context.checkpoint({ ...chain, parent: first.id, text: say('assistant', '4') });
  const ticket = await client.ticket.create({ title: 'Check the sum', type: 'task', contextId: tip.id });
  const path = join(scratch(), 'pack.zip');
  const written = await client.evidence.pack({ ids: [tip.id, ticket.ticketId], path, ...(key !== undefined && { key }) });
  return { client, tip, first, ticket, path, written, bytes: readFileSync(path) };
}

/** A pack with other files or another manifest, written as a pack is. */
function repacked(file: Uint8Array, change: (files: Map<string, Uint8Array>) => void): Buffer {
  const files = readZip(file);
  change(files);
  return Buffer.concat([...zipParts([...files].map(([name, bytes]) => makeMember(name, bytes)))]);
}

const withManifest = (files: Map<string, Uint8Array>, change: (manifest: Record<string, Json>) => void): void => {
  const manifest = JSON.parse(Buffer.from(files.get('manifest.json') ?? []).toString()) as Record<string, Json>;
  change(manifest);
  files.set('manifest.json', encodeText(canonicalJson(manifest)));
};

/** Makes the root fit again, as somebody who forges a pack would. */
const withRoot = (files: Map<string, Uint8Array>, change: (manifest: Record<string, Json>) => void): void =>
  withManifest(files, (manifest) => {
    change(manifest);
    manifest.root = computeRoot(manifest as unknown as Parameters<typeof computeRoot>[0]);
  });

describe('a pack of evidence', () => {
  test('[V1] holds commits with history and objects, tickets and a page, and both checks agree', async () => {
    const { bytes, written, tip, first } = await packed();
    const found = verifyPack(bytes);
    expect(found).toMatchObject({ ok: true, digest: written.digest, signature: null, problems: [] });
    expect(await second(bytes)).toMatchObject({ ok: true, digest: written.digest, problems: [] });
    expect(written.bytes).toBe(bytes.length);
    const files = readZip(bytes);
    const { items } = JSON.parse(Buffer.from(files.get('manifest.json') ?? []).toString()) as { items: JsonObject[] };
    expect(items.filter(({ kind }) => kind === 'commit').map(({ id }) => id)).toEqual([first.id, tip.id]);
    expect(items.filter(({ kind }) => kind === 'ticket')).toHaveLength(1);
    expect(Buffer.from(files.get('verify.html') ?? []).toString()).toContain('async function verify');
  });

  test('[V1] holds the calls of a recorded turn with digests and proofs', async () => {
    const { client } = door();
    for await (const _ of await client.import.run({ paths: [join(import.meta.dirname, '..', '..', 'fixtures', 'codex')] }));
    const [tip] = await client.context.tips({});
    const [source] = await client.source.list({});
    if (!tip || !source) throw new Error('nothing was imported');
    const listed: unknown = await client.request.list({ turnId: tip.id });
    const requests = Array.isArray(listed) ? listed : (listed as { requests: unknown[] }).requests;
    const path = join(scratch(), 'pack.zip');
    await client.evidence.pack({ ids: [tip.id, source.sourceId], path });
    const bytes = readFileSync(path);
    expect(verifyPack(bytes)).toMatchObject({ ok: true });
    expect((await second(bytes)).ok).toBe(true);
    const kinds = new Map(verifyPack(bytes).items.map(({ kind, count }) => [kind, count]));
    expect(kinds.get('request') ?? 0).toBe(requests.length);
    expect(kinds.get('source')).toBe(1);
  });

  test('[V2] every flipped bit of a signed pack is found, by both checks', { tags: 'long' }, async () => {
    const { bytes } = await packed(pem());
    expect(verifyPack(bytes)).toMatchObject({ ok: true, signature: { valid: true } });
    expect(await second(bytes)).toMatchObject({ ok: true, signature: { valid: true } });
    const missed: number[] = [];
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      if (verifyPack(changed).ok) missed.push(at);
      // The second check is slower: every byte of the framing and the manifest, and some of the page.
      if ((at < 4_096 || at > bytes.length - 2_048 || at % 97 === 0) && (await second(changed)).ok) missed.push(at);
    }
    expect(missed).toEqual([]);
    for (const cut of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from('x')]), Buffer.alloc(0), Buffer.from('PK')]) {
      expect(verifyPack(cut).ok).toBe(false);
      expect((await second(cut)).ok).toBe(false);
    }
  });

  test.each<[string, (files: Map<string, Uint8Array>) => void]>([
    ['a path outside', (files) => files.set('../../etc/passwd', encodeText('x'))],
    ['an absolute path', (files) => files.set('/tmp/x', encodeText('x'))],
    ['a file that the manifest does not name', (files) => files.set(`objects/${'a'.repeat(64)}`, encodeText('x'))],
    ['a missing object', (files) => files.delete([...files.keys()].find((name) => name.startsWith('objects/')) ?? '')],
    ['another object', (files) => files.set([...files.keys()].find((name) => name.startsWith('objects/')) ?? '', encodeText('forged'))],
    ['a changed fact', (files) => withManifest(files, (manifest) => Object.assign(manifest, { createdAt: '2020-01-01T00:00:00.000Z' }))],
    ['an item less', (files) => withManifest(files, (manifest) => Object.assign(manifest, { items: (manifest.items as Json[]).slice(1) }))],
    [
      'a commit with another time',
      (files) => withRoot(files, (manifest) => changeItem(manifest, 'commit', { createdAt: '2020-01-01T00:00:00.000Z' })),
    ],
    ['a commit with another parent', (files) => withRoot(files, (manifest) => changeItem(manifest, 'commit', { parent: 'ctx-00000000' }))],
    ['another format', (files) => withRoot(files, (manifest) => Object.assign(manifest, { format: 'stemma-evidence-v9' }))],
    [
      'a manifest that is not canonical',
      (files) => files.set('manifest.json', encodeText(`${Buffer.from(files.get('manifest.json') ?? []).toString()} `)),
    ],
    ['no manifest', (files) => files.delete('manifest.json')],
  ])('[V2] %s is found by both checks', async (_, change) => {
    const { bytes } = await packed();
    const forged = repacked(bytes, change);
    const found = verifyPack(forged);
    expect(found.ok).toBe(false);
    expect(found.problems.every(({ message }) => message.length > 10)).toBe(true);
    expect((await second(forged)).ok).toBe(false);
  });

  test('[V3] a signature of another pack or another key does not hold', async () => {
    const [mine, other] = [await packed(pem()), await packed(pem())];
    const signature = readZip(other.bytes).get('signature.json') ?? new Uint8Array();
    const forged = repacked(mine.bytes, (files) => withRoot(files, (manifest) => Object.assign(manifest, { createdAt: '2020-01-01T00:00:00.000Z' })));
    const swapped = repacked(mine.bytes, (files) => void files.set('signature.json', signature));
    expect(verifyPack(forged)).toMatchObject({ ok: false, signature: { valid: false } });
    expect((await second(forged)).ok).toBe(false);
    if (!Buffer.from(signature).equals(Buffer.from(readZip(mine.bytes).get('signature.json') ?? [])))
      expect(verifyPack(swapped).signature?.publicKey).not.toBe(verifyPack(mine.bytes).signature?.publicKey);
  });

  test('[V3] a wrong key, an unknown id and a taken path are refused, and nothing is written', async () => {
    const { client, tip, path } = await packed();
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const free = join(scratch(), 'x.zip');
    for (const key of ['nonsense', '/no/such/key.pem', rsa])
      expect(await laterRefusal(client.evidence.pack({ ids: [tip.id], path: free, key }))).toMatchObject({
        code: 'BAD_REQUEST',
        data: { field: 'key' },
      });
    for (const id of ['ctx-99999999', 'tkt-000000000000000000000000', 'call:nothing', 'x'])
      expect(await laterRefusal(client.evidence.pack({ ids: [id], path: free }))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await laterRefusal(client.evidence.pack({ ids: [tip.id], path }))).toMatchObject({ code: 'CONFLICT' });
    expect(() => readFileSync(free)).toThrow();
    const file = join(scratch(), 'key.pem');
    writeFileSync(file, pem());
    expect(await client.evidence.pack({ ids: [tip.id], path: free, key: file })).toMatchObject({ signed: true });
    expect(await client.evidence.verify({ path: free })).toMatchObject({ ok: true, signature: { valid: true } });
  });
});

function changeItem(manifest: Record<string, Json>, kind: string, change: JsonObject): void {
  const items = manifest.items as JsonObject[];
  const at = items.findIndex((item) => item.kind === kind);
  manifest.items = items.map((item, place) => (place === at ? { ...item, ...change } : item));
}

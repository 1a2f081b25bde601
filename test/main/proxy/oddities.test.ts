import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { capturedCall, type Wire, wires } from '../../../src/core/contract/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { captureCall, getRequest, listRequests } from '../../../src/core/requests/index.js';
import { startProxy } from '../../../src/main/proxy/index.js';
import { askOddly, type Oddity, oddities, oddModel, secrets, sentFor, wireCases } from '../../support/odd-model.js';
import { emptyProject } from '../../support/project.js';

async function recording() {
  const server = await oddModel();
  const project = emptyProject();
  const problems: string[] = [];
  const upstream = new URL(server.url);
  const proxy = await startProxy({
    upstreams: { anthropic: upstream, openai: upstream, gemini: upstream },
    record: async (call) => captureCall(project.chain, capturedCall.parse(call)),
    problem: (error) => problems.push(error.message),
  });
  onTestFinished(async () => {
    server.close();
    await proxy.close();
  });
  const ask = (wire: Wire, oddity: Oddity, onPiece?: Parameters<typeof askOddly>[3]) =>
    askOddly(proxy.base(wireCases[wire].provider), wire, oddity, onPiece);
  return { server, project, problems, proxy, ask };
}

/** The places of a text in a project: in its files, and in everything that they contain after decompression. */
function placesOf(project: Project, text: string): string[] {
  const { db, artifacts } = project.chain;
  const isIn = (value: unknown): boolean =>
    typeof value === 'string' ? value.includes(text) : value instanceof Uint8Array && Buffer.from(value).includes(text);
  const tables = db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const rows = tables.flatMap(({ name }) => db.all<Record<string, unknown>>(`SELECT * FROM "${name}"`).map((row) => ({ name, row })));
  const objects = db.all<{ no: number }>('SELECT no FROM artifact').map(({ no }) => no);
  expect(rows.length).toBeGreaterThan(objects.length);
  expect(objects.length).toBeGreaterThan(3);
  return [
    ...readdirSync(project.dir, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(text))
      .map((file) => `file ${file.name}`),
    ...rows.filter(({ row }) => Object.values(row).some(isIn)).map(({ name }) => `table ${name}`),
    ...objects.filter((no) => isIn(artifacts.read(no as never))).map((no) => `object ${no}`),
  ];
}

test.each(wires)('[R5] %s: the agent gets every byte, and no credential is stored', async (wire) => {
  const { server, project, problems, proxy, ask } = await recording();
  const { provider, inputTokens } = wireCases[wire];
  for (const oddity of oddities) {
    const sent = sentFor(wire, oddity);
    // The pause ends when the earlier bytes have arrived: the proxy holds nothing back.
    const got = await ask(wire, oddity, (sofar) => {
      if (oddity === 'stalls' && sofar.equals(sent.subarray(0, sofar.length)) && sofar.length >= sent.indexOf('👋') + 2) server.goOn();
    });
    expect(got.bytes.equals(sent), `${oddity}: ${got.bytes}`).toBe(true);
    const status = oddity === '429' || oddity === '529' ? Number(oddity) : 200;
    expect([got.status, got.retryAfter, got.isWhole]).toEqual([status, status === 200 ? undefined : '3', oddity !== 'breaks']);
  }
  // An agent that stops waiting hangs up, and so does the proxy.
  const left = await ask(wire, 'stalls', (_, leave) => leave());
  expect(left.isWhole).toBe(false);
  await expect.poll(server.left).toBe(1);
  await proxy.close();

  expect(problems).toEqual([]);
  const rows = listRequests(project.chain, {});
  expect(rows).toHaveLength(oddities.length + 1);
  for (const { requestId, proof, source, tokens } of rows) {
    expect({ proof, source }).toEqual({ proof: 'digest', source: 'wire' });
    const { body, provider: asked, missing } = getRequest(project.chain, requestId);
    expect(asked).toBe(provider);
    expect(missing).toContain('credentials');
    expect(JSON.stringify(body)).toContain('says [withheld: a credential], in a session of [withheld: a credential]');
    expect([inputTokens, null]).toContain(tokens.input);
  }
  expect(rows.filter(({ tokens }) => tokens.input === inputTokens).length).toBeGreaterThanOrEqual(2);
  // The search itself works.
  expect(placesOf(project, 'withheld: a credential')).not.toEqual([]);
  for (const [name, secret] of Object.entries(secrets)) expect(placesOf(project, secret), name).toEqual([]);
});

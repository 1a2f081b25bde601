import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Chain } from '../../../src/core/chain/index.js';
import { getSource, listSources } from '../../../src/core/intake/index.js';
import { getRequest, listRequests } from '../../../src/core/requests/index.js';
import { emptyChain } from '../../support/project.js';
import { importAll } from '../../support/requests.js';

/** Runs the real agent on loopback, and holds what its transcript says against what it really sent. */
const tools = join(import.meta.dirname, '../../../../shared/tools');
const hasTools = existsSync(join(tools, 'agent-live'));
if (!hasTools) console.warn('skipped: the tools that run a real agent (../shared/tools) are not on this machine');

type Body = Record<string, unknown> & { system?: { text?: string }[]; messages: unknown[] };

/** What no record holds: everything else of the wire must be there. */
function recordable(wire: Body): Body {
  const { metadata: _metadata, stream: _stream, ...rest } = wire;
  return { ...rest, system: rest.system?.filter((block) => !block.text?.startsWith('x-anthropic-billing-header')) ?? [] };
}

function sourceText(chain: Chain, path: string): Buffer {
  const source = listSources(chain).find((each) => each.path === path);
  const { artifactRef } = getSource(chain, source?.sourceId ?? '');
  return Buffer.from(chain.artifacts.read(chain.artifacts.find(artifactRef ?? '')));
}

describe.skipIf(!hasTools).each(['claude-tour', 'claude-troubles'])('%s, run now', (scenario) => {
  let home = '';
  let transcripts: string[] = [];
  let wire: Body[] = [];

  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'stemma-live-'));
    execFileSync(join(tools, 'agent-live'), ['claude', join(tools, `scenarios/${scenario}.json`), home], { stdio: 'pipe', timeout: 120_000 });
    const projects = join(home, '.claude/projects');
    transcripts = readdirSync(projects, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.jsonl'))
      .map((path) => join(projects, path));
    const requests = join(home, 'requests');
    wire = readdirSync(requests)
      .sort()
      .map((file) => JSON.parse(readFileSync(join(requests, file), 'utf8')) as Body);
  }, 130_000);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test('[R3] every recorded call is listed and proved, and is what went over the wire, to the order of members in its messages', () => {
    const chain = emptyChain();
    importAll(chain, [join(home, '.claude/projects')]);
    const recorded = transcripts.flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{"type":"api-request",')),
    );
    const listed = listRequests(chain, {});
    expect(recorded.length).toBeGreaterThan(0);
    expect(listed).toHaveLength(recorded.length);
    expect(listed.map(({ proof, problem }) => ({ proof, problem }))).toEqual(listed.map(() => ({ proof: 'digest', problem: undefined })));
    const left = wire.map((body) => recordable(body));
    for (const { requestId } of listed) {
      const { body, digest, recordedDigest } = getRequest(chain, requestId);
      expect(digest).toBe(recordedDigest);
      const found = left.findIndex((sent) => JSON.stringify(sent.messages) === JSON.stringify(body.messages));
      expect(found, `request ${requestId} is among those sent`).toBeGreaterThanOrEqual(0);
      expect(body).toEqual(left[found]);
      left.splice(found, 1);
    }
  });

  test('[R1] every call stands at the commit that holds its reply, or what it followed', () => {
    const chain = emptyChain();
    importAll(chain, [join(home, '.claude/projects')]);
    for (const row of listRequests(chain, {})) {
      expect(row.commit, `the commit of ${row.requestId}`).not.toBeNull();
      expect(listRequests(chain, { id: row.commit as never }).map((each) => each.requestId)).toContain(row.requestId);
    }
  });

  test('every transcript comes back byte for byte, its records being stored with the calls', () => {
    const chain = emptyChain();
    importAll(chain, [join(home, '.claude/projects')]);
    for (const path of transcripts) expect(sourceText(chain, path).equals(readFileSync(path)), path).toBe(true);
  });
});

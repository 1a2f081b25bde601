import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/index.js';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import type { Request, RequestRow } from '../../../../src/core/contract/index.js';
import { getRequest, listRequests } from '../../../../src/core/requests/index.js';
import { type Agent, hasAgent, type LiveRun, liveRun, unlessHere } from '../../../support/agents.js';
import { bytesOfFile, importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

/** Runs the real agents on loopback and compares their transcripts with what they really sent. */
function live(agent: Agent, scenario: string): () => LiveRun {
  let run: LiveRun | undefined;
  beforeAll(() => {
    run = liveRun(agent, scenario);
  });
  return () => run as LiveRun;
}

const imported = (paths: readonly string[]): WriteChain => {
  const chain = emptyChain();
  importInto(chain, ...paths);
  return chain;
};

function expectSources(chain: WriteChain, { transcripts }: LiveRun): void {
  expect(transcripts.length).toBeGreaterThan(0);
  for (const path of transcripts) expect(bytesOfFile(chain, path).equals(readFileSync(path)), path).toBe(true);
}

describe.skipIf(!hasAgent('claude')).each(['claude-tour', 'claude-troubles'])(`%s, run now${unlessHere('claude')}`, { tags: 'long' }, (scenario) => {
  const run = live('claude', scenario);

  /** The parts that no record holds. All others must be recorded. */
  function recordable(wire: JsonObject): JsonObject {
    const { metadata: _metadata, stream: _stream, system, ...rest } = wire;
    const blocks = (system ?? []) as readonly { readonly text?: string }[];
    return { ...rest, system: blocks.filter((block) => !block.text?.startsWith('x-anthropic-billing-header')) as readonly Json[] };
  }

  test('[R3] recorded calls are verified and equal what was sent, member by member', () => {
    const { sessions, transcripts, wire } = run();
    const chain = imported([sessions]);
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
    const chain = imported([run().sessions]);
    for (const row of listRequests(chain, {})) {
      expect(row.commit, `the commit of ${row.requestId}`).not.toBeNull();
      expect(listRequests(chain, { id: row.commit as never }).map((each) => each.requestId)).toContain(row.requestId);
    }
  });

  test('every transcript comes back byte for byte, its records being stored with the calls', () => expectSources(imported([run().sessions]), run()));
});

/** The calls with their bodies, each as long as the list says. */
function calls(chain: WriteChain): { row: RequestRow; got: Request; body: JsonObject }[] {
  return listRequests(chain, {}).map((row) => {
    const got = getRequest(chain, row.requestId);
    const body = got.body as JsonObject;
    expect((body.messages ?? body.input) as readonly Json[]).toHaveLength(row.messageCount);
    expect(got.proof).toBe(row.proof);
    return { row, got, body };
  });
}

describe.skipIf(!hasAgent('codex'))(`codex-tour, run now${unlessHere('codex')}`, { tags: 'long' }, () => {
  const run = live('codex', 'codex-tour');
  const promptOf = (item: Json): string => JSON.stringify(item);

  /** The input without the id of the base instructions, which is not recorded. */
  const inputOf = (body: JsonObject): readonly Json[] =>
    (body.input as readonly JsonObject[]).map((item, at) => {
      const { id: _, ...rest } = item;
      return at === 0 ? rest : item;
    });

  function expectInputs(chain: WriteChain, { wire }: LiveRun): void {
    const found = calls(chain);
    expect(found).toHaveLength(wire.length);
    for (const [at, { row, got, body }] of found.entries()) {
      const sent = wire[at] as JsonObject;
      const isCompaction = (sent.tools as readonly Json[]).length === 0;
      const input = inputOf(sent);
      expect(row.source).toBe('codex');
      expect(row.proof).toBe('recorded');
      expect(inputOf(body), `call ${at}`).toEqual(isCompaction ? input.slice(0, -1) : input);
      expect(body.model ?? sent.model).toBe(sent.model);
      expect(row.tokens).toEqual({ input: 100 * (at + 1), output: 10, cacheRead: 0, cacheWrite: 0, ...(at === 2 && { input: 900_000 }) });
      expect(got.missing).toEqual([
        ...(body.model === undefined ? ['model'] : []),
        'input[0].id',
        'input[0]: what the runtime takes out of its instructions for tools that are not offered',
        ...(isCompaction ? ['input: the prompt that asks for the summary'] : []),
        'tools',
        'parameters',
      ]);
      if (isCompaction) expect(promptOf(input.at(-1) as Json)).toContain('CONTEXT CHECKPOINT COMPACTION');
    }
  }

  test('[R1] input items equal those on the wire, also for compactions and forks', () => expectInputs(imported([run().sessions]), run()));

  test('[R1] the same holds where the fork is imported before its origin', () => {
    const { transcripts, home } = run();
    const isFork = (path: string): boolean => readFileSync(path, 'utf8').slice(0, 2_000).includes('"forked_from_id"');
    const [fork] = transcripts.filter(isFork);
    expect(fork).toBeDefined();
    const chain = emptyChain();
    importInto(chain, fork as string);
    importInto(chain, `${home}/.codex/sessions`);
    expectInputs(chain, run());
  });

  test('[R3] a fork whose origin is not here says so; beside the origin it is whole', () => {
    const { transcripts, home } = run();
    const fork = transcripts.find((path) => readFileSync(path, 'utf8').slice(0, 2_000).includes('"forked_from_id"')) as string;
    const alone = join(scratch(), basename(fork));
    copyFileSync(fork, alone);
    const chain = imported([alone]);
    const [only, ...others] = calls(chain);
    expect(others).toEqual([]);
    expect(only?.got.missing).toContainEqual(expect.stringMatching(/^input: what came before the fork, in the session 01/));
    expect(only?.body.input).toHaveLength(2);
    importInto(chain, `${home}/.codex/sessions`);
    const whole = calls(chain).filter(({ got }) => !got.missing.some((part) => part.startsWith('input: what came')));
    expect(whole.map(({ body }) => inputOf(body).length)).toContain(9);
    expect(whole).toHaveLength(run().wire.length);
  });

  test('every rollout comes back byte for byte', () => expectSources(imported([run().sessions]), run()));
});

describe.skipIf(!hasAgent('pi'))(`pi-tour, run now${unlessHere('pi')}`, { tags: 'long' }, () => {
  const run = live('pi', 'pi-tour');

  const withoutMarks = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(withoutMarks);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).flatMap(([key, each]) => (key === 'cache_control' ? [] : [[key, withoutMarks(each as Json)]])));
  };

  test('[R1] system prompt, tools and messages equal those on the wire', () => {
    const { sessions, wire } = run();
    const sent = wire.filter(({ system }) => !JSON.stringify(system).includes('context summarization assistant')).map(withoutMarks) as JsonObject[];
    const found = calls(imported([sessions]));
    expect(found).toHaveLength(sent.length);
    for (const [at, { row, got, body }] of found.entries()) {
      const { model, system, tools, messages } = sent[at] as JsonObject;
      expect(row).toMatchObject({ source: 'pi', proof: 'recorded', model });
      expect(body).toEqual({ model, system, tools, messages });
      expect(got.missing).toEqual(['cache_control', 'parameters']);
    }
  });

  test('every session comes back byte for byte', () => expectSources(imported([run().sessions]), run()));
});

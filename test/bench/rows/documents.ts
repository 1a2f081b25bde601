import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { writeZip } from '../../../src/core/formats/shared/zip.js';
import { builtRoot } from '../built.js';
import { chance, prose } from '../material.js';
import type { Part, Row, Run } from '../measure.js';
import { peakOfImport } from './memory.js';

const megabyte = 1024 * 1024;
const text = prose(chance(7), megabyte);

/** A text of about 16 kB that differs with the number. */
function textOf(number: number): string {
  const from = (number * 7_919) % (megabyte - 16_384);
  return `${number}: ${text.slice(from, from + 16_384)}`;
}

/** The items of a document, one JSON text for each number, between its beginning and its end. */
interface Kind {
  readonly name: string;
  readonly begin: string;
  readonly item: (number: number) => object;
  readonly end: string;
}

const time = (number: number): string => new Date(Date.UTC(2026, 10, 1) + number * 1_000).toISOString();
const span = (number: number, messages: readonly [string, object][]) => ({
  ...{ traceId: 'a'.repeat(32), spanId: number.toString(16).padStart(16, '0'), name: 'chat m', kind: 3 },
  ...{ startTimeUnixNano: `${1_793_491_200_000 + number * 1_000}000000`, endTimeUnixNano: `${1_793_491_200_500 + number * 1_000}000000` },
  attributes: [
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
    { key: 'gen_ai.conversation.id', value: { stringValue: 'large' } },
    ...messages.map(([name, value]) => ({ key: `gen_ai.${name}.messages`, value: { stringValue: JSON.stringify([value]) } })),
  ],
});
const part = (content: string) => [{ type: 'text', content }];
const question = (number: number) => ({ role: 'user', content: `Question ${number}` });
const answer = (number: number) => ({ role: 'assistant', content: textOf(number) });

const kinds: readonly Kind[] = [
  {
    name: 'atif-v1.json',
    begin: '{"schema_version":"ATIF-v1.7","session_id":"large","agent":{"name":"a","version":"1"},"steps":[',
    item: (n) => ({ step_id: n + 1, timestamp: time(n), source: n % 2 ? 'agent' : 'user', message: n % 2 ? textOf(n) : `Question ${n}` }),
    end: ']}',
  },
  {
    name: 'vscode-chat-v1.json',
    begin:
      '{"version":3,"responderUsername":"GitHub Copilot","initialLocation":"panel","sessionId":"large","creationDate":1793491200000,"requests":[',
    item: (n) => ({
      requestId: `r${n}`,
      message: { text: `Question ${n}`, parts: [] },
      response: [{ value: textOf(n) }],
      result: {},
      timestamp: n + 1,
    }),
    end: ']}',
  },
  {
    name: 'inspect-eval-v1.json',
    begin: '{"version":2,"status":"success","eval":{"eval_id":"large","task":"t","model":"m"},"samples":[',
    item: (n) => ({ id: n, epoch: 1, input: 'x', messages: Array.from({ length: 40 }, (_, at) => (at % 2 ? answer(n * 40 + at) : question(at))) }),
    end: ']}',
  },
  {
    name: 'otlp-v1.json',
    begin: '{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{},"spans":[',
    item: (n) =>
      span(n, [
        ['input', { role: 'user', parts: part(`Question ${n}`) }],
        ['output', { role: 'assistant', parts: part(textOf(n)) }],
      ]),
    end: ']}]}]}',
  },
  {
    name: 'langfuse.json',
    begin: '{"trace":{"id":"t","sessionId":"large"},"observations":[',
    item: (n) => ({ id: `o${n}`, traceId: 't', type: 'GENERATION', startTime: time(n), input: [question(n)], output: answer(n), model: 'm' }),
    end: ']}',
  },
  {
    name: 'langsmith.json',
    begin: '[',
    item: (n) => ({
      ...{ id: `r${n}`, trace_id: 't', dotted_order: `${n}`, run_type: 'llm', name: 'm', start_time: time(n) },
      ...{ inputs: { messages: [question(n)] }, outputs: { choices: [{ message: answer(n) }] } },
    }),
    end: ']',
  },
];

/** Writes a document of a size in MB, in a folder of its own. */
function written(folder: string, { name, begin, item, end }: Kind, megabytes: number): string {
  mkdirSync(folder);
  const fd = openSync(join(folder, name), 'w');
  let size = writeSync(fd, begin);
  for (let number = 0; size < megabytes * megabyte; number++) size += writeSync(fd, `${number > 0 ? ',' : ''}${JSON.stringify(item(number))}`);
  writeSync(fd, end);
  closeSync(fd);
  return folder;
}

/** An archive of Inspect. Its samples are compressed to about a third. */
function archive(folder: string, megabytes: number): string {
  mkdirSync(folder);
  const { item } = kinds.find(({ name }) => name.startsWith('inspect')) as Kind;
  const samples = Array.from({ length: Math.ceil((megabytes * megabyte) / 330_000) }, (_, number) => ({
    name: `samples/${number}_epoch_1.json`,
    content: Buffer.from(JSON.stringify(item(number))),
  }));
  const header = Buffer.from('{"version":2,"status":"success","eval":{"eval_id":"large","task":"t","model":"m"}}');
  writeFileSync(join(folder, 'inspect-eval-v1.eval'), writeZip([{ name: 'header.json', content: header }, ...samples]));
  return folder;
}

function documents(folder: string, kind: Kind | undefined, id: string, { quick }: Run): Row[] {
  const [few, many] = quick ? [3, 10] : [40, 300];
  const root = builtRoot(folder);
  const at = mkdtempSync(join(folder, 'documents-'));
  const make = (name: string, megabytes: number): string =>
    kind ? written(join(at, name), kind, megabytes) : archive(join(at, name), megabytes * 3);
  const small = peakOfImport(root, join(at, 'small'), make('small-document', few));
  const started = performance.now();
  const large = peakOfImport(root, join(at, 'large'), make('large-document', many));
  const seconds = (performance.now() - started) / 1_000;
  rmSync(at, { recursive: true, force: true });
  const figures = { smallMB: small, largeMB: large, seconds };
  return [
    {
      id,
      what: `peak memory of importing one document of ${many} MB over one of ${few} MB`,
      ratio: large / small,
      must: 1.3,
      stretch: 1.1,
      better: 'less',
      figures,
    },
  ];
}

export const documentParts: readonly Part[] = [...kinds, undefined].map((kind) => {
  const id = `T23 ${kind?.name ?? 'inspect-eval-v1.eval'}`;
  return { rows: [id], run: (folder, how) => documents(folder, kind, id, how) };
});

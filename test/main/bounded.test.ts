import { expect, test } from 'vitest';
import { excessIn } from '../../src/main/team/index.js';

const bounds = { parts: 4, json: { levels: 32, members: 1_000 } };
const deep = `{"json":${'['.repeat(40)}${']'.repeat(40)}}`;
const many = `[${'1,'.repeat(2_000)}1]`;
const part = (head: string, content: string): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const data = 'Content-Disposition: form-data; name="data"';
const file = 'Content-Disposition: form-data; name="0"; filename="blob"\r\nContent-Type: application/zstd';
const form = (...parts: string[]): string => `${parts.join('')}--b--\r\n`;
const type = 'multipart/form-data; boundary=b';

test('[E53] [E63] JSON and multipart bodies within the limits are accepted', async () => {
  const built = new FormData();
  built.append('data', '{"json":{"a":1},"maps":[["parcel"]]}');
  built.append('0', new Blob([deep, many, '"'], { type: 'application/zstd' }));
  const request = new Request('http://hub', { method: 'POST', body: built });
  const own = Buffer.from(await request.clone().arrayBuffer());
  expect(excessIn(own, request.headers.get('content-type') ?? '', bounds)).toBeUndefined();
  for (const [body, kind] of [
    ['{"json":{"a":"[[[[[["}}', 'application/json'],
    ['', ''],
    [form(part(data, '{}'), part(file, deep)), type],
    [form(part(data, '{}')), 'multipart/form-data; boundary="b"'],
  ] as const)
    expect(excessIn(Buffer.from(body), kind, bounds), body).toBeUndefined();
});

test.each([
  ['deep JSON', deep, 'application/json'],
  ['many values', many, 'application/json'],
  ['no type', deep, ''],
  ['a deep part', form(part(data, deep)), type],
  ['a part with many values', form(part(data, many)), type],
  ['too many parts', form(...Array.from({ length: 6 }, () => part(data, '1'))), type],
  ['a quote in the header of a part', form(part(`X: "\r\n${data}`, deep)), type],
  ['a long header of a part', form(part(`X: ${'"'.repeat(2_001)}\r\n${data}`, deep)), type],
  ['a name that says filename', form(part('Content-Disposition: form-data; name="filename"', deep)), type],
  ['another header that says filename', form(part(`X: filename="x"\r\n${data}`, deep)), type],
  ['two dispositions', form(part(`${file}\r\n${data}`, deep)), type],
  ['a quote before the first part', `"${form(part(data, deep))}`, type],
  ['two boundaries', form(part(data, deep)), 'multipart/form-data; x=boundary=a; boundary=b'],
  ['a long boundary', form(part(data, deep)), `multipart/form-data; boundary=${'b'.repeat(300)}`],
  ['a form without a boundary', form(part(data, deep)), 'multipart/form-data'],
  ['another kind of form', form(part(data, deep)), 'multipart/mixed; boundary=b'],
  ['a form without parts', 'a=1&'.repeat(100), 'application/x-www-form-urlencoded'],
])('[E53] [E63] %s is not parsed', (_, body, kind) => {
  expect(excessIn(Buffer.from(body), kind, bounds)).toBeTypeOf('string');
});

import { describe, expect, test } from 'vitest';
import { contract, describeProcedure, procedureNames } from '../../src/core/contract/index.js';
import { procedureHelp } from '../../src/main/cli/procedure-help.js';
import { openApi } from '../../src/main/web/api.js';

interface Operation {
  readonly description?: string;
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly properties?: Record<string, { description?: string }> } } };
  };
}

describe('stemma call PROCEDURE --help', () => {
  test('shows the description, the fields of the input and the result', () => {
    const help = procedureHelp('context.find') ?? '';
    expect(help).toContain(describeProcedure(contract, 'context.find')?.description);
    expect(help).toMatch(/^ {2}id\* \(string\): A commit, by its id/m);
    expect(help).toMatch(/^ {2}hidden \(boolean\): Include what the agent recorded/m);
    expect(help).toContain('Result: {total, hits}');
  });

  test('shows the fields of fields, each choice of a union, and the events of a stream', () => {
    expect(procedureHelp('context.fork')).toMatch(/^ {2}edits \(list of object\).*\n {4}op\* \("drop" \| "replace" \| "insert" \| "append"\): /m);
    expect(procedureHelp('replica.set')).toMatch(/bucket\* \(string\): The name of the bucket/);
    expect(procedureHelp('context.summarize')).toMatch(/^Each event: \{done, total, id\?\}\nResult: \{summarized, skipped\}/m);
  });

  test('describes every procedure', () => {
    expect(procedureNames(contract).filter((name) => !procedureHelp(name)?.startsWith(name))).toEqual([]);
    expect(procedureHelp('context.nothing')).toBeUndefined();
  });
});

describe('/api/openapi.json', () => {
  test('has the description of every procedure and of the fields of its input', { tags: 'long' }, async () => {
    const { paths } = JSON.parse(await openApi('0')) as { paths: Record<string, Record<string, Operation>> };
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    const described = procedureNames(contract).flatMap((name) => describeProcedure(contract, name)?.description || []);
    expect(operations.flatMap(({ description }) => description ?? []).toSorted()).toEqual(described.toSorted());
    const { description, requestBody } = paths['/context/find']?.post ?? {};
    expect(description).toBe(describeProcedure(contract, 'context.find')?.description);
    expect(requestBody?.content['application/json'].schema.properties).toMatchObject({
      id: { description: 'A commit, by its id or the beginning of its id.' },
      text: { description: 'The words to find.' },
    });
  });
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { continuations } from '../../../src/core/formats/shared/continued.js';
import { clip } from '../../../src/core/formats/shared/headline.js';
import { emptyProject } from '../../support/project.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const megabyte = 1024 * 1024;

test('[F48] objects that an import appends to a pack leave memory at once', { tags: 'long' }, () => {
  const { artifacts } = emptyProject().chain;
  const memory = (): number => {
    collect();
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = memory();
  // Each is larger than what a pack collects before it syncs in the background. No callback of a sync runs before the check.
  for (let number = 0; number < 5; number++)
    artifacts.transaction(() => artifacts.put(new Uint8Array(4 * megabyte).fill(number), { contentType: 'text/plain', bulk: true }));
  expect(memory() - before).toBeLessThan(10 * megabyte);
});

test('[F48, F50] the answers of calls that a later call may continue are not kept', async () => {
  const placeOf = continuations<{ readonly text: string }>({
    printOf: ({ text }) => text,
    isSystem: () => false,
    echoOf: ({ text }) => text,
    isEcho: ({ text }, echo) => text === echo,
    isSummary: () => false,
  });
  const spoken = (until: number): { readonly text: string }[] =>
    Array.from({ length: 2 * until + 1 }, (_, at) => ({ text: `${at % 2 ? 'answer' : 'question'} ${at >> 1}` }));
  const answers = Array.from({ length: 6 }, (_, number) => {
    const answer = { text: `answer ${number}` };
    placeOf({ id: `${number}`, input: spoken(number), output: [answer] });
    return new WeakRef(answer);
  });
  // The garbage collector spares the target of a WeakRef until the current job ends.
  await new Promise(setImmediate);
  collect();
  expect(answers.filter((answer) => answer.deref() !== undefined).length).toBeLessThan(2);
  // The call is still found by its answer.
  expect(placeOf({ id: 'next', input: [...spoken(3).slice(0, -1), { text: 'again' }], output: [] })).toMatchObject({ after: '2' });
});

test('[F48] the headline of a long text does not keep the text', { tags: 'long' }, () => {
  collect();
  const before = process.memoryUsage().heapUsed;
  const headlines = Array.from({ length: 12 }, (_, number) =>
    clip(JSON.parse(JSON.stringify(`The ${number}th headline is here\nand more ${'x'.repeat(megabyte)}`)) as string),
  );
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(6 * megabyte);
  expect(headlines[11]).toBe('The 11th headline is here');
});

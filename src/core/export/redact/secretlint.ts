import { hash } from 'node:crypto';
import { setImmediate as yieldToEvents } from 'node:timers/promises';

/** The findings of secretlint by the hash of the text, so that the same text is not searched twice. */
export type Findings = Map<string, readonly string[]>;

/** The number of characters that are searched before other work of the engine can run. */
const batchLength = 128 * 1024;
/** The cache is emptied at this many texts. */
const maxFindings = 200_000;

/** Secrets that secretlint's recommended rules find in the texts. A text is read when its batch begins. */
export async function* lintTexts(texts: Iterable<string>, known: Findings): AsyncGenerator<string> {
  for (const batch of batchesOf(texts)) {
    if (known.size + batch.length > maxFindings) known.clear();
    const keyed = batch.map((text) => ({ text, key: hash('sha256', text, 'base64') }));
    const unknown = keyed.filter(({ key }) => !known.has(key));
    const [first] = unknown;
    if (first) {
      const found = [...(await lint(unknown.map(({ text }) => text).join('\n')))];
      for (const { text, key } of unknown) known.set(key, found.length === 0 ? nothing : found.filter((secret) => text.includes(secret)));
      // A finding across several texts is remembered with the first of them.
      const across = found.filter((secret) => !unknown.some(({ text }) => text.includes(secret)));
      if (across.length > 0) known.set(first.key, [...(known.get(first.key) ?? nothing), ...across]);
    }
    for (const { key } of keyed) yield* known.get(key) ?? nothing;
    await yieldToEvents();
  }
}
const nothing: readonly string[] = [];

/** The texts without repetitions, in batches of about one length. */
function* batchesOf(texts: Iterable<string>): Generator<string[]> {
  let batch = new Set<string>();
  let length = 0;
  for (const text of texts) {
    if (batch.has(text)) continue;
    if (length > 0 && length + text.length > batchLength) {
      yield [...batch];
      batch = new Set();
      length = 0;
    }
    batch.add(text);
    length += text.length + 1;
  }
  if (batch.size > 0) yield [...batch];
}

const ruleOptions = [
  { id: '@secretlint/secretlint-rule-aws', options: { enableIDScanRule: true } },
  // A transcript that contains `secretlint-disable` must not turn the search off.
  { id: '@secretlint/secretlint-rule-filter-comments', disabled: true },
];

async function lint(content: string): Promise<Set<string>> {
  // Loaded at the first redaction: an engine that starts does not wait for it.
  const [{ lintSource }, { creator: rule }] = await Promise.all([import('@secretlint/core'), import('@secretlint/secretlint-rule-preset-recommend')]);
  const config = { rules: [{ id: 'recommended', rule, rules: ruleOptions }] };
  const source = { content, filePath: 'export.txt', ext: '.txt', contentType: 'text' as const };
  const { messages } = await lintSource({ source, options: { noPhysicFilePath: true, config } });
  return new Set(messages.flatMap(({ range, data }) => namedValues(data, content) ?? [content.slice(...range)]));
}

/** The values that a message names. Its range is used only without them, because the range of an AWS key ends before the key does. */
function namedValues(data: unknown, content: string): string[] | undefined {
  const values = Object.entries(data ?? {}).flatMap(([name, value]) =>
    name !== 'typeName' && typeof value === 'string' && value.length >= 6 && content.includes(value) ? [value] : [],
  );
  return values.length > 0 ? values : undefined;
}

import { canonicalJson, encodeText, inWords, type Json } from '../base/index.js';
import { entries, findCommit, type ReadChain } from '../chain/index.js';
import type { ComparedSide, DiffLine, Entry, InputOf, OutputOf, SideBySide } from '../contract/index.js';
import { changedLines } from '../diff/index.js';
import { writeNew } from '../files/index.js';
import { fence, inlineText } from '../formats/index.js';
import { compareFields, compareMany } from '../turns/index.js';
import { noteWritten, redactor, replaceIn, textsIn } from './redact/index.js';

export type ExportedComparison = OutputOf<'export.comparison'>;

/**
 * A comparison of contexts as a Markdown document: the cost of each context, then every place where they differ. Texts of the
 * contexts are in code blocks that nothing in them can close. Returned as text, or written to a new file at `path`.
 * @throws NOT_FOUND for an unknown context, CONFLICT if the file exists.
 */
export function exportComparison(chain: ReadChain, input: InputOf<'export.comparison'>): ExportedComparison {
  const { compared, read } = compareContexts(chain, input);
  return deliver(documentOf(compared, read), input.path);
}

/** As `exportComparison`, with known patterns of secrets and personal data replaced by placeholders. */
export async function exportRedactedComparison(chain: ReadChain, input: InputOf<'export.comparison'>): Promise<ExportedComparison> {
  const { compared, read } = compareContexts(chain, input);
  const redact = redactor(new Map(), { ipAddresses: input.redactIps === true });
  await redact.look(textsIn([compared, read]));
  const text = documentOf(replaceIn(compared, redact), replaceIn(read, redact));
  const written = new Map<string, number>();
  // Headings and tables escape the brackets of a placeholder.
  noteWritten(text.replaceAll(/\\(?=[[\]-])/g, ''), written);
  return { ...deliver(text, input.path), redactions: redact.made(written) };
}

function compareContexts(chain: ReadChain, { ids: given, stop }: InputOf<'export.comparison'>) {
  const ids = given.map((id) => findCommit(chain, id).id);
  return { compared: compareMany(chain, { ids, stop }), read: ids.map((id) => entries(chain, { id, stop }).entries) };
}

function deliver(text: string, path: string | undefined): ExportedComparison {
  const bytes = encodeText(text);
  if (path === undefined) return { text, bytes: bytes.length };
  writeNew(path, bytes);
  return { path, bytes: bytes.length };
}

type Row = SideBySide['rows'][number];

function documentOf({ base, sides, rows }: SideBySide, read: readonly (readonly Entry[])[]): string {
  const differing = rows.filter((row) => !row.same).length;
  const same = rows.length - differing;
  const parts = [
    `# Comparison of ${sides.length} contexts\n\n`,
    sideTable(sides),
    `Common ancestor: ${base ?? 'none'}. ${plural(same, 'entry', 'entries')} the same, ${plural(differing, 'difference')}.\n\n`,
  ];
  const shown = withGaps(
    rows,
    (row) => (row.same ? undefined : difference(row, read)),
    (count) => `*${plural(count, 'entry', 'entries')} the same*\n\n`,
  );
  return [...parts, ...shown].join('');
}

/** What is shown of the items, with a note for each run of items that are not shown. */
function withGaps<Item>(items: readonly Item[], show: (item: Item, at: number) => string | undefined, note: (count: number) => string): string[] {
  const result: string[] = [];
  let left = 0;
  const endGap = (): void => {
    if (left > 0) result.push(note(left));
    left = 0;
  };
  for (const [at, item] of items.entries()) {
    const shown = show(item, at);
    if (shown === undefined) left += 1;
    else {
      endGap();
      result.push(shown);
    }
  }
  endGap();
  return result;
}

function sideTable(sides: readonly ComparedSide[]): string {
  const lines = sides.map(({ turnId, summary, model, context, calls, usage, cost, costAtLeast, ms }, at) => {
    const missing = calls === 0 ? 'no calls' : unknown;
    return [
      letter(at),
      `\`${turnId}\``,
      cell(summary ?? ''),
      cell(model ?? missing),
      context.counted === null ? `≈ ${number(context.tokens)}` : `${number(context.counted)} counted`,
      usage?.input == null ? missing : number(usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)),
      usage?.output == null ? missing : number(usage.output),
      cost === null ? missing : `${costAtLeast ? '≥ ' : ''}$${cost.toFixed(4)}`,
      ms === null ? unknown : `${(ms / 1_000).toFixed(1)} s`,
    ];
  });
  const head = ['', 'Commit', 'Summary', 'Model', 'Context tokens', 'Input', 'Output', 'Cost', 'Time'];
  return `${[head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n')}\n\n`;
}

const unknown = 'not recorded';
const number = (value: number): string => value.toLocaleString('en-US');
/** The name of a context in the document: A, B, C, … */
const letter = (at: number): string => String.fromCharCode(65 + at);

/** One place where the contexts differ: compares each context with the first one that has an entry there. */
function difference(row: Row, read: readonly (readonly Entry[])[]): string {
  const present = row.cells.flatMap((place, side) => {
    const entry = place === null ? undefined : read[side]?.[place];
    return entry ? [{ entry, side }] : [];
  });
  const [first, ...others] = present;
  if (!first) return '';
  const absent = row.cells.flatMap((place, side) => (place === null ? [letter(side)] : []));
  const groups = Map.groupBy(others, ({ entry }) => shownText(entry));
  const title = `### ${writeHeading(first.entry)}\n\n`;
  const missing = absent.length ? `*Not in ${absent.join(', ')}.*\n\n` : '';
  // Entries with the same text in every context that has them are shown once.
  if ([...groups.keys()].every((text) => text === shownText(first.entry))) {
    const sign = absent.includes('A') ? '+' : '-';
    return `${title}${missing}${fence(
      shownText(first.entry)
        .split('\n')
        .map((line) => `${sign} ${line}`)
        .join('\n'),
      'diff',
    )}`;
  }
  const changes = [...groups.values()].map((same) => {
    const [{ entry }] = same as [{ entry: Entry; side: number }];
    const label = `${letter(first.side)} → ${same.map(({ side }) => letter(side)).join(', ')}`;
    return shownText(entry) === shownText(first.entry) ? `*${label}: the same*\n\n` : `*${label}*\n\n${change(first.entry, entry)}`;
  });
  return title + missing + changes.join('');
}

function change(a: Entry, b: Entry): string {
  const fields = a.toolName === b.toolName ? compareFields(a, b) : [];
  if (!fields.length) return fence(near(changedLines(shownText(a), shownText(b))).join('\n'), 'diff');
  const lines = fields.flatMap(({ op, path, a: before, b: after }) => [
    `@@ ${path || 'arguments'} ${op}`,
    ...near(changedLines(op === 'added' ? undefined : fieldText(before), op === 'removed' ? undefined : fieldText(after))),
  ]);
  return fence(lines.join('\n'), 'diff');
}

const around = 3;
const signs: Record<DiffLine['op'], string> = { same: ' ', added: '+', removed: '-' };

/** The lines that differ, each with a few lines around it. Between them, a line says how many lines are left out. */
function near(lines: readonly DiffLine[]): string[] {
  const shown = new Set<number>();
  lines.forEach((line, at) => {
    if (line.op !== 'same') for (let n = at - around; n <= at + around; n++) shown.add(n);
  });
  return withGaps(
    lines,
    ({ op, text }, at) => (shown.has(at) ? `${signs[op]} ${text}` : undefined),
    (count) => `  … ${plural(count, 'line')} the same`,
  );
}

const fieldText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** An entry as one text: its words, or the arguments of a call. */
function shownText(entry: Entry): string {
  if (entry.kind === 'tool_call') return JSON.stringify(JSON.parse(canonicalJson((entry.arguments ?? {}) as Json)), null, 2);
  if (entry.media) return `${entry.media.mediaType} ${entry.media.artifactRef}`;
  return entry.text ?? (entry.result === undefined ? '' : inWords(entry.result, 10_000));
}

const kindNames: Record<Entry['kind'], string> = {
  text: 'message',
  thinking: 'thinking',
  tool_call: 'call',
  tool_result: 'result',
  image: 'image',
  summary: 'summary',
  event: 'event',
};
const writeHeading = ({ role, kind, toolName }: Entry): string =>
  `${role === 'tool' ? 'Tool' : capital(role)} ${kindNames[kind]}${toolName ? `: ${cell(toolName)}` : ''}`;
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** The beginning of a text of the conversation, for a table or a heading. */
const cell = (text: string): string => inlineText(text.slice(0, 120));
const plural = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

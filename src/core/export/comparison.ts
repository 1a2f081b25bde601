import { bytesOf, type ContextId, canonicalJson, inWords, type Json } from '../base/index.js';
import { type Chain, commitOf, entries } from '../chain/index.js';
import type { ComparedSide, DiffLine, Entry, SideBySide, Stop } from '../contract/index.js';
import { changedLines } from '../diff/index.js';
import { fence } from '../formats/index.js';
import { writeNew } from '../intake/index.js';
import { compareMany, fieldsOf } from '../turns/index.js';

export interface ComparisonInput {
  /** The first is what the others are compared with. */
  readonly ids: readonly ContextId[];
  readonly stop?: Stop | undefined;
  readonly path?: string | undefined;
}

/**
 * A comparison of contexts as a Markdown document for people: what each took, then every place where they differ. What is said in the
 * contexts stands inside fences that nothing in it can close. Returned as text, or written to a path where nothing is yet.
 */
export function exportComparison(chain: Chain, input: ComparisonInput): { path?: string; text?: string; bytes: number } {
  const ids = input.ids.map((id) => commitOf(chain, id).id);
  const compared = compareMany(chain, { ids, stop: input.stop });
  const read = ids.map((id) => entries(chain, { id, stop: input.stop }).entries);
  const text = documentOf(compared, read);
  const bytes = bytesOf(text);
  if (input.path === undefined) return { text, bytes: bytes.length };
  writeNew(input.path, bytes);
  return { path: input.path, bytes: bytes.length };
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
  let run = 0;
  const endRun = (): void => {
    if (run > 0) parts.push(`*${plural(run, 'entry', 'entries')} the same*\n\n`);
    run = 0;
  };
  for (const row of rows) {
    if (row.same) {
      run += 1;
      continue;
    }
    endRun();
    parts.push(difference(row, read));
  }
  endRun();
  return parts.join('');
}

function sideTable(sides: readonly ComparedSide[]): string {
  const lines = sides.map(({ turnId, summary, model, context, usage, cost, ms }, at) => [
    letter(at),
    `\`${turnId}\``,
    cell(summary ?? ''),
    cell(model ?? unknown),
    `≈ ${context.tokens}`,
    usage?.input == null ? unknown : String(usage.input),
    usage?.output == null ? unknown : String(usage.output),
    cost === null ? unknown : `$${cost.toFixed(4)}`,
    ms === null ? unknown : `${(ms / 1_000).toFixed(1)} s`,
  ]);
  const head = ['', 'Commit', 'Summary', 'Model', 'Context tokens', 'Input', 'Output', 'Cost', 'Time'];
  return `${[head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n')}\n\n`;
}

const unknown = 'not recorded';
/** A, B, C, … : at most 16 are compared. */
const letter = (at: number): string => String.fromCharCode(65 + at);

/** One place where the contexts differ: every side against the first that has something there. */
function difference(row: Row, read: readonly (readonly Entry[])[]): string {
  const there = row.cells.flatMap((place, side) => {
    const entry = place === null ? undefined : read[side]?.[place];
    return entry ? [{ entry, side }] : [];
  });
  const [first, ...others] = there;
  if (!first) return '';
  const absent = row.cells.flatMap((place, side) => (place === null ? [letter(side)] : []));
  const groups = Map.groupBy(others, ({ entry }) => shownText(entry));
  const title = `### ${nameOf(first.entry)}\n\n`;
  const missing = absent.length ? `*Not in ${absent.join(', ')}.*\n\n` : '';
  // What all that have it say alike is shown once.
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
  const fields = a.toolName === b.toolName ? fieldsOf(a, b) : [];
  if (!fields.length) return fence(near(changedLines(shownText(a), shownText(b))).join('\n'), 'diff');
  const lines = fields.flatMap(({ op, path, a: before, b: after }) => [
    `@@ ${path || 'arguments'} ${op}`,
    ...near(changedLines(op === 'added' ? undefined : fieldText(before), op === 'removed' ? undefined : fieldText(after))),
  ]);
  return fence(lines.join('\n'), 'diff');
}

const around = 3;
const signs: Record<DiffLine['op'], string> = { same: ' ', added: '+', removed: '-' };

/** The lines that differ, each with a few around it; what is left out between them is said. */
function near(lines: readonly DiffLine[]): string[] {
  const shown = new Set<number>();
  lines.forEach((line, at) => {
    if (line.op !== 'same') for (let n = at - around; n <= at + around; n++) shown.add(n);
  });
  const result: string[] = [];
  let left = 0;
  const endGap = (): void => {
    if (left > 0) result.push(`  … ${plural(left, 'line')} the same`);
    left = 0;
  };
  lines.forEach((line, at) => {
    if (!shown.has(at)) {
      left += 1;
      return;
    }
    endGap();
    result.push(`${signs[line.op]} ${line.text}`);
  });
  endGap();
  return result;
}

const fieldText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** An entry as one text: what was said, or what a tool was given. */
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
const nameOf = ({ role, kind, toolName }: Entry): string =>
  `${role === 'tool' ? 'Tool' : capital(role)} ${kindNames[kind]}${toolName ? `: ${cell(toolName)}` : ''}`;
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** A text of the conversation in a table or a heading: one line in which nothing is markup. */
const cell = (text: string): string =>
  text
    .slice(0, 120)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_{}[\]<>()#|!~-]/g, '\\$&');
const plural = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

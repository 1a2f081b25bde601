import type { Commit, Entry, Kind } from '../../core/contract/index.js';
import { block, bold, dim, indent, join, line, magenta, type Printable, red, type Text, yellow } from '../terminal/index.js';
import { counted } from './numbers.js';

/** Describes a commit in lines: its id, its fields, and its summary. */
export function describeCommit(commit: Commit & { children?: readonly string[]; depth?: number; context?: string }): Text {
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['parent', commit.parent ?? 'none (root)'],
    ['children', commit.children?.join(' ')],
    ['type', `${commit.type}, ${commit.checkpoint}`],
    ['format', commit.format],
    ['template', commit.template],
    ['principal', commit.principal],
    ['machine', commit.machine],
    ['session', commit.sessionId],
    ['ticket', commit.ticketId],
    ['tags', commit.tags.join(', ')],
    ['context', commit.context],
    ['content', `${counted(commit.messageCount, 'message')}, ≈${counted(commit.tokenCount, 'token')}`],
    ['artifact', commit.artifactRef],
    ['time', commit.createdAt],
  ];
  const fields = rows.flatMap(([name, value]) => (value ? [line`${dim(name.padEnd(10))}${value}`] : []));
  return join([yellow(commit.id), ...fields, ...(commit.summary ? ['', indent(block(commit.summary), '    ')] : [])]);
}

const kindWords: Record<Kind, string> = {
  text: '',
  thinking: ' thinking',
  tool_call: ' calls',
  tool_result: ' result',
  image: ' image',
  summary: ' summary',
  event: ' event',
};

/** Shows an entry with a header line and its content. */
export function describeEntry(entry: Entry): Text {
  const tool = entry.toolName ? line` ${bold(entry.toolName)}` : '';
  const facts = dim(`${entry.at ?? ''} ≈${counted(entry.tokens, 'token')} ${entry.key}`.trim());
  const header = line`${bold(entry.role)}${magenta(kindWords[entry.kind])}${tool}${entry.isError ? red(' error') : ''} ${facts}`;
  return join([header, ...describeContent(entry)]);
}

function describeContent(entry: Entry): Printable[] {
  // If a thinking entry has a text, its arguments are the signature.
  const given = entry.kind === 'thinking' && entry.text ? undefined : entry.arguments;
  const values = [entry.text, given, entry.result].filter((value) => value !== undefined);
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).trimEnd());
  const media = entry.media ? [`[${entry.media.mediaType}, ${entry.media.artifactRef}]`] : [];
  return [...texts, ...media].filter((text) => text !== '').map(block);
}

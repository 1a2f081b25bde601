import type { Commit, Entry, Kind } from '../../core/contract/index.js';
import { bold, dim, magenta, printable, red, yellow } from './output.js';

/** A commit in lines for a person: what it is, where it stands, what it is about. */
export function facts(commit: Commit & { children?: readonly string[]; depth?: number }): string[] {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['parent', commit.parent ?? 'none: a root'],
    ['children', commit.children?.join(' ')],
    ['type', `${commit.type}, ${commit.checkpoint}`],
    ['format', commit.format],
    ['template', commit.template],
    ['principal', commit.principal],
    ['session', commit.sessionId],
    ['ticket', commit.ticketId],
    ['tags', commit.tags.join(', ')],
    ['holds', `${commit.messageCount} messages, ≈${commit.tokenCount} tokens`],
    ['artifact', commit.artifactRef],
    ['time', commit.createdAt],
  ];
  const known = rows.filter(([, value]) => value).map(([name, value]) => `${dim(name.padEnd(10))}${printable(value as string)}`);
  return [yellow(commit.id), ...known, ...(commit.summary ? ['', printable(commit.summary).replace(/^/gm, '    ')] : [])];
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

/** An entry for a terminal: a header line and its content. */
export function entryText(entry: Entry): string {
  const title = `${bold(entry.role)}${magenta(kindWords[entry.kind])}${entry.toolName ? ` ${bold(printable(entry.toolName))}` : ''}`;
  const header = `${title}${entry.isError ? red(' error') : ''} ${dim(`${entry.at ?? ''} ≈${entry.tokens} tok ${entry.key}`.trim())}`;
  return [header, ...bodyOf(entry).map((text) => printable(text).trimEnd())].filter((text) => text !== '').join('\n');
}

function bodyOf(entry: Entry): string[] {
  const values = [entry.text, entry.arguments, entry.result].filter((value) => value !== undefined);
  if (entry.media) values.push(`[${entry.media.mediaType}, ${entry.media.artifactRef}]`);
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
}

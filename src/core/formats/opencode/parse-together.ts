import { type JsonObject, stringAt } from '../../base/index.js';
import type { SecondMessages } from './parse-second.js';
import { compactionOf, idOf, isSummary, type MessageLine, nameMessage, readParts, readRole, readType } from './schema.js';

export interface Together extends SecondMessages {
  /** The parent of a message that does not follow the message before it. */
  readonly parents: Readonly<Record<string, string | null>>;
  readonly notes: readonly string[];
}

/**
 * The messages of version 2, and those that only version 1 has. OpenCode 2 copied the sessions of version 1 with their ids: a message that says the
 * same in both keeps its older name, so that an earlier import finds it. Where the two differ, version 2 counts and a note says so. What version 1
 * wrote after the copy continues the session, beside what version 2 wrote.
 */
export function together({ lines: second, unread }: SecondMessages, first: readonly MessageLine[]): Together {
  if (first.length === 0) return { lines: second, unread, parents: {}, notes: [] };
  const notes: string[] = [];
  const older = new Map(first.map((line) => [idOf(line), line] as const));
  const named = second.map((line): MessageLine => {
    const old = older.get(idOf(line));
    if (!old) return line;
    if (comparedContent(old) === comparedContent(line)) return { ...line, key: nameMessage(old) };
    notes.push(`the message ${idOf(line)} differs in the tables of the two versions of OpenCode: that of version 2 is read`);
    return line;
  });
  const ids = new Set(named.map(idOf));
  const contents = new Set(named.map(comparedContent));
  const lastCommon = named.findLastIndex((line) => older.has(idOf(line)));
  const copied = first.findLastIndex((line) => ids.has(idOf(line)));
  const isNew = (line: MessageLine): boolean => !ids.has(idOf(line)) && isContent(line) && !contents.has(comparedContent(line));
  const later = first.slice(copied + 1).filter(isNew);
  const dropped = first.slice(0, copied + 1).filter(isNew);
  if (later.length > 0) notes.push(`version 1 of OpenCode has ${countOf(later)} of this session that version 2 does not have: both are read`);
  const more = dropped.map((line): JsonObject => ({ row: { table: 'message', id: idOf(line), data: line } }));
  // The copy has no records of the agent that version 1 did not write, so those before its end would hide what was imported already.
  const common = named.slice(0, lastCommon + 1).filter((line) => readRole(line) !== 'system');
  const own = named.slice(lastCommon + 1);
  const [next, end] = [own[0], common.at(-1)];
  return {
    lines: [...common, ...later, ...own],
    unread: [...unread, ...more],
    parents: later.length > 0 && next ? { [idOf(next)]: end ? idOf(end) : null } : {},
    notes,
  };
}

const countOf = (lines: readonly unknown[]): string => (lines.length === 1 ? 'a message' : `${lines.length} messages`);

/** Whether the message holds a text or a call of its own. Version 2 has a compaction as one message. */
const isContent = (line: MessageLine): boolean => !compactionOf(line) && !isSummary(line) && comparedContent(line) !== `${readRole(line)}|`;

/** What a message says, in either form. */
const comparedContent = (line: MessageLine): string =>
  `${readRole(line)}|${readParts(line)
    .flatMap((part) => {
      if (readType(part) === 'tool') return [`call ${stringAt(part, 'callID') ?? ''}`];
      return readType(part) === 'text' && part.synthetic !== true && part.ignored !== true ? (stringAt(part, 'text') ?? []) : [];
    })
    .join('|')}`;

import { type JsonObject, stringAt } from '../../base/index.js';
import { type ChainedRole, firstTextOf, readContent } from './schema.js';

/** How a session goes on from another one, or in another one. An accepted plan and `/clear` begin a new file. */
export type SessionLink = { readonly from: string } | { readonly to: string } | { readonly cleared: true };

const id = /^[\w.-]{1,100}$/;
const transcript = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl/i;

/** The link in a record; undefined for most records. */
export function linkOf(record: JsonObject, part: ChainedRole): SessionLink | undefined {
  if (part === 'prompt') {
    const text = firstTextOf(readContent(record));
    const isPlan = typeof record.planContent === 'string' || text.startsWith('Implement the following plan:');
    // The path of the session in which the plan was made is at the end.
    const from = isPlan ? transcript.exec(text.slice(-1_000))?.[1] : undefined;
    return from === undefined ? undefined : { from };
  }
  if (part === 'command')
    return /<command-name>\/(?:clear|new|reset)<\/command-name>/.test(firstTextOf(readContent(record))) ? { cleared: true } : undefined;
  const to = record.type === 'continued-in' ? stringAt(record, 'continuedInSessionId') : undefined;
  return to !== undefined && id.test(to) ? { to } : undefined;
}

/** The name under which a commit of a session is found by a link. */
export function linkName(link: SessionLink, session: string | undefined): readonly string[] {
  if (session === undefined || !id.test(session)) return [];
  if ('cleared' in link) return [`cleared:${session}`];
  const name = 'from' in link ? `continues:${session}:${link.from}` : `continues:${link.to}:${session}`;
  return 'from' in link && link.from === session ? [] : [name];
}

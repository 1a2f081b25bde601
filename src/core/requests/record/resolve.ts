import { sha256Of } from '../../artifacts/index.js';
import { type ByteRange, once, onceFor } from '../../base/index.js';
import { type RecordedText, type Records, type ReplyBlock, readRecords, replyMessage, userMessages } from '../runtimes/claude-code/records.js';
import { cacheMark, inOrder, messageHash, orderWithHash } from '../shared/canonical.js';
import { canonicalOrder } from '../shared/json-ranges.js';
import type { PageText } from '../shared/pages.js';

/** The message of a hash in the file, verified, or the reason why it is missing. */
type ResolvedMessage = { readonly message: PageText; readonly range: ByteRange | undefined } | { readonly gap: string };

/** No real reply has more blocks. Parts of longer replies are not searched. */
const maxBlocks = 256;

/** Opens a resolver for the messages of a part of a file. */
export function openResolver(file: Uint8Array, from: number, records: Records) {
  const stretch = lookup(records);
  // Almost every message is in this part. The whole file is read only if one is missing, for instance a reply that began before this part.
  const whole = once(() => (from > 0 ? lookup(readRecords(file)) : stretch));
  const parts = once(() => whole().parts());
  const prompts = once(() => new Map([...userMessages(file)].flatMap((text) => hashed(text))));
  const found = onceFor(stretch.find);
  return {
    find(hash: string, isStored: () => boolean): ResolvedMessage | 'stored' {
      const here = found(hash);
      if (here) return here;
      if (isStored()) return 'stored';
      const elsewhere = whole().find(hash);
      if (elsewhere) return 'gap' in elsewhere ? elsewhere : { ...elsewhere, range: undefined };
      const message = parts().get(hash) ?? prompts().get(hash);
      return message ? { message, range: undefined } : { gap: 'no message, reply or prompt of its file has this hash' };
    },
    /** The whole message of a reply, with its hash. It is stored now, because the next call will refer to it. */
    reply(messageId: string, isStored: (hash: string) => boolean): { readonly hash: string; readonly message: PageText } | undefined {
      const quick = stretch.reply(messageId);
      if (!quick || (quick.hash !== undefined && isStored(quick.hash))) return undefined;
      const [entry] = hashed(quick.message.text);
      return entry && { hash: entry[0], message: entry[1] };
    },
  };
}

function lookup(records: Records) {
  const given = Map.groupBy(records.messages, ({ hash }) => hash);
  const replies = once(() => new Map([...records.replies].map(([id, blocks]) => [id, quickReply(blocks)])));
  const byHash = once(() => new Map([...replies().values()].map((reply) => [reply.hash, reply.message])));
  const bySlowHash = once(() => new Map([...replies().values()].flatMap(({ message }) => hashed(message.text))));
  return {
    find(hash: string): ResolvedMessage | undefined {
      const texts = given.get(hash);
      const found = texts && checked(texts, hash);
      if (found) return found;
      const message = byHash().get(hash) ?? bySlowHash().get(hash);
      return message && { message, range: undefined };
    },
    reply: (messageId: string) => replies().get(messageId),
    /** The received parts of interrupted replies. */
    parts: (): ReadonlyMap<string, PageText> =>
      new Map(
        [...records.replies.values()].flatMap((blocks) =>
          blocks.length > maxBlocks ? [] : blocks.slice(1).flatMap((_, index) => hashed(replyMessage(blocks, index + 1))),
        ),
      ),
  };
}

/** A reply with the hash of its bytes in canonical order, which is its own hash if its numbers and strings are canonical too. */
function quickReply(blocks: readonly ReplyBlock[]): { readonly hash: string | undefined; readonly message: PageText } {
  const text = replyMessage(blocks, blocks.length);
  const order = canonicalOrder(text, cacheMark);
  return { hash: order && sha256Of(inOrder(text, order)).toString('hex'), message: { text, order } };
}

/** The text that the file has for a hash. Undefined if there is none. If one of several does not match the hash, none is trusted. */
function checked(texts: readonly RecordedText[], hash: string): ResolvedMessage | undefined {
  const named = Buffer.from(hash, 'hex');
  let good: ResolvedMessage | undefined;
  let last: Uint8Array | undefined;
  let isGiven = false;
  for (const each of texts) {
    let { text, range } = each;
    if (text && last && Buffer.compare(last, text) === 0) continue;
    let order = text && orderWithHash(text, named);
    if (!order && each.exactly) {
      const exact = each.exactly();
      if (!exact) continue;
      ({ text, range } = exact);
      order = text && orderWithHash(text, named);
    }
    isGiven = true;
    if (!text) return { gap: 'its record is larger than any request' };
    last = text;
    if (!order && !messageHash(text)?.equals(named)) {
      const others = texts.length > 1 ? `; ${texts.length} records give messages under this hash` : '';
      return { gap: `the recorded message is not the one that its hash names${others}` };
    }
    good ??= { message: { text, order }, range };
  }
  return good ?? (isGiven ? { gap: 'its record has no message' } : undefined);
}

function hashed(text: Uint8Array): [string, PageText][] {
  const hash = messageHash(text);
  return hash ? [[hash.toString('hex'), { text, order: orderWithHash(text, hash) }]] : [];
}

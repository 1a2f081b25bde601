import { createHash } from 'node:crypto';
import type { UnplacedEntry } from './drafts.js';

/** A call to a model with the messages that it was sent and returned. */
export interface ModelExchange<Message> {
  /** The name of the call, or of the last record that is made from it. */
  readonly id: string;
  readonly input: readonly Message[];
  readonly output: readonly Message[];
  /** True if the call states that its input is a shortened view of the conversation. */
  readonly isCompacted?: boolean;
}

export interface Continuation<Message> {
  /** The messages of the input that no earlier call on its branch has. */
  readonly fresh: readonly Message[];
  /** The call that this call follows; null starts a new conversation; undefined if it follows the previous call. */
  readonly after?: string | null;
  /** True if the new messages replace everything before them. */
  readonly isCompaction: boolean;
}

export interface MessageRules<Message> {
  /** Two messages with the same fingerprint are equal. */
  readonly printOf: (message: Message) => string;
  readonly isSystem: (message: Message) => boolean;
  /** Identifies an answer that an input repeats in a different form. Stored for each call, so it must be short. */
  readonly echoOf: (answer: Message) => string;
  /** Whether a message of an input is this answer in a different form. */
  readonly isEcho: (message: Message, echo: string) => boolean;
  readonly isSummary: (message: Message) => boolean;
}

/** Finds the call that each call continues. One that shares only a beginning is a branch. Some tools record only the new messages. */
export function continuations<Message>(rules: MessageRules<Message>): (call: ModelExchange<Message>) => Continuation<Message> {
  /** Calls by the hash of all messages until their answer, and until their input. */
  const answered = new Map<string, string>();
  const asked = new Map<string, { readonly id: string; readonly echoes: readonly string[] }>();
  let last: { readonly id: string; readonly hash: string; readonly first: readonly string[] } | undefined;
  let recorded: 'whole' | 'news' | undefined;
  return (call) => {
    const { id, input, output } = call;
    // A call without messages does not show how later calls record theirs.
    if (!last && input.length === 0 && output.length === 0) return { fresh: input, isCompaction: false };
    const prints = input.map(rules.printOf);
    const hashes = hashesOf('', prints);
    const found = last && recorded !== 'news' ? continuedBy(input, hashes) : undefined;
    const continuation = placed();
    const isNews = last !== undefined && recorded !== 'whole' && !found;
    const hash = (isNews ? hashesOf(last?.hash ?? '', prints) : hashes).at(-1) ?? last?.hash ?? '';
    const end = hashesOf(hash, output.map(rules.printOf)).at(-1) ?? hash;
    if (output.length > 0) asked.set(hash, { id, echoes: output.map(rules.echoOf) });
    answered.set(end, id);
    last = { id, hash: end, first: prints.slice(0, 2) };
    return continuation;

    function placed(): Continuation<Message> {
      if (!last) return { fresh: input, isCompaction: isCompaction(call) };
      if (found) {
        if (input.length > found.length || found.id !== last.id) recorded = 'whole';
        return { fresh: input.slice(found.length), ...(found.id !== last.id && { after: found.id }), isCompaction: false };
      }
      recorded ??= isWhole(prints, last.first) ? 'whole' : prints.length > 0 ? 'news' : undefined;
      if (recorded !== 'whole') return { fresh: input, isCompaction: isCompaction(call) };
      return isCompaction(call) ? { fresh: input, isCompaction: true } : { fresh: input, after: null, isCompaction: false };
    }
  };

  /** The call whose conversation the input begins with, and the number of its messages. */
  function continuedBy(input: readonly Message[], hashes: readonly string[]): { readonly id: string; readonly length: number } | undefined {
    for (let length = input.length; length > 0; length--) {
      const hash = hashes[length - 1] as string;
      const ended = answered.get(hash);
      if (ended !== undefined) return { id: ended, length };
      const open = asked.get(hash);
      const next = input[length];
      if (open && next !== undefined && open.echoes.some((echo) => rules.isEcho(next, echo))) return { id: open.id, length: length + 1 };
    }
    return undefined;
  }

  /** Whether the first messages of the previous call are repeated. A single equal message may be a coincidence. */
  function isWhole(prints: readonly string[], [first, second]: readonly string[]): boolean {
    return prints.length > 1 && first !== undefined && prints[0] === first && (second === undefined || prints[1] === second || prints.length > 2);
  }

  function isCompaction({ input, isCompacted }: ModelExchange<Message>): boolean {
    if (!last) return false;
    const lead = input.find((message) => !rules.isSystem(message));
    return lead !== undefined && (isCompacted === true || rules.isSummary(lead));
  }
}

/** The hash of the beginning until each text. */
function hashesOf(before: string, prints: readonly string[]): readonly string[] {
  let hash = before;
  return prints.map((print) => {
    hash = createHash('sha256').update(`${hash}\n${print}`).digest('base64');
    return hash;
  });
}

/** Whether a text begins as agents begin the summary of a conversation. */
export const isSummaryText = (text: string): boolean =>
  /^\s*(?:<(?:summary|state_snapshot|conversation[-_ ]summary)>|(?:context|conversation) summary|this session is being continued|(?:some|all) of the conversation history has been (?:summarized|compacted)|the (?:previous |earlier )?conversation (?:history )?(?:so far |before this point )?(?:was|has been) (?:summarized|compacted)|here is a summary of|summary of (?:the|our) (?:previous|earlier|conversation))/i.test(
    text.slice(0, 400),
  );

/** What a compaction left: the first text of a user that reads like a summary, else the first after the system prompt, stands for the rest. */
export function withSummary<Draft extends UnplacedEntry>(drafts: readonly Draft[]): readonly Draft[] {
  const told = drafts.filter(({ kind, role }) => kind === 'text' && role === 'user');
  const summary = told.find(({ text = '' }) => isSummaryText(text)) ?? told[0];
  return drafts.map((draft) => (draft === summary ? { ...draft, kind: 'summary' } : draft));
}

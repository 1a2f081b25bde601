/** One entry of the page, as `core/export/html` writes it. */
export interface PageItem {
  readonly key: string;
  readonly kind: string;
  readonly role?: string;
  readonly text?: string;
  /** A command that a person typed, or its output, without the tags of the text. */
  readonly command?: string;
  readonly output?: string;
  readonly tool?: string;
  readonly call?: string;
  readonly input?: unknown;
  readonly failed?: boolean;
  readonly media?: { readonly type: string; readonly size: number; readonly data?: string };
  readonly result?: unknown;
  /** Milliseconds since 1970. */
  readonly at?: number;
  readonly by?: string;
  readonly marks?: readonly string[];
  readonly tokens?: number | { readonly before: number; readonly after: number; readonly isCounted?: boolean };
  /** For a compaction: the texts that replaced the earlier entries. */
  readonly said?: readonly string[];
  readonly branches?: readonly { readonly id: string; readonly head: string }[];
}

/** The facts about all entries that the page has before it parses any entry. */
interface Index {
  readonly id: string;
  readonly title: string;
  readonly template: string;
  readonly principal: string | null;
  readonly stop: string;
  /** The provider's count of the input of the last call. */
  readonly counted: number | null;
  /** One letter for each entry: u(ser), a(ssistant), t(ool call), r(esult), e(rror), h (thinking), s(ystem), m (summary), c(ompaction), b(ranches). */
  readonly kinds: string;
  readonly times: readonly (number | null)[];
  readonly blocks: readonly (readonly [count: number, height: number])[];
  readonly prompts: readonly (readonly [at: number, head: string])[];
  readonly commits: readonly (readonly [at: number, id: string])[];
}

export const index: Index = JSON.parse(document.getElementById('index')?.textContent ?? '');
export const total = index.kinds.length;
/** The blocks of entries as JSON texts. A block is parsed when it comes near the view. */
export const sources: readonly string[] = [...document.querySelectorAll('script.block')].map((block) => block.textContent ?? '');

const starts: number[] = [];
for (const at of index.blocks.keys()) starts.push((starts[at - 1] ?? 0) + (index.blocks[at - 1]?.[0] ?? 0));

/** The number of the first entry of a block. */
export const startOf = (block: number): number => starts[block] ?? 0;

/** The block that holds an entry. */
export const blockOf = (at: number): number => starts.findLastIndex((start) => start <= at);

/** The entries of a block. */
export const itemsOf = (block: number): PageItem[] => JSON.parse(sources[block] ?? '[]');

/** Milliseconds between an entry and the previous entry; 0 if a time is not recorded. */
export const gapBefore = (at: number): number => (at === 0 ? 0 : (index.times[at] ?? 0) - (index.times[at - 1] ?? index.times[at] ?? 0));

import { Bot, Brain, CornerDownRight, Image, type Image as ImageIcon, Info, ScrollText, SlidersHorizontal, User, Wrench } from 'lucide-react';
import type { Kind, PartKind, Role } from '../../core/contract/index.js';

/** Groups of entries whose text and icons have the same color. */
export type KindFamily = 'user' | 'assistant' | 'thinking' | 'tool' | 'system' | 'summary';

/** The shares into which every bar and chart divides a context, in the order of layers and legends. */
export const shares = ['system', 'summary', 'user', 'assistant', 'thinking', 'call', 'result'] as const;
export type Share = (typeof shares)[number];

/** The color of a share in every bar, chart and gutter, as a variable of the theme. */
export const colorOf = (share: Share): `--f-${Share}` => `--f-${share}`;

export const shareNames: Record<Share, string> = {
  system: 'System',
  summary: 'Summary',
  user: 'User',
  assistant: 'Assistant',
  thinking: 'Thinking',
  call: 'Tool calls',
  result: 'Tool results',
};

/** The share that an entry belongs to. */
export function shareOf(entry: { readonly role: Role; readonly kind: Kind }): Share {
  const family = kindFamily(entry);
  return family === 'tool' ? (entry.kind === 'tool_call' ? 'call' : 'result') : family;
}

/** The share that a part of a counted input belongs to. */
export const shareOfPart: Readonly<Record<PartKind, Share>> = {
  system: 'system',
  tools: 'system',
  event: 'system',
  summary: 'summary',
  user: 'user',
  image: 'user',
  assistant: 'assistant',
  thinking: 'thinking',
  tool_call: 'call',
  tool_result: 'result',
};

/** The family of an entry. */
export function kindFamily({ role, kind }: { readonly role: Role; readonly kind: Kind }): KindFamily {
  switch (kind) {
    case 'thinking':
      return 'thinking';
    case 'tool_call':
    case 'tool_result':
      return 'tool';
    case 'summary':
      return 'summary';
    case 'event':
      return 'system';
    case 'text':
    case 'image':
      switch (role) {
        case 'user':
          return 'user';
        case 'assistant':
          return 'assistant';
        case 'tool':
          return 'tool';
        case 'system':
          return 'system';
      }
  }
}

export const kindNames: Record<Kind, string> = {
  text: 'Text',
  thinking: 'Thinking',
  tool_call: 'Tool call',
  tool_result: 'Tool result',
  image: 'Image',
  summary: 'Summary',
  event: 'Event',
};

export const familyIcons: Record<KindFamily, typeof ImageIcon> = {
  user: User,
  assistant: Bot,
  thinking: Brain,
  tool: Wrench,
  system: SlidersHorizontal,
  summary: ScrollText,
};
export const kindIcons: Partial<Record<Kind, typeof ImageIcon>> = { image: Image, tool_result: CornerDownRight, event: Info };

/** The speaker of an entry. */
export function speaker(entry: { readonly role: Role; readonly kind: Kind }): string {
  if (entry.kind === 'summary') return 'Summary';
  if (entry.kind === 'event') return 'Event';
  if (entry.kind === 'thinking') return 'Thinking';
  switch (entry.role) {
    case 'user':
      return 'User';
    case 'assistant':
      return 'Assistant';
    case 'system':
      return 'System';
    case 'tool':
      return 'Tool';
  }
}

/** Names of marks. Other marks without a value are shown as they are. */
const markNames: Record<string, string> = {
  meta: 'added by the agent',
  hidden: 'not sent to the model',
  signed: 'signed',
  redacted: 'readable only by the provider',
  queued: 'queued while the agent worked',
  command: 'slash command',
  kept: 'kept by the compaction',
};

/** The marks of an entry with their names. A mark with a value, such as `parts:7,*`, is only for the format that wrote it. */
export const namedMarks = (marks: readonly string[] = []): readonly { readonly mark: string; readonly name: string }[] =>
  marks.filter((mark) => !/^[a-z-]+:/.test(mark)).map((mark) => ({ mark, name: markNames[mark] ?? mark }));

/** Explanations of marks whose names are not self-explanatory. */
export const markHints: Record<string, string> = {
  meta: 'Not typed by a person: the agent added it to the conversation.',
  signed: 'The provider signed this text. A changed text has no valid signature, and the provider may refuse it.',
  redacted: 'The provider encrypted this text. Nobody else can read it.',
};

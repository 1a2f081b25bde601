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

const families: Readonly<Record<Exclude<Kind, 'text' | 'image'>, KindFamily>> = {
  thinking: 'thinking',
  tool_call: 'tool',
  tool_result: 'tool',
  summary: 'summary',
  event: 'system',
};

/** The family of an entry. */
export const kindFamily = ({ role, kind }: { readonly role: Role; readonly kind: Kind }): KindFamily =>
  kind === 'text' || kind === 'image' ? role : families[kind];

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

const roleNames: Readonly<Record<Role, string>> = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' };

/** The speaker of an entry. */
export const speaker = ({ role, kind }: { readonly role: Role; readonly kind: Kind }): string =>
  kind === 'summary' || kind === 'event' || kind === 'thinking' ? kindNames[kind] : roleNames[role];

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

import { Bot, Brain, CornerDownRight, Image, type Image as ImageIcon, Info, ScrollText, User, Wrench } from 'lucide-react';
import type { Kind, Role } from '../../core/contract/index.js';

/** The five groups of entries that share a color. */
export const families = ['user', 'assistant', 'thinking', 'tool', 'system'] as const;
export type Family = (typeof families)[number];

export const familyNames: Record<Family, string> = {
  user: 'user',
  assistant: 'assistant',
  thinking: 'thinking',
  tool: 'tools',
  system: 'system and summaries',
};

/** The family of an entry. */
export function familyOf({ role, kind }: { readonly role: Role; readonly kind: Kind }): Family {
  switch (kind) {
    case 'thinking':
      return 'thinking';
    case 'tool_call':
    case 'tool_result':
      return 'tool';
    case 'summary':
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

export const familyIcons: Record<Family, typeof ImageIcon> = { user: User, assistant: Bot, thinking: Brain, tool: Wrench, system: ScrollText };
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

/** Names of marks. Other marks are shown as they are. */
export const markNames: Record<string, string> = {
  meta: 'added by the agent',
  hidden: 'not sent to the model',
  signed: 'signed',
  redacted: 'readable only by the provider',
  queued: 'queued while the agent worked',
  command: 'slash command',
  kept: 'kept by the compaction',
};

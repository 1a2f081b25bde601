import type { Card, CardContent, Role } from '../../core/contract/index.js';
import { FieldError, type FormField, type FormStart, type FormValues, givenIn, jsonIn, numberIn, rowsIn, textIn, useTickets } from '../state';

/** Types that agents and Stemma use. Any other type is allowed too. */
const cardTypes: Readonly<Record<string, string>> = {
  'task.instruction': 'what an agent must do',
  'task.context': 'what an agent needs to know',
  'task.deliverable': 'a result',
  'task.result_fields': 'the fields that a result must have',
  'agent.thought': 'what an agent says',
  'tool.call': 'a call of a tool',
  'tool.result': 'the result of a tool',
};

/** The fields of a card. `at` is the position of the card in the procedure's input. */
export const cardFields = (at = 'card'): readonly FormField[] => [
  {
    name: 'type',
    label: 'Type',
    field: `${at}.type`,
    options: cardTypes,
    required: true,
    hint: 'Names joined by dots. The type tells agents what the card is for.',
  },
  { name: 'kind', label: 'Content', kind: 'choice', options: { text: 'Text', json: 'JSON', fields: 'Fields of a result' } },
  { name: 'text', label: 'Text', kind: 'long', field: `${at}.content.text`, shown: ({ kind }) => kind === 'text' },
  {
    name: 'data',
    label: 'JSON',
    kind: 'code',
    field: `${at}.content.data`,
    shown: ({ kind }) => kind === 'json',
    required: true,
    hint: 'An object or a list.',
  },
  {
    name: 'fields',
    label: 'Fields',
    kind: 'rows',
    field: `${at}.content.fields`,
    shown: ({ kind }) => kind === 'fields',
    add: 'Add field',
    hint: 'A result is accepted when it has all these fields.',
    row: [
      { name: 'name', label: 'Name', required: true },
      { name: 'description', label: 'What it must contain' },
    ],
  },
  {
    name: 'role',
    label: 'Role',
    kind: 'choice',
    options: { '': 'As its type says', user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' },
    field: `${at}.metadata.role`,
    hint: 'Who speaks in the card when a model reads it.',
  },
  {
    name: 'toolCalls',
    label: 'Tool calls',
    kind: 'code',
    field: `${at}.toolCalls`,
    shown: ({ role, type }) => role === 'assistant' || type === 'agent.thought',
    hint: 'A JSON list of the tool calls of the message. Leave it empty if there are none.',
  },
  {
    name: 'toolCallId',
    label: 'Answers the tool call',
    field: `${at}.toolCallId`,
    shown: ({ role, type }) => role === 'tool' || type === 'tool.result',
    hint: 'The id of the tool call that the card is the result of.',
  },
  { name: 'authorId', label: 'Author', field: `${at}.authorId`, hint: 'The author of the card.' },
  {
    name: 'ttl',
    label: 'Expires after (seconds)',
    kind: 'number',
    field: `${at}.ttlSeconds`,
    hint: 'Later turns do not receive an expired card. Leave it empty to keep it.',
  },
];

/** The values of an empty card form. */
export const newCard = (): FormStart => ({ type: 'task.context', data: '{\n}', authorId: useTickets.getState().actor });

/** The form values for an existing card. */
export const valuesOfCard = ({ type, content, metadata, authorId, toolCalls, toolCallId, ttlSeconds }: Card): FormStart => ({
  ...newCard(),
  type,
  kind: content.kind,
  role: metadata.role,
  authorId,
  toolCallId,
  ttl: ttlSeconds,
  toolCalls: toolCalls && JSON.stringify(toolCalls, null, 2),
  ...(content.kind === 'json' ? { data: JSON.stringify(content.data, null, 2) } : content),
});

/** The content that the form describes. @throws FieldError for JSON that is neither an object nor a list. */
function readContent(values: FormValues): CardContent {
  const { kind, text } = values;
  if (kind === 'fields')
    return { kind, fields: rowsIn(values, kind).map((row) => ({ name: textIn(row, 'name'), description: textIn(row, 'description') })) };
  if (kind !== 'json') return { kind: 'text', text: typeof text === 'string' ? text : '' };
  const data = jsonIn(values, 'data');
  if (typeof data !== 'object' || data === null) throw new FieldError('data', 'The JSON of a card must be an object or a list.');
  return { kind, data: data as Record<string, unknown> };
}

/** The card that the form describes, for `card.add` and the procedures that write cards. */
export function cardIn(values: FormValues, metadata: Readonly<Record<string, unknown>> = {}) {
  const toolCalls = jsonIn(values, 'toolCalls');
  if (toolCalls !== undefined && !Array.isArray(toolCalls)) throw new FieldError('toolCalls', 'The tool calls must be a JSON list.');
  const { type: _, role: __, ...facts } = metadata;
  const [type, ttlSeconds, role] = [textIn(values, 'type'), numberIn(values, 'ttl'), givenIn(values, 'role') as Role | undefined];
  const [authorId, toolCallId] = [givenIn(values, 'authorId'), givenIn(values, 'toolCallId')];
  return {
    type,
    content: readContent(values),
    metadata: { ...facts, type, ...(role && { role }) },
    ...(toolCalls && { toolCalls: toolCalls as Record<string, unknown>[] }),
    ...(toolCallId && { toolCallId }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
    ...(authorId && { authorId }),
  };
}

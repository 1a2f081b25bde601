import type { Card, CardContent, Role } from '../../core/contract/index.js';
import { FieldError, type FormField, type FormValues, givenIn, jsonIn, numberIn, rowsIn, textIn, useTickets } from '../state';

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

const holds =
  (kind: CardContent['kind']) =>
  (values: FormValues): boolean =>
    values.kind === kind;

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
  {
    name: 'kind',
    label: 'Content',
    kind: 'choice',
    options: { text: 'Text', json: 'JSON', fields: 'Fields of a result' },
  },
  { name: 'text', label: 'Text', kind: 'long', field: `${at}.content.text`, shown: holds('text') },
  { name: 'data', label: 'JSON', kind: 'code', field: `${at}.content.data`, shown: holds('json'), required: true, hint: 'An object or a list.' },
  {
    name: 'fields',
    label: 'Fields',
    kind: 'rows',
    field: `${at}.content.fields`,
    shown: holds('fields'),
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
export const newCard = (): FormValues => ({ type: 'task.context', data: '{\n}', authorId: useTickets.getState().actor });

/** The form values for an existing card. */
export function valuesOfCard(card: Card): FormValues {
  const { content } = card;
  return {
    ...newCard(),
    type: card.type,
    kind: content.kind,
    role: card.metadata.role,
    authorId: card.authorId,
    toolCalls: card.toolCalls ? JSON.stringify(card.toolCalls, null, 2) : '',
    toolCallId: card.toolCallId ?? '',
    ttl: card.ttlSeconds === undefined ? '' : String(card.ttlSeconds),
    ...(content.kind === 'text' && { text: content.text }),
    ...(content.kind === 'json' && { data: JSON.stringify(content.data, null, 2) }),
    ...(content.kind === 'fields' && { fields: content.fields.map(({ name, description }) => ({ name, description: description ?? '' })) }),
  };
}

/** The content that the form describes. @throws FieldError for JSON that is neither an object nor a list. */
function readContent(values: FormValues): CardContent {
  switch (values.kind) {
    case 'json': {
      const data = jsonIn(values, 'data');
      if (typeof data !== 'object' || data === null) throw new FieldError('data', 'The JSON of a card must be an object or a list.');
      return { kind: 'json', data: data as Record<string, unknown> };
    }
    case 'fields':
      return {
        kind: 'fields',
        fields: rowsIn(values, 'fields').map((row) => ({ name: textIn(row, 'name'), description: textIn(row, 'description') })),
      };
    default:
      return { kind: 'text', text: typeof values.text === 'string' ? values.text : '' };
  }
}

/** The card that the form describes, for `card.add` and the procedures that write cards. */
export function cardIn(values: FormValues, metadata: Readonly<Record<string, unknown>> = {}) {
  const toolCalls = jsonIn(values, 'toolCalls');
  if (toolCalls !== undefined && !Array.isArray(toolCalls)) throw new FieldError('toolCalls', 'The tool calls must be a JSON list.');
  const ttlSeconds = numberIn(values, 'ttl');
  const type = textIn(values, 'type');
  const { type: _, role: __, ...facts } = metadata;
  const role = givenIn(values, 'role') as Role | undefined;
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

import { isObject, type Json, parseJson, textOf, timestampOf } from '../base/index.js';
import { type Chain, type ContextRow, contextEntries, idsOf } from '../chain/index.js';
import type { EntryDraft } from '../contract/index.js';
import { formatOf, wireMessages } from '../formats/index.js';
import { getRequest, recordedRequests } from '../requests/index.js';
import type { ModelProvider, ModelRequest } from './providers.js';

/** What is asked of a model: the context `base`, what it answered so far, and by whose recorded call the rest is set. */
export interface Question {
  readonly row: ContextRow;
  readonly base: ContextRow;
  readonly wire: ModelProvider['wire'];
  readonly model: string | undefined;
  /** The context is not the one that was sent. */
  readonly isEdited: boolean;
}

const defaultModel = 'claude-sonnet-4-5';
const defaultMaxTokens = 8_192;

/** The very body that was sent where there is one and nothing was changed; else its system prompt, tools and settings around the new messages. */
export function requestOf(chain: Chain, question: Question, replies: readonly EntryDraft[]): ModelRequest {
  const [recorded] = recordedRequests(chain, { turnId: question.row.id });
  const call = recorded && getRequest(chain, recorded.requestId);
  const sent = call?.provider === 'anthropic' ? call.body : undefined;
  const named = question.model ?? (typeof sent?.model === 'string' ? sent.model : defaultModel);
  const entries = [...contextEntries(chain, { id: question.base.id }).map(({ entry }) => entry), ...replies];
  if (question.wire === 'openai')
    return {
      model: named,
      body: { model: named, messages: [...systemOf(sent), ...chatMessages(question.base, entries)], ...toolsOf(sent) },
      headers: {},
    };
  const isSame = sent !== undefined && !question.isEdited && replies.length === 0;
  const messages = isSame ? sent.messages : wireMessages(entries);
  return { model: named, body: { max_tokens: defaultMaxTokens, ...sent, messages, model: named }, headers: call?.headers ?? {} };
}

function chatMessages(base: ContextRow, entries: Parameters<typeof wireMessages>[0]): Json[] {
  const document = parseJson(textOf(formatOf('openai-chat-v1').write(entries, { newId: idsOf(base.id), now: timestampOf(base.createdAt) })));
  return isObject(document) && Array.isArray(document.messages) ? [...document.messages] : [];
}

/** Anthropic's system prompt as the first message that the other wire wants. */
function systemOf(sent: Readonly<Record<string, unknown>> | undefined): Json[] {
  const blocks =
    typeof sent?.system === 'string'
      ? [sent.system]
      : Array.isArray(sent?.system)
        ? sent.system.flatMap((block) => (isObject(block) && typeof block.text === 'string' ? [block.text] : []))
        : [];
  return blocks.length ? [{ role: 'system', content: blocks.join('\n\n') }] : [];
}

/** Anthropic's tools in the words of the other wire. */
function toolsOf(sent: Readonly<Record<string, unknown>> | undefined): { tools?: Json[] } {
  const tools = Array.isArray(sent?.tools) ? sent.tools : [];
  const named = tools.flatMap((tool): Json[] =>
    isObject(tool) && typeof tool.name === 'string'
      ? [
          {
            type: 'function',
            function: {
              name: tool.name,
              description: typeof tool.description === 'string' ? tool.description : '',
              parameters: tool.input_schema ?? {},
            },
          },
        ]
      : [],
  );
  return named.length ? { tools: named } : {};
}

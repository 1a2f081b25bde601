import { completionEvents, messageEvents } from './model-server.js';
import type { Wire } from './wires.js';

const usage = { status: 'completed', usage: { input_tokens: 9, output_tokens: 2 } };
/** A reply of each wire that says one word. */
export const said: Readonly<Record<Wire, unknown[]>> = {
  anthropic: messageEvents({ text: 'Noted.' }),
  openai: completionEvents('Noted.'),
  responses: [
    { type: 'response.output_text.delta', item_id: 'm', delta: 'Noted.' },
    { type: 'response.completed', response: usage },
  ],
  gemini: [{ candidates: [{ content: { parts: [{ text: 'Noted.' }] }, finishReason: 'STOP' }] }],
};

/** A reply that thinks, speaks and calls a tool. Each provider signs its thinking in its own form. */
export const thinks = (tool: string): Readonly<Record<Wire, unknown[]>> => ({
  anthropic: [
    { type: 'message_start', message: { usage: { input_tokens: 9 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'SEAL' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'HIDDEN' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'I look.' } },
    { type: 'content_block_stop', index: 2 },
    { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'c1', name: tool, input: {} } },
    { type: 'content_block_stop', index: 3 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ],
  openai: [
    { choices: [{ index: 0, delta: { reasoning_content: 'Hm.' } }] },
    { choices: [{ index: 0, delta: { content: 'I look.' } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: tool, arguments: '{}' } }] } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    '[DONE]',
  ],
  responses: [
    {
      type: 'response.output_item.done',
      item: { id: 'r', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'SEAL' },
    },
    { type: 'response.output_item.done', item: { id: 'm', type: 'message', content: [{ type: 'output_text', text: 'I look.' }] } },
    { type: 'response.output_item.done', item: { id: 'f', type: 'function_call', call_id: 'c1', name: tool, arguments: '{}' } },
    { type: 'response.completed', response: usage },
  ],
  gemini: [
    {
      candidates: [
        {
          content: {
            parts: [
              { text: 'Hm.', thought: true },
              { text: 'I look.' },
              { functionCall: { id: 'c1', name: tool, args: {} }, thoughtSignature: 'SEAL' },
            ],
          },
          finishReason: 'STOP',
        },
      ],
    },
  ],
});

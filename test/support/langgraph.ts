import type * as Messages from '@langchain/core/messages';
import type * as LangGraph from '@langchain/langgraph';
import type * as Checkpoints from '@langchain/langgraph-checkpoint-sqlite';
import { onTestFinished } from 'vitest';
import { peer } from './peers.js';

export const { AIMessage, HumanMessage, RemoveMessage, ToolMessage } = peer('@langchain/core/messages') as typeof Messages;
export const { Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph } = peer('@langchain/langgraph') as typeof LangGraph;
const { SqliteSaver } = peer('@langchain/langgraph-checkpoint-sqlite') as typeof Checkpoints;

/** LangGraph's own checkpointer on a database. */
export function saverAt(path: string): Checkpoints.SqliteSaver {
  const saver = SqliteSaver.fromConnString(path);
  onTestFinished(() => void (saver.db.open && saver.db.close()));
  return saver;
}

const textOf = (message: Messages.BaseMessage | undefined): string => (typeof message?.content === 'string' ? message.content : '');

/**
 * An agent without a model. It calls a tool if the input contains `tool`, asks a person if it contains `ask`, and repeats
 * the input otherwise. A channel of its own counts its answers.
 */
export function agentOn(saver: Checkpoints.SqliteSaver) {
  const State = Annotation.Root({ ...MessagesAnnotation.spec, answers: Annotation<number> });
  return new StateGraph(State)
    .addNode('agent', ({ messages, answers = 0 }) => {
      const last = messages.at(-1);
      const said = textOf(last);
      const n = messages.length;
      if (last?.getType() === 'human' && said.includes('ask')) {
        const answer = interrupt({ question: 'May I?' }) as string;
        return { messages: [new AIMessage({ id: `ai-${said}-${n}`, content: `You said ${answer}` })], answers: answers + 1 };
      }
      if (last?.getType() === 'human' && said.includes('tool'))
        return {
          messages: [
            new AIMessage({
              id: `ai-${said}-${n}`,
              content: [{ type: 'text', text: 'Let me look.' }],
              tool_calls: [{ id: `call-${said}-${n}`, name: 'read', args: { path: 'a.ts' } }],
              response_metadata: { model_name: 'stand-in-1' },
              usage_metadata: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
            }),
          ],
        };
      return { messages: [new AIMessage({ id: `ai-${said}-${n}`, content: `About ${said}` })], answers: answers + 1 };
    })
    .addNode('tools', ({ messages }) => ({
      messages: ((messages.at(-1) as Messages.AIMessage).tool_calls ?? []).map(
        ({ id = '', name }) =>
          new ToolMessage({ id: `result-${id}`, content: 'export const a = 1;', tool_call_id: id, name, artifact: { lines: 1 } }),
      ),
    }))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', ({ messages }) => ((messages.at(-1) as Messages.AIMessage).tool_calls?.length ? 'tools' : END), ['tools', END])
    .addEdge('tools', 'agent')
    .compile({ checkpointer: saver });
}

export const told = (text: string): { messages: Messages.BaseMessage[] } => ({
  messages: [new HumanMessage({ id: `human-${text}`, content: text })],
});
export const thread = (id: string) => ({ configurable: { thread_id: id } });

/** A graph with a subgraph that repeats its input. */
export function nestedOn(saver: Checkpoints.SqliteSaver) {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode('say', ({ messages }) => ({ messages: [new AIMessage({ id: 'inner', content: `About ${textOf(messages.at(-1))}` })] }))
    .addEdge(START, 'say')
    .addEdge('say', END)
    .compile();
  return new StateGraph(MessagesAnnotation).addNode('helper', inner).addEdge(START, 'helper').addEdge('helper', END).compile({ checkpointer: saver });
}

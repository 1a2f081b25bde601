import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { onTestFinished } from 'vitest';

export { Command };

/** The saver that LangGraph itself brings along, on a database of this path. */
export function saverAt(path: string): SqliteSaver {
  const saver = SqliteSaver.fromConnString(path);
  onTestFinished(() => void (saver.db.open && saver.db.close()));
  return saver;
}

const textOf = (message: BaseMessage | undefined): string => (typeof message?.content === 'string' ? message.content : '');

/**
 * An agent without a model: it calls a tool where `tool` is in what it is told, asks a person where `ask` is, and answers with what it was
 * told otherwise. Its own channel counts its answers.
 */
export function agentOn(saver: SqliteSaver) {
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
      messages: ((messages.at(-1) as AIMessage).tool_calls ?? []).map(
        ({ id = '', name }) =>
          new ToolMessage({ id: `result-${id}`, content: 'export const a = 1;', tool_call_id: id, name, artifact: { lines: 1 } }),
      ),
    }))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END), ['tools', END])
    .addEdge('tools', 'agent')
    .compile({ checkpointer: saver });
}

export const told = (text: string): { messages: BaseMessage[] } => ({ messages: [new HumanMessage({ id: `human-${text}`, content: text })] });
export const thread = (id: string) => ({ configurable: { thread_id: id } });

/** A graph whose one node is a graph, which says what it was told about. */
export function nestedOn(saver: SqliteSaver) {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode('say', ({ messages }) => ({ messages: [new AIMessage({ id: 'inner', content: `About ${textOf(messages.at(-1))}` })] }))
    .addEdge(START, 'say')
    .addEdge('say', END)
    .compile();
  return new StateGraph(MessagesAnnotation).addNode('helper', inner).addEdge(START, 'helper').addEdge('helper', END).compile({ checkpointer: saver });
}

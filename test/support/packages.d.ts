/** Types for what the tests use of the packages in test/peers/package.json, so that the tests compile where those packages are not installed. */
declare module 's3rver' {
  interface Options {
    readonly address: string;
    readonly port: number;
    readonly silent: boolean;
    readonly directory: string;
    readonly configureBuckets: readonly { readonly name: string; readonly configs: readonly string[] }[];
  }
  // biome-ignore lint/style/noDefaultExport: the package has a default export
  export default class S3rver {
    constructor(options: Options);
    run(): Promise<{ readonly address: string; readonly port: number }>;
    close(): Promise<void>;
  }
}

declare module '@langchain/core/messages' {
  interface ToolCall {
    readonly id: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  }
  export class BaseMessage {
    constructor(fields: Readonly<Record<string, unknown>>);
    readonly id?: string;
    readonly content: unknown;
    readonly tool_calls?: ToolCall[];
    getType(): string;
  }
  export class AIMessage extends BaseMessage {}
  export class HumanMessage extends BaseMessage {}
  export class RemoveMessage extends BaseMessage {}
  export class ToolMessage extends BaseMessage {}
}

declare module '@langchain/langgraph' {
  import type { BaseMessage } from '@langchain/core/messages';

  interface State {
    readonly messages: readonly BaseMessage[];
    readonly answers?: number;
  }
  interface Snapshot {
    readonly values: State;
    readonly next: readonly string[];
    readonly config: object;
  }
  interface Graph {
    invoke(input: unknown, config?: object): Promise<State>;
    getState(config: object): Promise<Snapshot>;
    getStateHistory(config: object): AsyncIterable<Snapshot>;
    updateState(config: object, values: object): Promise<object>;
  }
  export const START: string;
  export const END: string;
  export const MessagesAnnotation: { readonly spec: object };
  export const Annotation: { <T>(): T; Root(spec: object): object };
  export function interrupt(value: unknown): unknown;
  export class Command {
    constructor(fields: { readonly resume: unknown });
  }
  export class StateGraph {
    constructor(state: object);
    addNode(name: string, run: Graph | ((state: State) => object)): this;
    addEdge(from: string, to: string): this;
    addConditionalEdges(from: string, choose: (state: State) => string, to: readonly string[]): this;
    compile(options?: { readonly checkpointer: object }): Graph;
  }
}

declare module '@langchain/langgraph-checkpoint-sqlite' {
  import type { Database } from 'better-sqlite3';

  interface Checkpoint {
    readonly id: string;
    readonly channel_values: Readonly<Record<string, unknown>>;
    readonly [member: string]: unknown;
  }
  export class SqliteSaver {
    static fromConnString(path: string): SqliteSaver;
    readonly db: Database;
    put(config: object, checkpoint: Checkpoint, metadata: object): Promise<object>;
    getTuple(config: object): Promise<{ readonly checkpoint: Checkpoint } | undefined>;
  }
}

declare module '@langchain/langgraph-checkpoint' {
  export function uuid6(clock: number): string;
}

declare module '@duckdb/node-api' {
  export class DuckDBConnection {
    static create(): Promise<DuckDBConnection>;
    runAndReadAll(sql: string): Promise<{ getRows(): unknown[][] }>;
    closeSync(): void;
  }
}

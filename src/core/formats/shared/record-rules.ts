import type { JsonObject, Timestamp } from '../../base/index.js';
import type { PlanContext, PlannedCommit } from '../format.js';
import type { TreeRecord } from './branches.js';
import type { Numbered } from './drafts.js';
import type { Dialect } from './jsonl.js';
import type { RecordMark } from './progress.js';

export interface RecordPlace extends Pick<TreeRecord, 'part' | 'others' | 'startedBy'> {
  /** The project finds the record by this name, and its entries' keys begin with it. */
  readonly name: string;
  /** The parent's name, or null for a root. Without it, the record follows the record before it in its lane. */
  readonly parent?: string | null;
  /** The lane of a subagent whose records lie between those of the main conversation. */
  readonly lane?: string;
}

export interface About {
  readonly sessionId?: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  /** The host on which the agent ran. */
  readonly machine?: string | undefined;
  /** The tool that wrote the session, if the format reads sessions of several tools. */
  readonly tool?: string | undefined;
  /** The name of the subagent whose file this is. */
  readonly agent?: string | undefined;
  readonly startedBy?: PlannedCommit['startedBy'];
}

/** The rules of a format of records. `State` holds facts of other records in the same delta. */
export interface RecordRules<State = undefined> {
  readonly formatId: string;
  /** The name of the agent in templates and principals. */
  readonly template: string;
  readonly dialect: Dialect;
  readonly about: (records: readonly JsonObject[], context: Pick<PlanContext, 'path' | 'meta'>) => About;
  /** Undefined for a record that has no place in the conversation, such as a header. */
  readonly place: (record: JsonObject) => RecordPlace | undefined;
  /** The name that an older version of Stemma gave the record, if it differs. */
  readonly olderName?: (record: JsonObject, name: string) => string | undefined;
  /** The session that a fork continues, if the record is one that the fork repeats. */
  readonly origin?: (record: JsonObject) => string | undefined;
  readonly entries: (record: JsonObject, state: State) => readonly Numbered[];
  /** The time of the record, if it is not in `timestamp`. */
  readonly at?: (record: JsonObject) => Timestamp | undefined;
  /** Gathers the facts of other records. Called once for each delta. */
  readonly gather: (records: readonly JsonObject[]) => State;
  /** Notes for the person about values of a record that the format does not define. The record is read nevertheless. */
  readonly oddities?: (record: JsonObject) => readonly string[];
  /** The records before a compaction that it keeps, from all its ancestors, oldest first. */
  readonly keeps?: (record: JsonObject, before: readonly TreeRecord[]) => readonly TreeRecord[];
  /** The role of a record in its turn, if its part does not determine it. */
  readonly mark?: (record: JsonObject) => Omit<RecordMark, 'range'> | undefined;
  /** The first prompt of a person, for lists. */
  readonly prompt?: (record: JsonObject) => string | undefined;
  /** The duration of a turn that the agent wrote, in milliseconds, where the record states it. */
  readonly lasted?: (record: JsonObject) => unknown;
  /** Records of one name continue each other. Otherwise the first is read, and the others are named as skipped. */
  readonly continues?: true;
}

import { badRequest, notFound, present, toTimestamp } from '../../base/index.js';
import type { Goal, InputOf, Memory, Plan } from '../../contract/index.js';
import { delayOf } from '../render/rules.js';
import { nextCron } from './cron.js';
import { newId, type ReadStore, requireAgent, requireEntity, type SpaceStore } from './rows.js';

/** The goals of an agent in the order in which they were set. */
export const goalsOf = (store: ReadStore, entityId: string): (Goal & { goalId: string })[] =>
  store.db
    .all<{ no: number; description: string; priority: number; longTerm: number }>(
      'SELECT no, description, priority, longTerm FROM goal WHERE entity = ? ORDER BY no',
      requireEntity(store, entityId).no,
    )
    .map(({ no, description, priority, longTerm }) => ({ goalId: `goal-${no}`, description, priority, longTerm: longTerm === 1 }));

/** Replaces the goals of an agent. */
export function setGoals(store: SpaceStore, entityId: string, goals: readonly Goal[]): (Goal & { goalId: string })[] {
  return store.db.transaction(() => {
    const { no } = (goals.length > 0 ? requireAgent : requireEntity)(store, entityId);
    store.db.run('DELETE FROM goal WHERE entity = ?', no);
    for (const { description, priority = 0, longTerm } of goals)
      store.db.insert('goal', { project: store.project, entity: no, description, priority, longTerm: longTerm ? 1 : 0 });
    return goalsOf(store, entityId);
  });
}

/** The memories of an agent, newest first. */
export const memoriesOf = (store: ReadStore, entityId: string): (Memory & { memoryId: string })[] =>
  store.db
    .all<{ no: number; topic: string | null; content: string; updatedAt: number }>(
      'SELECT no, topic, content, updatedAt FROM memory WHERE entity = ? ORDER BY updatedAt DESC, no DESC',
      requireEntity(store, entityId).no,
    )
    .map(({ no, topic, content, updatedAt }) => ({ memoryId: `mem-${no}`, topic, content, updatedAt: toTimestamp(updatedAt) }));

/** Stores a memory, one for each topic; without a topic, adds one or replaces the named one. Without content, deletes it. */
export function setMemory(
  store: SpaceStore,
  entityId: string,
  topic: string | null,
  content: string | null,
  memoryId?: string,
): (Memory & { memoryId: string })[] {
  return store.db.transaction(() => {
    const { no } = (content === null ? requireEntity : requireAgent)(store, entityId);
    if (memoryId !== undefined && store.db.run("DELETE FROM memory WHERE entity = ? AND 'mem-' || no = ?", no, memoryId).changes === 0)
      throw notFound(memoryId, `The agent ${entityId} has no memory ${memoryId}.`);
    if (topic !== null) store.db.run('DELETE FROM memory WHERE entity = ? AND topic = ?', no, topic);
    if (content !== null) store.db.insert('memory', { project: store.project, entity: no, topic, content, updatedAt: store.clock() });
    return memoriesOf(store, entityId);
  });
}

type StoredPlan = Plan & { planId: string; instruction: string };

/** The plans of an agent that will still run, in the order of creation. */
export const plansOf = (store: ReadStore, entityId: string): StoredPlan[] =>
  store.db
    .all<{ planId: string; name: string; instruction: string; cron: string | null; runAfter: string | null; dueAt: number }>(
      'SELECT planId, name, instruction, cron, runAfter, dueAt FROM plan WHERE entity = ? AND dueAt IS NOT NULL ORDER BY no',
      requireEntity(store, entityId).no,
    )
    .map(({ planId, name, instruction, cron, runAfter, dueAt }) => {
      const at = toTimestamp(dueAt);
      return { planId, name, instruction, ...(cron === null ? { scheduledAt: at } : { cron, nextRunAt: at }), ...present({ runAfter }) };
    });

/**
 * Stores a plan, or deletes it. It replaces a plan of the same name and keeps its place in the order, even one that was deleted.
 * @throws BAD_REQUEST unless a stored plan has exactly one of `cron`, `scheduledAt` and `runAfter`, and a deleted one has none.
 * @throws NOT_FOUND for a plan to delete that the agent does not have.
 */
export function setPlan(store: SpaceStore, { entityId, name, instruction, cron, scheduledAt, runAfter }: InputOf<'run.setPlan'>): StoredPlan[] {
  return store.db.transaction(() => {
    const { no } = (instruction === null ? requireEntity : requireAgent)(store, entityId);
    const times = [cron, scheduledAt, runAfter].filter((given) => given !== undefined).length;
    if (instruction === null) {
      if (times > 0) throw badRequest('instruction', 'a plan that is deleted (instruction: null) has no cron, scheduledAt or runAfter');
      const { changes } = store.db.run('UPDATE plan SET dueAt = NULL WHERE entity = ? AND name = ? AND dueAt IS NOT NULL', no, name);
      if (changes === 0) throw notFound(name, `The agent ${entityId} has no plan ${JSON.stringify(name)}.`);
      return plansOf(store, entityId);
    }
    if (times !== 1) throw badRequest('cron', 'a plan needs exactly one of cron, scheduledAt and runAfter');
    const now = store.clock();
    const dueAt = cron !== undefined ? nextCron(cron, now) : runAfter !== undefined ? now + delayOf(runAfter) : Date.parse(scheduledAt ?? '');
    const planId = newId(store, 'plan', 'plan', 'planId');
    store.db.run(
      `INSERT INTO plan (project, entity, planId, name, instruction, cron, runAfter, dueAt)
       VALUES (:project, :no, :planId, :name, :instruction, :cron, :runAfter, :dueAt)
       ON CONFLICT (entity, name) DO UPDATE SET instruction = excluded.instruction, cron = excluded.cron, runAfter = excluded.runAfter, dueAt = excluded.dueAt`,
      { project: store.project, no, planId, name, instruction, cron: cron ?? null, runAfter: runAfter ?? null, dueAt },
    );
    return plansOf(store, entityId);
  });
}

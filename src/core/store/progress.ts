import type { ReadableDb, WritableDb } from './database.js';

/** Reads how far a background work of the project has come; 0 at first. */
export const progressOf = ({ db, project }: { readonly db: ReadableDb; readonly project: number }, work: string): number =>
  db.one<{ value: number }>('SELECT value FROM progress WHERE project = ? AND name = ?', project, work)?.value ?? 0;

/** Stores how far a background work of the project has come. */
export const setProgress = ({ db, project }: { readonly db: WritableDb; readonly project: number }, work: string, value: number): void =>
  void db.run('INSERT INTO progress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', project, work, value);

import { parentPort } from 'node:worker_threads';
import { errorOf, settled } from '../../core/base/index.js';
import { contract, procedureNames } from '../../core/contract/index.js';
import { type CacheSize, type Project, prepare, type Session } from '../../core/project/index.js';
import { kindOf } from '../../core/router/index.js';
import { openQuestions } from './messages.js';
import type { Aid, FromWriter, ToWriter } from './pool.js';
import { engineBehind } from './serve.js';

/** Milliseconds between two checks which sessions an agent works on. */
const lookMs = 500;

/**
 * Runs the engine on a thread of its own: the only one that writes. It helps the threads that read. Long because the engine's messages and the
 * readers' questions concern the same projects and sessions.
 */
export function writeForFront(): void {
  const parent = parentPort;
  if (!parent) return;
  const say = (message: FromWriter): void => parent.postMessage(message);
  const sessions = new Map<number, Session>();
  const open = new Map<string, { readonly project: Project; tips: string }>();
  const leaves = openQuestions<void>();
  const looks = openQuestions<readonly CacheSize[]>();

  /** Says where a project is read, when it was opened or opened again. */
  const opened = (project: Project): void => {
    if (open.get(project.dir)?.project === project) return;
    open.set(project.dir, { project, tips: '' });
    say({ kind: 'place', dir: project.dir, place: project.place });
  };

  const answer = engineBehind(
    (message) => say(message.kind === 'ready' ? { kind: 'ready', kinds: kindsOfCalls() } : message),
    () => {
      clearInterval(timer);
      parent.close();
    },
    {
      opened,
      forget: (path) => {
        const known = [...open.values()].find(({ project }) => project.dir === path);
        if (known) say({ kind: 'place', dir: path, place: known.project.place });
      },
      leave: (dir) => leaves.ask((number) => say({ kind: 'leave', dir, number })),
      caches: () => looks.ask((number) => say({ kind: 'caches', number })),
      connected: (connection, session) => void sessions.set(connection, session),
      using: (connection, dir) => say({ kind: 'using', connection, dir }),
      ended: (connection) => void sessions.delete(connection),
    },
  );

  const timer = setInterval(() => {
    for (const [dir, entry] of open) {
      const tips = [...entry.project.live()];
      const now = tips.join(' ');
      if (now !== entry.tips) say({ kind: 'live', dir, tips });
      entry.tips = now;
    }
  }, lookMs);

  async function help(dir: string, { reader, number, connection, question }: Aid): Promise<void> {
    say({ kind: 'aided', dir, reader, number, answer: await settled(() => carryOut(dir, connection, question)) });
  }

  async function carryOut(dir: string, connection: number, question: Aid['question']): Promise<unknown> {
    const session = sessions.get(connection);
    const project = open.get(dir)?.project;
    switch (question.what) {
      case 'keep':
        project?.keeper.keep(question.offers);
        return undefined;
      case 'prepare':
        if (project) await prepare(project, question.derived);
        if (question.derived === 'analysis') session?.engine.options.analyst?.expect?.();
        return undefined;
      case 'fetch':
        return session?.reading.fetch(errorOf(question.refusal)) ?? false;
      case 'checkOutput':
        return session?.checkOutput(question.path);
    }
  }

  parent.on('message', (message: ToWriter) => {
    if (message.kind === 'aid') void help(message.dir, message.aid);
    else if (message.kind === 'left') leaves.take(message.number)?.resolve();
    else if (message.kind === 'caches') looks.take(message.number)?.resolve(message.sizes);
    else answer(message);
  });
}

const kindsOfCalls = () => Object.fromEntries(procedureNames(contract).map((name) => [name, kindOf(name.split('.'))]));

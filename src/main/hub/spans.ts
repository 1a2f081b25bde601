import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { badRequest, StemmaError } from '../../core/base/index.js';
import { makeFolders } from '../../core/files/index.js';
import { importPaths } from '../../core/import/index.js';
import { atOnce, createProject, openProject } from '../../core/project/index.js';
import { push } from '../../core/sync/index.js';
import { answerExport, isExportPath, openReceiver } from '../otlp/index.js';
import { hubOver } from '../team/index.js';
import { type HubCaller, holderIn, projectFor, refusal, requireAction } from './access.js';
import type { HubContext } from './procedure.js';
import type { HubDoor } from './rpc.js';
import { hubRouter } from './service.js';

/** The most open inboxes. The least recently used inbox is closed, and opened again at its sender's next export. */
const maxInboxes = 64;

/** The header that names the project, for tokens of several projects. */
const projectHeader = 'x-stemma-project';

/** The HTTP status of each refusal. */
const statuses: Readonly<Record<string, number>> = { UNAUTHORIZED: 401, NOT_FOUND: 404, BAD_REQUEST: 400, UNAVAILABLE: 503 };

type Services = Omit<HubContext, 'authorization'>;

/**
 * Starts to receive spans of OpenTelemetry, whose conversations are stored in the sender's project. `dir`: the folder of this process for received
 * spans. `problem` gets no content.
 */
export function openHubSpans(services: Services, dir: string, problem: (message: string) => void, door: Pick<HubDoor, 'admit'>) {
  const inboxes = new Map<string, Inbox>();
  let closing: Promise<unknown> = Promise.resolve();
  const inboxFor = (place: string, project: string, authorization: string): Inbox => {
    const inbox = inboxes.get(place) ?? openInbox(services, join(dir, place), project, problem);
    inboxes.delete(place);
    inboxes.set(place, inbox);
    // A sign-in gets a new token from time to time.
    inbox.sender.authorization = authorization;
    for (const [oldest, other] of inboxes)
      if (inboxes.size > maxInboxes) {
        inboxes.delete(oldest);
        closing = closing.then(other.close, other.close);
      }
    return inbox;
  };
  const answer = async (caller: HubCaller, request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const { database } = services;
    const { authorization = '' } = request.headers;
    const named = request.headers[projectHeader];
    const given = typeof named === 'string' ? named : undefined;
    const holder = holderIn(caller, given);
    if (holder.shared !== null) throw refusal('A share link cannot send spans.');
    const own = given ?? holder.opens?.name;
    if (own === undefined) throw badRequest(projectHeader, `This token opens several projects. Name one in the header ${projectHeader}.`);
    const { id } = await projectFor(database, holder, own);
    requireAction(holder, 'write');
    await answerExport(request, response, path, inboxFor(join(id, String(holder.no)), own, authorization).receiver);
  };
  return {
    /** Answers the request if it is an export; returns false otherwise. */
    answer: (request: IncomingMessage, response: ServerResponse, path: string): boolean => {
      if (!isExportPath(path)) return false;
      void door
        .admit(request, 'spans', (caller) => answer(caller, request, response, path))
        .catch((error: unknown) => {
          const isRefusal = error instanceof StemmaError;
          if (!isRefusal) problem('Spans were not taken.');
          response
            .writeHead((isRefusal ? statuses[error.code] : undefined) ?? 500, { 'content-type': 'application/json', connection: 'close' })
            .end(JSON.stringify({ code: 3, message: isRefusal ? error.message : 'The hub cannot take these spans.' }));
        });
      return true;
    },
    /** Stores all waiting spans and stops. */
    close: async (): Promise<void> => {
      await closing.catch(() => {});
      for (const inbox of inboxes.values()) await inbox.close();
    },
  };
}

type Inbox = ReturnType<typeof openInbox>;

/** The spans of one sender become commits in a local project of this hub process, which is then pushed like any other project. */
function openInbox(services: Services, folder: string, project: string, problem: (message: string) => void) {
  makeFolders(folder);
  const dir = join(folder, 'spans.stemma');
  const local = existsSync(dir) ? openProject(dir, Date.now) : createProject({ dir }, Date.now);
  const sender = { authorization: '' };
  // The hub checks this push with the sender's current permissions, like any other push.
  const hub = hubOver(createRouterClient(hubRouter, { context: () => ({ ...services, ...sender }) }), project);
  const receiver = openReceiver({
    folder: join(folder, 'received'),
    importFile: async (path) => {
      atOnce(importPaths(local.chain, { paths: [path] }));
      await push(local.chain, hub, { leaves: ({ kind }) => kind !== 'source' });
    },
    problem: (error) => problem(`Spans were not stored: ${error instanceof StemmaError ? error.code : error.name}.`),
  });
  return { receiver, sender, close: (): Promise<void> => receiver.flush().finally(() => local.close()) };
}

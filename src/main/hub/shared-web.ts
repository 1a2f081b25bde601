import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRouterClient } from '@orpc/server';
import { stringAt } from '../../core/base/index.js';
import { hubOver } from '../team/index.js';
import { type HubCaller, holderIn, refusal } from './access.js';
import type { HubContext } from './procedure.js';
import { type HubDoor, sent } from './rpc.js';
import { hubRouter } from './service.js';
import { frameOf, framePolicy, openSharedPages, refusalPage } from './shared-page.js';

const route = /^\/share\/([^/]+)\/([^/]+)(\/page)?$/;

/** The HTTP status of each refusal. Any other error is a fault of the hub. */
const statuses: Readonly<Record<string, number>> = { UNAUTHORIZED: 403, NOT_FOUND: 404, BAD_REQUEST: 400, UNAVAILABLE: 503 };

/** Serves `/share/PROJECT/TOKEN`, the page of a link, and `…/page`, the session in its frame. False for other paths. */
export function openShareRoute(services: Omit<HubContext, 'authorization'>, door: Pick<HubDoor, 'admit'>) {
  const pageOf = openSharedPages();
  const answer = async (caller: HubCaller, request: IncomingMessage, project: string, token: string, isPage: boolean): Promise<string> => {
    const { shared, role, expiresAt } = holderIn(caller, project);
    if (shared === null) throw refusal('This is a token, not a share link.');
    const hub = hubOver(createRouterClient(hubRouter, { context: { ...services, authorization: undefined, caller } }), project);
    await hub.hello();
    if (isPage) return pageOf(token, hub, shared);
    const isSecure = 'encrypted' in request.socket || request.headers['x-forwarded-proto'] === 'https';
    return frameOf({ project, link: `${isSecure ? 'https' : 'http'}://${request.headers.host ?? 'hub'}/share/${project}/${token}`, role, expiresAt });
  };
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const [path = ''] = (request.url ?? '').split('?');
    const [, project, token, isPage] = route.exec(path) ?? [];
    if (project === undefined || token === undefined) return false;
    const end = (status: number, type: string, text: string): void => {
      response.writeHead(status, {
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'no-store',
        // The link is a secret, which the browser must not send to the next page.
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        ...(type === 'text/html' && isPage === undefined && { 'content-security-policy': framePolicy }),
      });
      response.end(text);
    };
    const show = async (caller: HubCaller): Promise<void> => {
      end(200, 'text/html', await answer(caller, request, project, token, isPage !== undefined));
      await sent(response);
    };
    const refuse = (error: unknown): void => {
      const status = statuses[stringAt(error, 'code') ?? ''];
      const page =
        status === undefined || status === statuses.UNAVAILABLE
          ? refusalPage('The hub cannot show this page', 'Try again later, or ask the person who shared it.')
          : refusalPage('This link is not valid', 'It was revoked, or it has expired. Ask the person who shared it for a new one.');
      end(status ?? 500, 'text/html', page);
    };
    if (request.method !== 'GET') end(405, 'text/plain', 'A share link is read with GET.\n');
    else void door.admit(request, 'share page', show, `Bearer ${token}`).catch(refuse);
    return true;
  };
}

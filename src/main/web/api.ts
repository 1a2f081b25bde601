import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MessagePort } from 'node:worker_threads';
import { createORPCClient, ORPCError, safe } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { type AnyContractProcedure, isContractProcedure } from '@orpc/contract';
import { OpenAPIGenerator } from '@orpc/openapi';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { type AnyRouter, os } from '@orpc/server';
import { ZodToJsonSchemaConverter } from '@orpc/zod/zod4';
import { contract } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';

/**
 * Every procedure of the contract, answered by the engine behind `client`. Nothing is checked here: the engine checks
 * what comes in and what goes out, and its refusals pass as they are.
 */
function mirror(node: object): AnyRouter {
  if (isContractProcedure(node))
    return os
      .$context<{ client: ContractClient }>()
      .route((node as AnyContractProcedure)['~orpc'].route)
      .handler(({ context, path, input, signal }) => procedureAt(context.client, path)(input, { signal })) as AnyRouter;
  return Object.fromEntries(Object.entries(node).map(([name, below]) => [name, mirror(below)]));
}

type Call = (input: unknown, options: { signal?: AbortSignal }) => Promise<unknown>;
const procedureAt = (client: ContractClient, path: readonly string[]): Call =>
  path.reduce<Record<string, unknown>>((node, name) => node[name] as Record<string, unknown>, client as never) as unknown as Call;

/** The read endpoints of cards and boxes, by the addresses that the public system gives them. */
const rootReads = '/projects/';

const handler = new OpenAPIHandler<{ client: ContractClient }>(mirror(contract) as never);
let specification: Promise<string> | undefined;

/**
 * Answers a call under `/api`: `POST /api/context/show` with the input as JSON. Each request is a session of its own on
 * the project that the header `stemma-project` names, else on the one that the host was started with. What streams
 * comes as server-sent events. `/api/openapi.json` describes all of it. What other systems read, `/projects/…`, stands
 * under the root, too, where they look for it.
 */
export async function answerApi(request: IncomingMessage, response: ServerResponse, port: MessagePort, startupProject: string | null): Promise<void> {
  const client: ContractClient = createORPCClient(new RPCLink({ port: port as never }));
  response.on('close', () => port.close());
  port.start();
  const dir = request.headers['stemma-project'] ?? startupProject;
  if (typeof dir === 'string') {
    const [refusal] = await safe(client.project.open({ dir: decodeURIComponent(dir) }));
    if (refusal)
      return refuse(response, refusal instanceof ORPCError ? refusal : new ORPCError('INTERNAL_SERVER_ERROR', { message: refusal.message }));
  }
  const isRoot = request.url?.startsWith(rootReads);
  const { matched } = await handler.handle(request, response, { ...(!isRoot && { prefix: '/api' as const }), context: { client } });
  if (!matched)
    refuse(
      response,
      new ORPCError('NOT_FOUND', { message: `There is no ${request.method} ${request.url}; see /api/openapi.json.`, data: { id: request.url } }),
    );
}

function refuse(response: ServerResponse, error: ORPCError<string, unknown>): void {
  response.writeHead(error.status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(error.toJSON()));
}

/** The contract in OpenAPI's words, as JSON text. */
export function openApi(version: string): Promise<string> {
  specification ??= new OpenAPIGenerator({ schemaConverters: [new ZodToJsonSchemaConverter()] })
    .generate(contract, {
      info: { title: 'Stemma', version, description: 'Agent histories as branching chains of context.' },
      servers: [{ url: '/api' }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
    })
    .then((document) => JSON.stringify(document));
  return specification;
}

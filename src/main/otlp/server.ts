import { bearerIn, closeNow, isOurs, isSame, limitSilent, listen, serverOptions } from '../connections/index.js';
import { answerExport, isExportPath } from './answer.js';
import { openReceiver, type ReceiverOptions } from './receiver.js';

export interface RunningServer {
  readonly port: number;
  /** Ends all connections, and resolves when all received spans are stored. */
  close(): Promise<void>;
}

/**
 * Starts a receiver on 127.0.0.1. Rejects if the port is in use.
 * @param options `token`: the secret that exporters send as a bearer. `port`: 0 takes any free port.
 */
export async function startOtlp(options: ReceiverOptions & { readonly token: string; readonly port: number }): Promise<RunningServer> {
  const receiver = openReceiver(options);
  // As in the web host: an import of this module would load all of Node's code for the network.
  const server = process.getBuiltinModule('node:http').createServer(serverOptions(), (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const status = !isOurs(request) ? 403 : !isSame(bearerIn(request.headers) ?? '', options.token) ? 401 : isExportPath(path) ? 200 : 404;
    if (status === 200)
      return void answerExport(request, response, path, receiver).catch((error: Error) => {
        options.problem(error);
        response.destroy();
      });
    const message = {
      401: 'Send the token as Authorization: Bearer TOKEN.',
      403: 'Programs on this machine only.',
      404: 'Send spans to /v1/traces.',
    };
    response
      .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
      .end(JSON.stringify({ code: 16, message: message[status] }));
  });
  limitSilent(server);
  return {
    port: await listen(server, options.port, '127.0.0.1'),
    async close() {
      await closeNow(server);
      await receiver.flush();
    },
  };
}

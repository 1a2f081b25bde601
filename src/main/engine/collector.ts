import { inWords, type StemmaError, unavailable } from '../../core/base/index.js';

const answerMs = 60_000;

/** Sends a document of spans to a collector. `OTEL_EXPORTER_OTLP_HEADERS` adds headers, as for other exporters. @throws UNAVAILABLE */
export async function sendSpans(address: string, spans: string, named = process.env.OTEL_EXPORTER_OTLP_HEADERS): Promise<void> {
  const refusal = (reason: string): StemmaError => unavailable(`The spans were not sent to ${address}: ${reason}`, { address });
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersIn(named) },
    body: spans,
    redirect: 'error',
    signal: AbortSignal.timeout(answerMs),
  }).catch((error: Error) => {
    throw refusal(error.cause instanceof Error ? error.cause.message : error.message);
  });
  const said = await answer.text();
  if (!answer.ok) throw refusal(`it answered ${answer.status}${said === '' ? '' : `: ${inWords(said)}`}`);
  const rejected = /"rejectedSpans"\s*:\s*"?([1-9]\d*)/.exec(said)?.[1];
  if (rejected !== undefined) throw refusal(`it rejected ${rejected} of them`);
}

/** Headers as `name=value` pairs with percent-encoded values, separated by commas. */
function headersIn(named = ''): Readonly<Record<string, string>> {
  const pairs = named.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), decodeURIComponent(pair.slice(pair.indexOf('=') + 1).trim())]),
  );
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { AggregationType, MeterProvider } from '@opentelemetry/sdk-metrics';

export type PoolUse = Readonly<Record<'total' | 'idle' | 'waiting', number>>;

/** The counters of a hub process. Their labels are names of procedures and codes of errors, never names of projects or people, and no content. */
export type HubMetrics = ReturnType<typeof openHubMetrics>;

const boundaries = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Opens the counters of this process. */
export function openHubMetrics(pool: () => PoolUse) {
  const exporter = new PrometheusExporter({ preventServerStart: true, appendTimestamp: false });
  const provider = new MeterProvider({
    readers: [exporter],
    views: [
      { instrumentName: 'stemma_hub_request_seconds', aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries } } },
    ],
  });
  const meter = provider.getMeter('stemma-hub');
  const requests = meter.createCounter('stemma_hub_requests', { description: 'Answered calls by procedure and result.' });
  const seconds = meter.createHistogram('stemma_hub_request_seconds', { description: 'Time to an answer by procedure.' });
  const items = meter.createCounter('stemma_hub_stored_items', { description: 'Items stored by pushes.' });
  const objects = meter.createCounter('stemma_hub_stored_objects', { description: 'Objects stored by pushes.' });
  const bytes = meter.createCounter('stemma_hub_stored_bytes', { description: 'Bytes of the stored objects, unpacked.' });
  meter.createObservableGauge('stemma_hub_database_connections', { description: 'Connections to the database by state.' }).addCallback((result) => {
    const { total, idle, waiting } = pool();
    result.observe(total - idle, { state: 'busy' });
    result.observe(idle, { state: 'idle' });
    result.observe(waiting, { state: 'awaited' });
  });
  return {
    /** Counts an answered procedure. `code` is `ok` or the code of the error. */
    called: (procedure: string, code: string, ms: number): void => {
      requests.add(1, { procedure, code });
      seconds.record(ms / 1_000, { procedure });
    },
    stored: (what: Readonly<Record<'items' | 'objects' | 'bytes', number>>): void => {
      items.add(what.items);
      objects.add(what.objects);
      bytes.add(what.bytes);
    },
    /** Answers a scrape in the text format of Prometheus. */
    answer: (request: IncomingMessage, response: ServerResponse): void => exporter.getMetricsRequestHandler(request, response),
    close: (): Promise<void> => provider.shutdown(),
  };
}

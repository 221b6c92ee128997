import { Counter, Gauge } from 'prom-client';
import type { QueueState } from '../domain/fan-state.ts';
import type { Metrics } from '#platform/health/metrics';
import type { WaitingLines } from '../application/ports.ts';
import type { ConnectionBudget } from './connection-budget.ts';

/**
 * The metrics of the waiting room, for operators and the autoscaler. The gauges of lines are read from Redis at each scrape, so
 * all pods report the same values.
 */
export class WaitingRoomMetrics {
  readonly turnsGranted: Counter;

  constructor({ registry }: Metrics, budget: ConnectionBudget, lines: WaitingLines) {
    const registers = [registry];
    this.turnsGranted = new Counter({ name: 'queue_turns_granted_total', help: 'Turns granted by this pod.', registers });
    const ofPod = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    ofPod('websocket_connections', 'Open WebSocket connections of this pod.', () => budget.sockets.size);
    ofPod('event_stream_connections', 'Open event streams of this pod.', () => budget.streams.size);
    const perMatch = (name: string, help: string, valueOf: (queue: QueueState) => number) =>
      new Gauge({
        name,
        help,
        labelNames: ['match_id'],
        registers,
        async collect() {
          for (const { match_id, queue } of await readAll()) if (queue) this.set({ match_id }, valueOf(queue));
        },
      });
    // In a scrape, one read of Redis serves both gauges, `queue_waiting` and `queue_open_windows`.
    let reading: ReturnType<typeof readQueues> | undefined;
    const readAll = () => {
      reading ??= readQueues(lines).finally(() => (reading = undefined));
      return reading;
    };
    perMatch('queue_waiting', 'Fans in line now.', (queue) => queue.total);
    perMatch('queue_open_windows', 'Purchase windows that are open now.', (queue) => queue.openWindows);
  }
}

/**
 * Reads the queues of all matches. Returns none while Redis is down: the scrape must not fail, and the gauges keep their last
 * values.
 */
async function readQueues(lines: WaitingLines) {
  const matches = await lines.matches().catch(() => []);
  return Promise.all(
    matches.map(async (match_id) => ({ match_id, queue: await lines.readQueue(match_id).catch(() => undefined) })),
  );
}

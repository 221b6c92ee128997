import { registerGauges } from '#platform/health/gauges';
import type { Metrics } from '#platform/health/metrics';
import { Counter, Gauge } from 'prom-client';
import type { LineReporter, WaitingLines } from '../application/ports.ts';
import type { QueueState } from '../domain/fan-state.ts';
import type { ConnectionBudget } from './connection-budget.ts';

/** What the gauges show about the line of one match. */
type LineGauges = Pick<QueueState, 'total' | 'openWindows'>;

const ENDED: LineGauges = { total: 0, openWindows: 0 };

/**
 * The metrics of the waiting room, for operators and the autoscaler. All lines are in Redis, so only one pod reports their gauges:
 * the sum over the pods is right. Connections and granted turns are those of each pod.
 */
export class WaitingRoomMetrics {
  readonly turnsGranted: Counter;
  /** The running lines as this pod has last reported them. Empty if another pod reports. */
  private reported = new Map<string, LineGauges>();

  constructor(
    { registry }: Metrics,
    budget: ConnectionBudget,
    private readonly lines: WaitingLines,
    private readonly reporter: LineReporter,
  ) {
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
    const perMatch = (name: string, help: string, valueOf: (line: LineGauges) => number) => ({
      name,
      help: `${help} One pod reports it for all.`,
      labels: ['match_id'],
      isReset: true,
      values: (all: ReadonlyMap<string, LineGauges>) =>
        [...all].map(([match_id, line]) => [valueOf(line), { match_id }] as const),
    });
    registerGauges(registry, () => this.readLines(), [
      perMatch('queue_waiting', 'Fans in line now.', ({ total }) => total),
      perMatch('queue_open_windows', 'Purchase windows that are open now.', ({ openWindows }) => openWindows),
    ]);
  }

  /**
   * The lines to report: none if another pod reports. A line that has ended since the last report is reported once more, with zeros.
   * Then its series ends, because past matches stay in Redis for ever. A line that cannot be read keeps its last values. Fails while
   * Redis is down: then all gauges keep their last values.
   */
  private async readLines(): Promise<ReadonlyMap<string, LineGauges>> {
    const before = this.reported;
    const running = new Map<string, LineGauges>();
    const ended = new Map<string, LineGauges>();
    if (await this.reporter.claim()) {
      const readLine = async (matchId: string) => {
        const line = await this.lines.readQueue(matchId).catch(() => before.get(matchId));
        if (line && isRunning(line)) running.set(matchId, line);
        else if (before.has(matchId)) ended.set(matchId, ENDED);
      };
      await Promise.all((await this.lines.matches()).map(readLine));
    }
    this.reported = running;
    return new Map([...running, ...ended]);
  }
}

/** True until a line is closed and nobody is in it or has a window. */
function isRunning({ status, total, openWindows }: LineGauges & { readonly status?: QueueState['status'] }): boolean {
  return status !== 'closed' || total > 0 || openWindows > 0;
}

import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { importCompiled } from '../instruments/compiled.ts';
import { median } from '../instruments/quantiles.ts';
import type { WaitingRoomLines } from './joins.ts';
import { restoreEmpty } from './new-line.ts';

const DEPARTURES = 700;

/**
 * Measures the work that a pod with all fans does in one second: 700 fans leave the line, and the pod updates all positions. It is
 * compared with the simplest way: one ZRANGE of the whole line and a Map of the positions.
 */
export async function measureTick({ lines }: WaitingRoomLines, redisUrl: string, waiting: number, rounds: number) {
  const { LineView } = await importCompiled<typeof import('../../apps/queue-service/src/waiting-room/domain/line-view.ts')>(
    'apps/queue-service/src/waiting-room/domain/line-view',
  );
  const matchId = randomUUID();
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', processing_rate: 1_000_000, max_open_windows: 0 });
  const users = Array.from({ length: waiting }, () => randomUUID());
  const view = new LineView<string>(0);
  await Promise.all(
    users.map(async (user) => {
      const outcome = await lines.join(matchId, user);
      if (!('entry' in outcome) || outcome.entry.state.kind !== 'waiting') throw new Error(outcome.kind);
      view.add(user, { score: Number(outcome.entry.score), position: outcome.entry.state.position, asOf: 0 });
    }),
  );
  view.takeDue(0, () => 30_000);
  const redis = new Redis(redisUrl);
  const [ticks, snapshots, notifyTimes]: [number[], number[], number[]] = [[], [], []];
  let open = 0;
  let inView = waiting;
  for (let round = 0; round < rounds; round += 1) {
    open += DEPARTURES;
    await restoreEmpty(lines, matchId);
    await lines.change(matchId, { max_open_windows: open });
    while ((await lines.admit(matchId, 200)).granted > 0);
    let from = performance.now();
    const read = (await lines.readMoves(matchId, view.moves))!;
    const left = view.apply(read.moves);
    ticks.push(performance.now() - from);
    if (!left) throw new Error('a move is missing');
    inView -= left.length;
    from = performance.now();
    view.takeDue(1, () => 30_000);
    notifyTimes.push(performance.now() - from);
    from = performance.now();
    const line = await redis.zrange(`queue:{${matchId}}`, '0', '-1');
    const positions = new Map<string, number>();
    for (let at = 0; at < line.length; at += 1) positions.set(line[at]!, at + 1);
    snapshots.push(performance.now() - from);
    if (inView !== line.length) throw new Error(`the view has ${inView} fans, the line ${line.length}`);
  }
  await redis.quit();
  return { tickMs: median(ticks), tellMs: median(notifyTimes), snapshotMs: median(snapshots) };
}

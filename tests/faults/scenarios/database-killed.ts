import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../crowd.ts';
import { resend } from '../resend.ts';
import type { Scenario } from '../scenario.ts';

const DOWN_MS = 3000;

/** F10: PostgreSQL is killed under load and started again; then one of its processes is, at which it restarts itself. */
export function databaseKilled({ buyers }: { buyers: number }): Scenario {
  return {
    id: 'F10',
    title: 'kill -9 of PostgreSQL under load, and of one of its processes',
    needsServers: true,
    limitMs: 150_000,
    async play(scene, claim) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.onSale(300, 4);
      const crowd = new Crowd(scene, { match, buyers, sectors: 4 });
      await crowd.sells(2 * buyers, 20_000);
      await scene.servers?.kill('postgres');
      const killedAt = Date.now();
      await sleep(DOWN_MS);
      await scene.servers?.start('postgres');
      const backAfterMs = Date.now() - killedAt;
      claim(await crowd.sells(buyers, 60_000), 'the sale does not go on after PostgreSQL is back');
      const outageMs = scene.history.longestSilence(killedAt, Date.now());
      const [backend] = await scene.rows<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'tribina-holds' order by query_start desc nulls last limit 1`,
      );
      const backendKilledAt = Date.now();
      if (backend) process.kill(backend.pid, 'SIGKILL');
      claim(await crowd.sells(buyers, 60_000), 'the sale does not go on after PostgreSQL restarted itself');
      const restartMs = scene.history.longestSilence(backendKilledAt, Date.now());
      await crowd.stop();
      const { resent, replayed } = await resend(scene, claim);
      return {
        bought: crowd.bought,
        server_back_after_ms: backAfterMs,
        outage_s: Math.round(outageMs / 100) / 10,
        outage_of_its_own_restart_s: Math.round(restartMs / 100) / 10,
        resent,
        replayed,
      };
    },
  };
}

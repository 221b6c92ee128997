import { setTimeout as sleep } from 'node:timers/promises';
import { Buyers } from '../buyers.ts';
import { resendAcknowledged } from '../resend-acknowledged.ts';
import type { Scenario } from '../scenario.ts';

const DOWN_MS = 3000;

/** Scenario F10: PostgreSQL is killed under load and started again. Then one of its processes is killed, and it recovers by itself. */
export function databaseKilled({ buyers }: { buyers: number }): Scenario {
  return {
    id: 'F10',
    title: 'kill -9 of PostgreSQL under load, and of one of its processes',
    needsServers: true,
    limitMs: 150_000,
    async run(scene, check) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.openSale(300, 4);
      const load = new Buyers(scene, { match, count: buyers, sectors: 4 });
      await load.waitForPurchases(2 * buyers, 20_000);
      await scene.servers?.kill('postgres');
      const killedAt = Date.now();
      await sleep(DOWN_MS);
      await scene.servers?.start('postgres');
      const backAfterMs = Date.now() - killedAt;
      check(await load.waitForPurchases(buyers, 60_000), 'no further purchases after PostgreSQL is back');
      const outageMs = scene.history.longestGapMs(killedAt, Date.now());
      const [backend] = await scene.rows<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'tribina-holds' order by query_start desc nulls last limit 1`,
      );
      const backendKilledAt = Date.now();
      if (backend) process.kill(backend.pid, 'SIGKILL');
      check(await load.waitForPurchases(buyers, 60_000), 'no further purchases after PostgreSQL restarted itself');
      const restartMs = scene.history.longestGapMs(backendKilledAt, Date.now());
      await load.stop();
      const { resent, replayed } = await resendAcknowledged(scene, check);
      return {
        bought: load.bought,
        server_back_after_ms: backAfterMs,
        outage_s: Math.round(outageMs / 100) / 10,
        outage_of_its_own_restart_s: Math.round(restartMs / 100) / 10,
        resent,
        replayed,
      };
    },
  };
}

import { randomUUID } from 'node:crypto';
import type { TcpProxy } from '#testing/tcp-proxy';
import type { Fan } from '../fan.ts';
import type { Replica } from '../replica.ts';
import type { Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

/** At which message to PostgreSQL the process is killed: the row of the audit log, or the COMMIT of its transaction. */
interface Step {
  readonly isCommit: boolean;
  readonly passOn: boolean;
}

const STEPS: readonly Step[] = [
  { isCommit: false, passOn: false },
  { isCommit: false, passOn: true },
  { isCommit: true, passOn: false },
  { isCommit: true, passOn: true },
];

/** Acts without their row of the audit log, and rows without their act. */
const UNPAIRED = `
  with acts as (
    select user_id::text as fan, action, count(*) as n from blacklist_changes group by 1, 2
  ), rows as (
    select target_id as fan, case action when 'putOnBlacklist' then 'list' else 'lift' end as action, count(*) as n
    from audit_log where action in ('putOnBlacklist', 'takeOffBlacklist') and (before is not null or after is not null) group by 1, 2
  )
  select coalesce(a.fan, r.fan) as fan from acts a full join rows r using (fan, action) where a.n is distinct from r.n`;

/** Scenario F50: the monolith is killed between the act of an operator and its row of the audit log. */
export function actsKilled({ fromStep }: { readonly fromStep: number }): Scenario {
  const steps = STEPS.slice(fromStep);
  return {
    id: 'F50',
    title: `kill -9 between the act of an operator and its row of the audit log, ${steps.length * 2} times`,
    limitMs: 30_000 + steps.length * 40_000,
    async run(scene, check) {
      for (const replica of scene.replicas.filter(({ isAlive }) => isAlive)) await replica.stop();
      const proxy = await scene.proxyTo(scene.databaseUrl);
      const start = (): Promise<Replica> => scene.start({}, { databaseUrl: proxy.url });
      let replica = await start();
      const operator = scene.fan();
      operator.roles = 'ops:lists';
      const unpaired = async (): Promise<string[]> => (await scene.rows<{ fan: string }>(UNPAIRED)).map(({ fan }) => fan);
      for (const step of steps) {
        const fan = randomUUID();
        for (const act of [putOnBlacklist(operator, fan), takeOffBlacklist(operator, fan)]) {
          const killed = trapped(proxy, step).then(() => replica.kill());
          await act();
          await killed;
          proxy.restore();
          // The lock of the interrupted request is gone with Redis. Otherwise its key would be in use for 30 s.
          await scene.redis.flush();
          check((await unpaired()).length === 0, `after a kill (${JSON.stringify(step)}) an act or its row is alone`);
          replica = await start();
          const status = await act();
          check(status < 300, `the repeated call was answered ${status}`);
          check((await unpaired()).length === 0, `after the repeated call (${JSON.stringify(step)}) an act or its row is alone`);
        }
      }
      return {
        kills: steps.length * 2,
        unpaired: (await unpaired()).length,
        'negative control': await withoutRow(scene, unpaired),
      };
    },
  };
}

/** Sends a call once. The same function sends it again with the same key. Resolves to the status; 0 without an answer. */
type Act = () => Promise<number>;

function putOnBlacklist(operator: Fan, fan: string): Act {
  const request = operator.request('prepare', '/ops/blacklist', { user_id: fan, reason: 'resold tickets' });
  return async () => (await operator.sendOnce(request)).status;
}

function takeOffBlacklist(operator: Fan, fan: string): Act {
  return async () => (await operator.send('DELETE', `/api/v1/ops/blacklist/${fan}`)).status;
}

/** Resolves when a process has sent the message of the step. Its connection is silent from then on. */
function trapped(proxy: TcpProxy, { isCommit, passOn }: Step): Promise<void> {
  const connections = new WeakSet<object>();
  const whenSent = (bytes: Buffer, connection: object): boolean => {
    const isRow = bytes.includes('insert-act');
    if (!isCommit) return isRow;
    if (isRow) connections.add(connection);
    return connections.has(connection) && bytes.includes('COMMIT\0');
  };
  return proxy.setTrap({ whenSent, passOn, then: 'silence' });
}

/** An act whose row is missing is found. */
async function withoutRow(scene: Scene, unpaired: () => Promise<string[]>): Promise<string> {
  const fan = randomUUID();
  await scene.rows(`insert into blacklist_changes (user_id, action, by, at) values ($1, 'lift', $1, now())`, [fan]);
  const found = (await unpaired()).includes(fan);
  await scene.rows(`delete from blacklist_changes where user_id = $1`, [fan]);
  return found ? 'found' : 'NOT FOUND';
}

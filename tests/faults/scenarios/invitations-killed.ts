import type { TcpProxy } from '#testing/tcp-proxy';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fan, Match } from '../fan.ts';
import type { Replica } from '../replica.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly people: number;
  /** At which messages of a list to kill: those of `LIST_STEPS` from this one on. */
  readonly fromStep: number;
  /** Whether to kill during reminders, too. Their task runs every 30 s. */
  readonly reminds: boolean;
}

/** A message to PostgreSQL at which the process is killed: before it is sent, or after it. */
interface Step {
  /** The name of a statement. With `isCommit` the COMMIT of the transaction that has sent it. */
  readonly statement: string;
  readonly isCommit?: boolean;
  readonly passOn: boolean;
}

const LIST_STEPS: readonly Step[] = [
  { statement: 'lock-quota', passOn: true },
  { statement: 'insert-invitations', passOn: true },
  { statement: 'add-invitation-tokens', passOn: true },
  { statement: 'insert-invitations', isCommit: true, passOn: false },
  { statement: 'insert-invitations', isCommit: true, passOn: true },
];
const REMINDER_STEPS: readonly Step[] = [
  { statement: 'mark-invitations-reminded', passOn: true },
  { statement: 'mark-invitations-reminded', isCommit: true, passOn: false },
  { statement: 'mark-invitations-reminded', isCommit: true, passOn: true },
];
const REMINDED_WITHIN_MS = 45_000;

/** Scenario F49: the only monolith is killed while it issues lists of invitations, and while it writes the reminders of them. */
export function invitationsKilled({ people, fromStep, reminds }: Sizes): Scenario {
  const steps = LIST_STEPS.slice(fromStep);
  return {
    id: 'F49',
    title: `kill -9 while lists of ${people} invitations are issued, ${steps.length} times${reminds ? ', and of its reminders' : ''}`,
    limitMs: 60_000 + steps.length * 20_000 + (reminds ? REMINDER_STEPS.length * 60_000 : 0),
    async run(scene, check) {
      for (const replica of scene.replicas.filter(({ isAlive }) => isAlive)) await replica.stop();
      const proxy = await scene.proxyTo(scene.databaseUrl);
      const start = (): Promise<Replica> => scene.start({}, { databaseUrl: proxy.url });
      let replica = await start();
      /** Waits until the process sends the message of this step, kills it there and starts another one. */
      const killAt = async (step: Step): Promise<void> => {
        await trapped(proxy, step);
        await replica.kill();
        proxy.restore();
        // The lock of the interrupted request is gone with Redis. Otherwise its key would be in use for 30 s.
        await scene.redis.flush();
        replica = await start();
      };
      const { operator, match, quotaId } = await prepare(scene, steps.length * people);
      for (const [list, step] of steps.entries()) {
        const invitations = Array.from({ length: people }, (_, n) => ({ email: `guest-${n}@example.hr`, quantity: 1 }));
        const body = { list_key: `list ${list}`, invitations };
        const killed = killAt(step);
        const { status, text } = await operator.sendUntilAnswered(
          operator.request('prepare', `/quotas/${quotaId}/invitations`, body),
        );
        await killed;
        const created = text.match(/"status":"created"/g)?.length ?? 0;
        check(status === 200 && created === people, `list ${list} was answered ${status} with ${created} invitations`);
      }
      await checkMails(scene, check, match, { invitations: steps.length * people, reminders: 0 });
      if (reminds) {
        for (const step of REMINDER_STEPS) {
          const killed = killAt(step);
          await makeRemindersDue(scene, match, people);
          await killed;
        }
        await allReminded(scene, match);
        await checkMails(scene, check, match, {
          invitations: steps.length * people,
          reminders: REMINDER_STEPS.length * people,
        });
      }
      return { lists: steps.length, kills: steps.length + (reminds ? REMINDER_STEPS.length : 0) };
    },
  };
}

/** Resolves when a process has sent the message of the step. Its connection is silent from then on. */
function trapped(proxy: TcpProxy, { statement, isCommit = false, passOn }: Step): Promise<void> {
  const connections = new WeakSet<object>();
  const whenSent = (bytes: Buffer, connection: object): boolean => {
    const isStatement = bytes.includes(statement);
    if (!isCommit) return isStatement;
    if (isStatement) connections.add(connection);
    return connections.has(connection) && bytes.includes('COMMIT\0');
  };
  return proxy.setTrap({ whenSent, passOn, then: 'silence' });
}

async function prepare(scene: Scene, quantity: number): Promise<{ operator: Fan; match: Match; quotaId: string }> {
  const match = await scene.openSale(Math.ceil(quantity / 20) + 1);
  const operator = scene.fan();
  operator.roles = 'ops';
  const body = { name: 'Sponsors', kind: 'sponsor', places: [{ quantity }] };
  const answer = await operator.sendUntilAnswered(operator.request('prepare', `/ops/matches/${match.id}/quotas`, body));
  if (answer.status !== 201) throw new Error(`the quota was not created: ${answer.text}`);
  return { operator, match, quotaId: (JSON.parse(answer.text) as { id: string }).id };
}

/** Makes the reminders of so many more invitations due. */
async function makeRemindersDue(scene: Scene, match: Match, people: number): Promise<void> {
  await scene.rows(
    `update invitations set expires_at = now() + interval '20 hours', created_at = now() - interval '3 days'
     where id in (select id from invitations where match_id = $1 and created_at > now() - interval '1 day' limit $2)`,
    [match.id, people],
  );
}

async function allReminded(scene: Scene, match: Match): Promise<void> {
  const giveUpAt = Date.now() + REMINDED_WITHIN_MS;
  const waiting = () =>
    scene.rows(
      `select from invitations where match_id = $1 and reminded_at is null and created_at < now() - interval '1 day' limit 1`,
      [match.id],
    );
  while (Date.now() < giveUpAt && (await waiting()).length > 0) await sleep(100);
}

/** Every invitation has one mail, and one reminder or none; and as many tokens as mails. No worker runs, so no mail is sent. */
async function checkMails(
  scene: Scene,
  check: Check,
  match: Match,
  expected: { readonly invitations: number; readonly reminders: number },
): Promise<void> {
  const [found] = await scene.rows<Record<string, number>>(
    `with mails as (
       select body from outbox where destination = 'email' union all select body from queued_jobs where queue = 'email'
     ), counted as (
       select i.id,
              (select count(*) from mails where body->'about'->>'invitation_id' = i.id::text and body->'payload'->'reminder' is null) as mails,
              (select count(*) from mails where body->'about'->>'invitation_id' = i.id::text and body->'payload'->'reminder' is not null) as reminders,
              (select count(*) from invitation_tokens t where t.invitation_id = i.id) as tokens
       from invitations i where i.match_id = $1
     )
     select count(*)::int as invitations, sum(mails)::int as mails, sum(reminders)::int as reminders, sum(tokens)::int as tokens,
            count(*) filter (where mails <> 1 or reminders > 1 or tokens <> mails + reminders)::int as wrong
     from counted`,
    [match.id],
  );
  const mails = expected.invitations;
  const wanted = { ...expected, mails, tokens: mails + expected.reminders, wrong: 0 };
  for (const [name, number] of Object.entries(wanted))
    check(found?.[name] === number, `${name}: ${found?.[name]} instead of ${number}`);
}

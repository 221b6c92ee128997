import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { USE_ANY_INDEX } from '../../../apps/monolith/src/purchase/quota-places/quota-places.sql.ts';
import { audit } from '../audit.ts';
import type { Fan, Match } from '../fan.ts';
import type { Request } from '../history.ts';
import type { Check, Scenario } from '../scenario.ts';
import { Scene } from '../scene.ts';

interface Sizes {
  readonly moves: number;
  readonly claims: number;
  readonly kills: number;
  /** Whether to flush Redis after each kill. Otherwise the interrupted requests get IDEMPOTENCY_KEY_IN_USE for 30 s. */
  readonly flushesRedis: boolean;
}

const SENDERS = 8;
const PLACES_A_MOVE = 2;
/** In the negative control this replaces the statement that is sent between the move of the places and its row of the ledger. */
const COMMIT = 'commit'.padEnd(USE_ANY_INDEX.length);

/** A request and the caller who sends it. */
interface Sending {
  readonly by: Fan;
  readonly request: Request;
}

/**
 * Scenario F48: an operator moves places between two quotas, and fans claim invitations, while the only monolith is killed and started
 * again. Every request is sent again with its key until it is answered. Before that, a move is killed between its places and its row of
 * the ledger. In the negative control the places have been committed by then.
 */
export function quotasKilled({ moves, claims, kills, flushesRedis }: Sizes): Scenario {
  return {
    id: 'F48',
    title: `kill -9 during ${moves} moves and ${claims} claims, ${kills} times`,
    limitMs: 60_000 + kills * 50_000,
    async run(scene, check) {
      for (const replica of scene.replicas.filter(({ isAlive }) => isAlive)) await replica.stop();
      const interrupted = await killBeforeLedger(scene, { guarded: true });
      let replica = await scene.start();
      const { status } = await interrupted.by.sendUntilAnswered(interrupted.request);
      check(status === 201, `the move that was killed before its row of the ledger was answered ${status}`);
      const control = await runUnguarded();
      check(control.rewritten > 0, 'the negative control did not commit before the row of the ledger');
      const reported = control.faults.filter((fault) => fault.startsWith('verify: quota-ledger'));
      check(reported.length > 0, `the negative control reported only: ${control.faults.join('; ')}; the scenario proves nothing`);
      const match = await scene.openSale(100);
      const operator = scene.fan();
      operator.roles = 'ops';
      const { from, to, tokens } = await prepare(scene, operator, match, { moves, claims });
      const sendings = [...Array.from({ length: moves }, (_, n) => n), ...tokens].map((item): Sending => {
        if (typeof item === 'string') {
          const fan = scene.fan();
          return { by: fan, request: fan.request('claim', '/invitations/claim', { token: item }) };
        }
        return { by: operator, request: moveRequest(operator, { from, to, reason: `move ${item}` }) };
      });
      const unsent = sendings.toSorted((a, b) => (a.request.key < b.request.key ? -1 : 1));
      let answered = 0;
      const sender = async (): Promise<void> => {
        for (let next = unsent.pop(); next; next = unsent.pop()) {
          const { status, text } = await next.by.sendUntilAnswered(next.request);
          check(status === 201, `${next.request.name} was answered ${status} ${text}`);
          answered += 1;
        }
      };
      const sending = Promise.all(Array.from({ length: SENDERS }, sender));
      for (let kill = 1; kill <= kills; kill += 1) {
        while (answered < (kill * sendings.length) / (kills + 1)) await sleep(1);
        await replica.kill();
        if (flushesRedis) await scene.redis.flush();
        replica = await scene.start();
      }
      await sending;
      await checkTables(scene, check, { from, to, moves, claims });
      return { kills, answered, ledger_faults_in_the_control: reported.length };
    },
  };
}

async function runUnguarded(): Promise<{ faults: readonly string[]; rewritten: number }> {
  const scene = await Scene.open();
  try {
    const { rewritten } = await killBeforeLedger(scene, { guarded: false });
    return { faults: (await audit(scene)).faults, rewritten };
  } finally {
    await scene.close();
  }
}

/**
 * Kills the monolith when it has moved places and sends the row of the ledger. Returns the move, which has no answer. Not guarded, the
 * row of the ledger is written in a second transaction.
 */
async function killBeforeLedger(scene: Scene, { guarded }: { guarded: boolean }): Promise<Sending & { rewritten: number }> {
  const operator = scene.fan();
  operator.roles = 'ops';
  // By another process: the rewritten statement would break the creation of quotas too, and it is sent once for each connection.
  const first = await scene.start();
  const { from, to } = await prepare(scene, operator, await scene.openSale(1), { moves: 2, claims: 1 });
  await first.stop();
  const proxy = await scene.proxyTo(scene.databaseUrl);
  if (!guarded) proxy.rewrite(USE_ANY_INDEX, COMMIT);
  const killed = await scene.start({}, { databaseUrl: proxy.url });
  const ledgerSent = proxy.setTrap({ whenSent: 'add-quota-move', passOn: false, then: 'silence' });
  const request = moveRequest(operator, { from, to, reason: 'killed before its row of the ledger' });
  const sent = operator.sendOnce(request);
  await ledgerSent;
  await killed.kill();
  await sent;
  // Otherwise the key would be in use for 30 s.
  await scene.redis.flush();
  return { by: operator, request, rewritten: proxy.rewritten };
}

function moveRequest(operator: Fan, { from, to, reason }: { from: string; to: string; reason: string }): Request {
  const body = { to, places: [{ quantity: PLACES_A_MOVE }], reason };
  return operator.request('move', `/ops/quotas/${from}/moves`, body);
}

/** Creates two quotas and an invitation for each claim, from a third one. Gives each invitation a token that the scenario knows. */
async function prepare(scene: Scene, operator: Fan, match: Match, { moves, claims }: Pick<Sizes, 'moves' | 'claims'>) {
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const { status, text } = await operator.sendUntilAnswered(operator.request('prepare', path, body));
    if (status >= 300) throw new Error(`${path} answered ${status} ${text}`);
    return JSON.parse(text) as T;
  };
  const quota = async (quantity: number): Promise<string> => {
    const body = { name: 'Torcida', kind: 'fan_group', places: [{ quantity }] };
    return (await post<{ id: string }>(`/ops/matches/${match.id}/quotas`, body)).id;
  };
  const [from, to, inviting] = [await quota(moves * PLACES_A_MOVE), await quota(1), await quota(claims)];
  const invitations = Array.from({ length: claims }, (_, n) => ({ email: `guest-${n}@example.hr`, quantity: 1 }));
  const { items } = await post<{ items: { id: string }[] }>(`/quotas/${inviting}/invitations`, { invitations });
  const tokens = items.map(() => `inv_${randomBytes(32).toString('base64url')}`);
  await scene.rows(`insert into invitation_tokens (token_hash, invitation_id) select * from unnest($1::bytea[], $2::uuid[])`, [
    tokens.map((token) => createHash('sha256').update(token).digest()),
    items.map(({ id }) => id),
  ]);
  return { from, to, tokens };
}

/** `audit` runs `verify` too, which adds up the ledger and compares each bound place with its invitation. */
async function checkTables(
  scene: Scene,
  check: Check,
  { from, to, moves, claims }: Pick<Sizes, 'moves' | 'claims'> & { from: string; to: string },
): Promise<void> {
  const count = async (sql: string, parameters: unknown[]): Promise<number> =>
    (await scene.rows<{ n: number }>(`select count(*)::int as n from ${sql}`, parameters))[0]?.n ?? 0;
  const ledger = await count('quota_moves where from_quota = $1 and to_quota = $2', [from, to]);
  check(ledger === moves, `${moves} moves were answered, the ledger has ${ledger}`);
  const reasons = await count('(select distinct reason from quota_moves where from_quota = $1) r', [from]);
  check(reasons === moves, `the ledger has ${reasons} of ${moves} reasons`);
  const moved = await count('seats where quota_id = $1', [to]);
  check(moved === moves * PLACES_A_MOVE + 1, `${moved} places are in the target of ${moves} moves`);
  const ofInvitations = 'reservations r join invitations i on i.reservation_id = r.id and i.claimed_by = r.user_id';
  const held = await count(`${ofInvitations} where r.match_id = (select match_id from quotas where id = $1)`, [to]);
  const all = await count(
    'reservations where invitation_id is not null and match_id = (select match_id from quotas where id = $1)',
    [to],
  );
  check(
    held === claims && all === claims,
    `${claims} claims were answered; ${all} reservations, ${held} of them named by invitations`,
  );
}

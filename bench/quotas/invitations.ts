import { randomUUID } from 'node:crypto';
import type { InviteAnswer } from '#contracts/invitations';
import { hashOfToken, newInvitationToken } from '../../apps/monolith/src/quota/messages/invitation-token.ts';
import type { CpuTimes } from '../instruments/cpu.ts';
import { cpuDifference, readCpu } from '../instruments/cpu.ts';
import { ClosedLoop, type LoopResult } from '../instruments/closed-loop.ts';
import { HttpConnection } from '../instruments/http-connection.ts';
import { quantile } from '../instruments/quantiles.ts';
import type { MatchToSell } from '../purchase/stadiums.ts';
import { createQuota, PLACES_PER_SECTOR, postAsOperator, type QuotaSetup } from './setup.ts';

const PARTNERS = 4;
const LIST = 500;
const QUANTITY = 2;
const FANS = 64;
/** Longer than any run: each run ends when its work is done. */
const MAX_SECONDS = 120;

/** What a run of invitations or claims measured. */
export interface RateResult {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Processor time of each invitation or claim: of the monolith and of PostgreSQL. */
  readonly cpuMicros: Pick<CpuTimes, 'service' | 'database'>;
  readonly refusals: Readonly<Record<string, number>>;
}

/** Four partners send lists of 500 people, for four quotas in turn. Two places for each person. */
export async function issueInvitations(setup: QuotaSetup, lists: number): Promise<RateResult & { readonly match: MatchToSell }> {
  const match = setup.nextMatch();
  const quotaIds: string[] = [];
  for (const sector_id of match.sectorIds.slice(0, PARTNERS))
    quotaIds.push(
      await createQuota(setup, match, [{ sector_id, quantity: Math.min(PLACES_PER_SECTOR, lists * LIST * QUANTITY) }]),
    );
  let remaining = lists;
  const result = await measured(setup, PARTNERS, async (_partner, stop) => {
    remaining -= 1;
    const quotaId = quotaIds[remaining % PARTNERS];
    if (remaining <= 0) stop();
    const invitations = Array.from({ length: LIST }, (_, n) => ({
      email: `guest-${randomUUID()}@example.com`,
      name: `Đurđica Šćepanović ${n}`,
      quantity: QUANTITY,
    }));
    const path = `/quotas/${quotaId}/invitations`;
    const { items } = await postAsOperator<InviteAnswer>(setup, path, { list_key: randomUUID(), invitations });
    const refused = items.find(({ status }) => status !== 'created');
    return refused && `${refused.status} ${refused.code} ${refused.message}`;
  });
  const perInvitation = { service: result.cpuMicros.service / LIST, database: result.cpuMicros.database / LIST };
  return { ...result, perSecond: result.perSecond * LIST, cpuMicros: perInvitation, match };
}

/** Rows per second of a COPY of all invitations into an equal, empty table. */
export async function copiedPerSecond({ database }: QuotaSetup): Promise<number> {
  const { rows } = await database.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  const file = `'${rows[0]!.folder}/invitations.copy'`;
  await database.query('drop table if exists copied; create table copied (like invitations including all)');
  const { rowCount } = await database.query(`copy invitations to ${file}`);
  const startedAt = performance.now();
  await database.query(`copy copied from ${file}`);
  return (rowCount ?? 0) / ((performance.now() - startedAt) / 1000);
}

/** 64 fans claim the invitations of the match, each another one, over connections of their own. */
export async function claimInvitations(setup: QuotaSetup, match: MatchToSell): Promise<RateResult> {
  const tokens = await tokensOf(setup, match);
  const connections = await Promise.all(Array.from({ length: FANS }, () => HttpConnection.open(setup.service.url)));
  const result = await measured(setup, FANS, async (fan, stop) => {
    const token = tokens.pop();
    if (tokens.length === 0) stop();
    if (token === undefined) return 'no invitation left';
    const headers = `x-mock-user-id: ${randomUUID()}\r\nidempotency-key: ${randomUUID().replaceAll('-', '')}\r\n`;
    const answer = await connections[fan]!.post('/api/v1/invitations/claim', headers, JSON.stringify({ token }));
    return answer.status === 201 ? undefined : `${answer.status} ${/"code":"(\w+)"/.exec(answer.body())?.[1]}`;
  });
  for (const connection of connections) connection.close();
  return result;
}

/** The tokens are in the mails only, so each invitation gets one more. */
async function tokensOf({ database }: QuotaSetup, match: MatchToSell): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(`select id from invitations where match_id = $1`, [match.id]);
  const tokens = rows.map(() => newInvitationToken());
  await database.query(
    `insert into invitation_tokens (token_hash, invitation_id) select * from unnest($1::bytea[], $2::uuid[])`,
    [tokens.map(hashOfToken), rows.map(({ id }) => id)],
  );
  return tokens;
}

async function measured(
  { servers, service }: QuotaSetup,
  callers: number,
  operation: (caller: number, stop: () => void) => Promise<string | undefined>,
): Promise<RateResult> {
  const meter = { ...servers.pids, service: [service.pid], load: [] };
  const loop: ClosedLoop = new ClosedLoop((caller) => operation(caller, () => loop.stop()));
  const [before, startedAt] = [readCpu(meter), performance.now()];
  const { done, latenciesMs, refusals }: LoopResult = await loop.run(callers, MAX_SECONDS);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = cpuDifference(before, readCpu(meter));
  return {
    perSecond: done / seconds,
    p99Ms: quantile(latenciesMs.toSorted(), 0.99),
    cpuMicros: { service: cpu.service / done, database: cpu.database / done },
    refusals,
  };
}

import { newKey, type TestAnswer } from '../../testing/test-app.ts';
import { ops, type MatchOnSale } from '../../testing/whole-monolith.ts';
import type { BoxOffice } from '../../purchase/testing/box-office.ts';

/** The options of a test's call that make a second operator its caller. */
export const secondOperator = { as: '0190a000-0000-7000-8000-00000000000b', headers: { 'x-mock-roles': 'ops' } };

/** The options of a test's call that make a partner its caller. */
export const partner = (userId: string): typeof secondOperator => ({ as: userId, headers: { 'x-mock-roles': 'partner' } });

export const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Test helper: the calls of operators about quotas. */
export class QuotaCalls {
  constructor(readonly office: BoxOffice) {}

  /** Creates a quota of 4 places of the first sector, or what `fields` say. */
  create(match: MatchOnSale, fields: object = {}, caller: typeof ops = ops): Promise<TestAnswer> {
    const places = [{ sector_id: match.sectors[0]?.id, quantity: 4 }];
    const body = { name: 'Torcida', kind: 'fan_group', places, ...fields };
    return this.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/quotas`, { ...caller, body });
  }

  /** Like `create`, but throws if the quota is not created. Returns its id. */
  async created(match: MatchOnSale, fields: object = {}): Promise<string> {
    const { status, text, json } = await this.create(match, fields);
    if (status !== 201) throw new Error(`the quota was not created: ${text}`);
    return json.id;
  }

  move(from: string, to: string, fields: object = {}, caller: typeof ops = ops): Promise<TestAnswer> {
    const body = { to, places: [{ quantity: 2 }], reason: 'asked for by phone', ...fields };
    return this.office.monolith.call('POST', `/api/v1/ops/quotas/${from}/moves`, { ...caller, body });
  }

  decide(moveId: string, decision: 'approve' | 'reject', caller: typeof ops = secondOperator): Promise<TestAnswer> {
    return this.office.monolith.call('POST', `/api/v1/ops/moves/${moveId}/${decision}`, caller);
  }

  change(quotaId: string, body: object): Promise<TestAnswer> {
    return this.office.monolith.call('PATCH', `/api/v1/ops/quotas/${quotaId}`, { ...ops, body });
  }

  /** Invites people to places of a quota: a list in JSON. */
  invite(
    quotaId: string,
    invitations: readonly object[],
    { caller = ops, key, ...settings }: { caller?: typeof ops; key?: string } & Record<string, unknown> = {},
  ): Promise<TestAnswer> {
    const call = { ...caller, ...(key ? { key } : {}), body: { invitations, ...settings } };
    return this.office.monolith.call('POST', `/api/v1/quotas/${quotaId}/invitations`, call);
  }

  /** Invites people to places of a quota: a list in CSV, with its settings as a query. */
  async inviteCsv(
    quotaId: string,
    csv: string | Buffer,
    { query = '', key = newKey(), type = 'text/csv' }: { query?: string; key?: string; type?: string } = {},
  ): Promise<TestAnswer> {
    const answer = await this.office.monolith.app.inject({
      method: 'POST',
      url: `/api/v1/quotas/${quotaId}/invitations${query}`,
      headers: { 'x-mock-user-id': ops.as, ...ops.headers, 'idempotency-key': key, 'content-type': type },
      payload: csv,
    });
    const { statusCode: status, body: text } = answer;
    return { status, text, headers: answer.headers as TestAnswer['headers'], json: JSON.parse(text) as unknown };
  }

  /** The invitations of a quota, oldest first. */
  async invitations(quotaId: string): Promise<TestAnswer['json'][]> {
    return (await this.get(`/quotas/${quotaId}/invitations?limit=100`)).json.items.reverse();
  }

  async get(path: string, caller: typeof ops = ops): Promise<TestAnswer> {
    return this.office.monolith.call('GET', `/api/v1${path}`, caller);
  }

  async quota(id: string): Promise<TestAnswer['json']> {
    return (await this.get(`/ops/quotas/${id}`)).json;
  }

  /** The ledger of a match: kind, from, to and quantity of each row; the ids as the given names. */
  async ledger(match: MatchOnSale, names: Readonly<Record<string, string>> = {}): Promise<string[]> {
    const { items } = (await this.get(`/ops/matches/${match.id}/moves?limit=100`)).json;
    const name = (owner: string): string => names[owner] ?? owner;
    return items.map(
      (row: Record<string, string>) => `${row.kind} ${row.quantity}: ${name(row.from ?? '')} → ${name(row.to ?? '')}`,
    );
  }

  /** Makes a deadline of a quota due: sets it to a time in the past, which the API refuses. */
  async setReturnDue(quotaIds: readonly string[], secondsAgo = 1): Promise<void> {
    await this.office.rows(`update quotas set return_at = now() - make_interval(secs => $2) where id = any($1::uuid[])`, [
      quotaIds,
      secondsAgo,
    ]);
  }

  /** Creates a quota and buys `quantity` of its places with SQL, as a claim and its payment would. */
  async sell(quotaId: string, quantity: number): Promise<void> {
    await this.office.rows(
      `update seats set status = 'sold', reservation_id = gen_random_uuid()
       where id in (select id from seats where quota_id = $1 and status = 'blocked' and bound_to is null order by id limit $2)`,
      [quotaId, quantity],
    );
  }
}

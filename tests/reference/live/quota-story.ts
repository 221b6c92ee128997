import { randomUUID } from 'node:crypto';
import type { BoxOffice } from '../../../apps/monolith/src/purchase/testing/box-office.ts';
import { QuotaOffice } from '../../../apps/monolith/src/purchase/testing/quota-office.ts';
import { HOUR_MS, ops, timeFromNow, type FanActions, type MatchOnSale } from './fans.ts';

const secondOperator = { as: '0190a000-0000-7000-8000-00000000000b', headers: { 'x-mock-roles': 'ops' } };

/** Calls all actions of operators and partners on quotas: creation, change, moves, approval, return and the check of a policy. */
export async function quotaStory(fans: FanActions): Promise<void> {
  const match = await fans.createMatch();
  const create = (fields: object) => {
    const body = { name: 'Torcida', kind: 'fan_group', places: [{ sector_id: match.sectors[0], quantity: 4 }], ...fields };
    return fans.request('POST', `/ops/matches/${match.id}/quotas`, { ...ops, body });
  };
  const move = (from: string, to: string, fields: object = {}) => {
    const body = { to, places: [{ quantity: 1 }], reason: 'asked for by phone', ...fields };
    return fans.request('POST', `/ops/quotas/${from}/moves`, { ...ops, body });
  };
  const member = randomUUID();
  await create({ dry_run: true });
  const visitors = await create({ kind: 'visitors', never_to: ['club'], members: [member], return_at: timeFromNow(HOUR_MS) });
  const club = await create({ kind: 'club' });
  await create({ places: [{ sector_id: match.sectors[0], quantity: 12 }] });
  await create({ kind: 'club', parent_id: visitors.id, places: [{ quantity: 1 }] });
  await move(visitors.id, 'public');
  await move(visitors.id, 'public', { places: [{ quantity: 4 }] });
  await move(visitors.id, club.id);
  for (const decision of ['approve', 'reject']) {
    const { id } = await move(visitors.id, club.id, { override: true });
    await fans.request('GET', `/ops/matches/${match.id}/moves?status=pending`, ops);
    await fans.request('POST', `/ops/moves/${id}/${decision}`, ops);
    await fans.request('POST', `/ops/moves/${id}/${decision}`, secondOperator);
    for (const again of ['approve', 'reject']) await fans.request('POST', `/ops/moves/${id}/${again}`, secondOperator);
  }
  await fans.request('PATCH', `/ops/quotas/${visitors.id}`, { ...ops, body: { name: 'Away' } });
  for (const path of ['quotas', 'quotas?limit=1', 'moves']) await fans.request('GET', `/ops/matches/${match.id}/${path}`, ops);
  await fans.request('GET', `/ops/quotas/${visitors.id}`, ops);
  const partner = { as: member, headers: { 'x-mock-roles': 'partner' } };
  await fans.request('GET', '/quotas', partner);
  await fans.request('GET', `/quotas/${visitors.id}`, partner);
  await fans.request('GET', `/quotas/${club.id}`, partner);
  await fans.request('GET', '/ops/quota-policies', ops);
  for (const policy of ['uefa-conference-league-2023-24', 'no-such-policy'])
    await fans.request('POST', `/ops/matches/${match.id}/quotas/check`, { ...ops, body: { policy } });
  await claimInClosedSale(fans, match, visitors.id);
  await fans.rows(`update quotas set status = 'returned', returned_at = now() where id = $1`, [club.id]);
  await move(visitors.id, club.id);
  await create({ parent_id: club.id, places: [{ quantity: 1 }] });
  await fans.request('PATCH', `/ops/quotas/${club.id}`, { ...ops, body: { on_return: 'keep' } });
}

/** A fan claims an invitation, and cannot check out because the sale is closed in the meantime. */
async function claimInClosedSale(fans: FanActions, match: MatchOnSale, quotaId: string): Promise<void> {
  const { app } = fans.system.monolith;
  const office = { monolith: { get: (token: never) => app.get(token, { strict: false }) }, rows: fans.rows.bind(fans) };
  const quotas = new QuotaOffice(office as unknown as BoxOffice);
  const [free] = await quotas.places.free({ matchId: match.id, quotaId });
  const invited = await quotas.invite(match as never, quotaId, [free?.seatId ?? '']);
  const held = await quotas.claimed(invited);
  await fans.changeSale(match.id, 'close');
  await fans.checkOut(held as never, held.userId);
  await fans.changeSale(match.id, 'open');
}

import { randomUUID } from 'node:crypto';
import { HOUR_MS, ops, timeFromNow, type FanActions } from './fans.ts';

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
  for (const policy of ['uefa-conference-league-2023-24', 'no-such-policy'])
    await fans.request('POST', `/ops/matches/${match.id}/quotas/check`, { ...ops, body: { policy } });
  await fans.rows(`update quotas set status = 'returned', returned_at = now() where id = $1`, [club.id]);
  await move(visitors.id, club.id);
  await create({ parent_id: club.id, places: [{ quantity: 1 }] });
  await fans.request('PATCH', `/ops/quotas/${club.id}`, { ...ops, body: { on_return: 'keep' } });
}

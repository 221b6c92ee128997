import { randomUUID } from 'node:crypto';
import { HOUR_MS, ops, timeFromNow, type FanActions } from './fans.ts';

/** A partner invites people to places of a quota, looks at the invitations and sends one again. Each call also meets its refusals. */
export async function inviteStory(fans: FanActions): Promise<void> {
  const match = await fans.createMatch();
  const member = randomUUID();
  const partner = { as: member, roles: 'partner' };
  const places = [{ sector_id: match.sectors[0], quantity: 6 }];
  const fields = { name: 'Sponsors', kind: 'sponsor', places, members: [member], claim_until: timeFromNow(HOUR_MS) };
  const { id } = await fans.request('POST', `/ops/matches/${match.id}/quotas`, { ...ops, body: fields });
  const url = `/quotas/${id}/invitations`;
  const people = [
    { email: 'ana@example.hr', name: 'Ana Anić', quantity: 2 },
    { email: 'Ana@example.hr', quantity: 1 },
    { email: 'ivo@', quantity: 1 },
    { email: 'board@example.hr', quantity: 4, note: 'board', locale: 'en' },
    { email: 'club@example.hr', quantity: 4 },
  ];
  const invite = (body: object, caller = partner) =>
    fans.request('POST', url, { ...caller, body: { invitations: people, ...body } });
  await invite({ dry_run: true, list_key: 'guests' });
  const { items } = (await invite({ list_key: 'guests' })) as unknown as { items: { id: string }[] };
  await fans.request('GET', url, partner);
  const resend = `/invitations/${items[0]?.id}/resend`;
  await fans.request('POST', resend, partner);
  await fans.rows(`update invitations set status = 'withdrawn', ended_at = now() where id = $1`, [items[0]?.id]);
  await fans.request('POST', resend, partner);
  const stranger = { as: randomUUID(), roles: 'partner' };
  await invite({}, stranger);
  await fans.request('GET', url, stranger);
  await fans.request('POST', resend, stranger);
  await fans.rows(`update quotas set status = 'returned', returned_at = now() where id = $1`, [id]);
  await invite({});
}

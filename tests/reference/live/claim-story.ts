import { randomUUID } from 'node:crypto';
import { hashOfToken, newInvitationToken } from '../../../apps/monolith/src/quota/messages/invitation-token.ts';
import { HOUR_MS, ops, timeFromNow, type FanActions } from './fans.ts';

/** Calls all actions of invited fans, and the withdrawal, with invitations in every state. */
export async function claimStory(fans: FanActions): Promise<void> {
  const match = await fans.createMatch();
  const [ana, barbara] = [randomUUID(), randomUUID()];
  const fields = { name: 'Sponsors', kind: 'sponsor', places: [{ sector_id: match.sectors[0], quantity: 8 }] };
  const quota = await fans.request('POST', `/ops/matches/${match.id}/quotas`, { ...ops, body: fields });
  const invitations = Array.from({ length: 4 }, (_, index) => ({ email: `guest${index}@example.hr`, quantity: 2 }));
  const issued = await fans.request('POST', `/quotas/${quota.id}/invitations`, { ...ops, body: { invitations } });
  const [paid, withdrawn, late, early] = await Promise.all(
    issued.items.map(async ({ id }: { id: string }) => ({ id, token: await tokenOf(fans, id) })),
  );
  const lookUp = ({ token }: { token: string }) => fans.request('POST', '/invitations/lookup', { body: { token }, key: null });
  const claim = ({ token }: { token: string }, as: string) => fans.request('POST', '/invitations/claim', { as, body: { token } });
  const withdraw = ({ id }: { id: string }) => fans.request('DELETE', `/invitations/${id}`, ops);
  await lookUp(paid);
  await fans.request('PATCH', `/ops/quotas/${quota.id}`, { ...ops, body: { price_cents: { [match.sectors[0] ?? '']: 0 } } });
  const held = await claim(paid, ana);
  await claim(paid, ana);
  await claim(paid, barbara);
  await fans.checkOut(held as never, ana);
  await withdraw(paid);
  await lookUp(paid);
  for (const again of [withdrawn, withdrawn]) await withdraw(again);
  await claim(withdrawn, ana);
  await lookUp(withdrawn);
  await fans.rows(`update invitations set expires_at = now() where id = $1`, [late.id]);
  await claim(late, ana);
  await fans.request('POST', '/ops/blacklist', { ...ops, body: { user_id: barbara, reason: 'resold tickets' } });
  await claim(early, barbara);
  const opens = { opens_at: timeFromNow(HOUR_MS), claim_until: timeFromNow(2 * HOUR_MS) };
  await fans.request('PATCH', `/ops/quotas/${quota.id}`, { ...ops, body: opens });
  await claim(early, ana);
  const unknown = { token: newInvitationToken() };
  await lookUp(unknown);
  await claim(unknown, ana);
}

/** Adds a token to the invitation. The one in its mail is stored nowhere else. */
async function tokenOf(fans: FanActions, id: string): Promise<string> {
  const token = newInvitationToken();
  await fans.rows(`insert into invitation_tokens (token_hash, invitation_id) values ($1, $2)`, [hashOfToken(token), id]);
  return token;
}

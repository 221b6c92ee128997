import { invitation } from '../testing/invitation-samples.tsx';
import { type InvitationState, invitationState } from './invitation-state.ts';

const now = Date.parse('2030-04-20T12:00:00Z');
const own = { status: 'held' as const, expires_at: '2030-04-20T12:10:00Z', seats: withPrices(invitation.seats) };
const others = { ...own, seats: withPrices([{ ...invitation.seats[0]!, seat_id: 'another' }]) };

function withPrices(seats: typeof invitation.seats) {
  return seats.map((seat) => ({ ...seat, price_cents: 2500 }));
}

test.each<[string, Parameters<typeof invitationState>[0], Parameters<typeof invitationState>[1], InvitationState]>([
  ['nobody has claimed', invitation, undefined, 'open'],
  ['that opens later', { ...invitation, opens_at: '2030-04-21T12:00:00Z' }, undefined, 'early'],
  ['that has opened', { ...invitation, opens_at: '2030-04-19T12:00:00Z' }, undefined, 'open'],
  ['somebody has claimed', { ...invitation, status: 'claimed' }, undefined, 'taken'],
  ['this browser has claimed', { ...invitation, status: 'claimed' }, own, 'mine'],
  ['this browser pays for', { ...invitation, status: 'claimed' }, { ...own, status: 'ordered' }, 'mine'],
  ['whose hold in this browser ended', invitation, { ...own, expires_at: '2030-04-20T11:59:59Z' }, 'open'],
  ['whose fan holds other seats', invitation, others, 'busy'],
  ['somebody has claimed while the fan holds other seats', { ...invitation, status: 'claimed' }, others, 'taken'],
  ['whose time is over, by the clock of the page', { ...invitation, claim_until: '2030-04-20T12:00:00Z' }, undefined, 'expired'],
  ['that is expired', { ...invitation, status: 'expired' }, own, 'expired'],
  ['that is withdrawn', { ...invitation, status: 'withdrawn' }, own, 'withdrawn'],
])('an invitation %s: %4$s', (_case, shown, reservation, state) => {
  expect(invitationState(shown, reservation, { now, isRefused: false })).toBe(state);
});

test('an invitation that was refused as claimed by another is lost, until it is open again', () => {
  const refused = { now, isRefused: true };
  expect(invitationState({ ...invitation, status: 'claimed' }, undefined, refused)).toBe('lost');
  expect(invitationState(invitation, undefined, refused)).toBe('open');
});

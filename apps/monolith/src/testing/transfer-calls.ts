import type { TestAnswer } from './test-app.ts';
import type { WholeMonolith } from './whole-monolith.ts';

/** A ticket, its owner, and the fan to whom it is offered. */
interface Given {
  readonly ticketId: string;
  readonly from: string;
  readonly to: string;
}

type Calls = Pick<WholeMonolith, 'call'>;

/** Stores the profile that the fan has, with the given changes, so that tickets can be offered to the fan. */
export async function makeKnown({ call }: Calls, userId: string, changes: object = {}): Promise<void> {
  const { json: profile } = await call('GET', '/api/v1/me', { as: userId });
  const { status, text } = await call('PUT', '/api/v1/me', { as: userId, body: { ...profile, ...changes } });
  if (status !== 200) throw new Error(`no profile: ${text}`);
}

/** Offers a ticket to a fan, who has a profile then. Throws if it is refused. */
export async function offerTicket(monolith: Calls, { ticketId, from, to }: Given): Promise<TestAnswer['json']> {
  await makeKnown(monolith, to);
  const body = { to_user_id: to, holder_name: 'A friend' };
  const { status, text, json } = await monolith.call('POST', `/api/v1/tickets/${ticketId}/transfer`, { as: from, body });
  if (status !== 202) throw new Error(`not offered: ${text}`);
  return json;
}

/** The receiver's answer to an offer. */
export const acceptOffer = ({ call }: Calls, offerId: string, as: string, body: object = {}): Promise<TestAnswer> =>
  call('POST', `/api/v1/transfers/${offerId}/accept`, { as, body });

/** Offers a ticket and lets the receiver accept it. Throws if one of them is refused. */
export async function giveTicket(monolith: Calls, given: Given): Promise<TestAnswer['json']> {
  const { id } = await offerTicket(monolith, given);
  const { status, text, json } = await acceptOffer(monolith, id, given.to);
  if (status !== 200) throw new Error(`not accepted: ${text}`);
  return json;
}

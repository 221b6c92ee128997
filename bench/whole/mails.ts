// The mails in the mailbox: how many were sent, and whether every order has exactly its mails.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { ArrivedMails } from './mail-server.ts';

/** Mails of one order: the confirmation and the tickets. */
export const MAILS_PER_ORDER = 2;
const POLL_INTERVAL_MS = 100;

async function count(client: Client, sql: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(sql);
  return Number(rows[0]?.count);
}

/** Number of mails that were sent since the database was created, with any provider. */
export const sentMails = (client: Client): Promise<number> =>
  count(client, `select count(*) from inbox where consumer = 'email' and finished_at is not null`);

/** Number of mails that all completed orders need. */
export const neededMails = async (client: Client): Promise<number> =>
  MAILS_PER_ORDER * (await count(client, `select count(*) from orders where status = 'completed'`));

/** Waits until `target` mails were sent, at most until the timeout. Resolves to the number of sent mails. */
export async function waitForMails(client: Client, target: number, timeoutMs: number): Promise<number> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const sent = await sentMails(client);
    if (sent >= target || performance.now() > giveUpAt) return sent;
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Every purchase was made by another fan, so a fan has exactly one mail of each template. */
const ORDERS_WITH_OTHER_MAILS = `
  select count(*) from orders o
  left join (
    select user_id, count(*) filter (where template = 'order_confirmation') as confirmations,
           count(*) filter (where template = 'ticket_delivery') as tickets, count(*) as mails
    from mailbox_messages where channel = 'email' group by user_id) m on m.user_id = o.user_id
  where o.status = 'completed' and (m.confirmations, m.tickets, m.mails) is distinct from (1::bigint, 1::bigint, 2::bigint)`;

const sum = ({ templates }: ArrivedMails): number => Object.values(templates).reduce((total, mails) => total + mails, 0);

/** Number of mails at the server that are too many or too few, or were sent twice. Mails of different orders have different ids. */
function wrongMails({ templates, repeated }: ArrivedMails, orders: number): number {
  const { order_confirmation = 0, ticket_delivery = 0 } = templates;
  return repeated + Math.abs(order_confirmation - orders) + Math.abs(ticket_delivery - orders);
}

/**
 * What is wrong with the mails after all were sent. Empty if every order has exactly its mails and no message is left. `arrived` are the
 * mails at the mail server; without them the mailbox is checked.
 */
export async function faultsOfMails(client: Client, arrived?: ArrivedMails): Promise<string[]> {
  const needed = await neededMails(client);
  const sent = arrived ? sum(arrived) : await count(client, `select count(*) from mailbox_messages where channel = 'email'`);
  const wrong = arrived ? wrongMails(arrived, needed / MAILS_PER_ORDER) : await count(client, ORDERS_WITH_OTHER_MAILS);
  const left = await count(client, `select count(*) from outbox where destination = 'email'`);
  return [
    ...(sent === needed ? [] : [`${needed} mails needed, ${sent} sent`]),
    ...(wrong === 0 ? [] : [`${wrong} orders or mails are wrong: each order needs exactly its two mails`]),
    ...(left === 0 ? [] : [`${left} mails are left in the outbox`]),
  ];
}

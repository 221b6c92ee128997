import { randomUUID } from 'node:crypto';
import { inject, type Answer } from '../bad-input/calls.ts';
import { newKey, PARTNER_ID, STAFF_ID, type System } from '../bad-input/system.ts';

/** Text that no row of the audit log may contain: it stands for personal data and for what operators write. */
export const SECRET = 'tajna-riječ';
export const SECRET_EMAIL = 'tajna-adresa@example.hr';

const SECOND_OPERATOR = '0190a000-0000-7000-8000-0000000000ab';
const LISTED_FAN = '0190a000-0000-7000-8000-0000000000e1';

/** A call of an operator or partner that succeeds. `changes` is what its row of the audit log says. */
export interface AuditedCall {
  readonly url: string;
  readonly body?: unknown;
  readonly as?: { readonly userId: string; readonly roles: string };
  readonly target: { readonly type: string; readonly id: unknown };
  readonly before: unknown;
  readonly after: unknown;
}

const newWebhook = { url: 'https://partner.example/events', events: ['order.completed'] };

type Send = (method: string, url: string, body?: unknown, as?: AuditedCall['as']) => Promise<Answer>;

/** Sends a call as an operator with every role, or as `as`, with a new idempotency key. */
export function sender(system: System): Send {
  return async (method, url, body, as = { userId: STAFF_ID, roles: 'ops' }) => {
    const headers = {
      ...{ 'x-mock-user-id': as.userId, 'x-mock-roles': as.roles, 'idempotency-key': newKey() },
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return inject(system.monolith, { method, url: `/api/v1${url}`, headers, ...(payload ? { payload } : {}) });
  };
}

/** Makes what the calls need: failed jobs, pending moves, invitations. Then returns a successful call of each audited route. */
export function audited(system: System): Readonly<Record<string, () => Promise<AuditedCall>>> {
  const send = sender(system);
  const { matchId, queueMatchId, quotaId, orderId, ticketId, sectorId } = system.ids;
  const made = async (method: string, url: string, body?: unknown): Promise<Record<string, unknown>> => {
    const { outcome, text } = await send(method, url, body);
    if (!outcome.startsWith('2')) throw new Error(`${method} ${url}: ${outcome} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const match = { type: 'match', id: matchId };
  const quota = { type: 'quota', id: quotaId };
  const fan = { type: 'fan', id: LISTED_FAN };
  const read = { before: null, after: null };
  const partner = { userId: PARTNER_ID, roles: 'partner' };

  const newQuota = (fields: object = {}) =>
    made('POST', `/ops/matches/${matchId}/quotas`, {
      ...{ name: SECRET, kind: 'club', places: [{ sector_id: sectorId, quantity: 2 }], ...fields },
    });
  const failedJob = async (): Promise<string> => {
    const id = randomUUID();
    await system.dataSource.query(`insert into jobs (id, class, message, failed_at) values ($1, 'refund_match', $2, now())`, [
      id,
      JSON.stringify({ email: SECRET_EMAIL }),
    ]);
    return id;
  };
  const pendingMove = async (): Promise<string> => {
    const [from, to] = [await newQuota({ never_to: ['visitors'] }), await newQuota({ kind: 'visitors' })];
    const body = { to: to.id, places: [{ quantity: 1 }], reason: SECRET, override: true };
    return String((await made('POST', `/ops/quotas/${String(from.id)}/moves`, body)).id);
  };
  const invitation = async (): Promise<string> => {
    const body = { invitations: [{ email: SECRET_EMAIL, name: SECRET, quantity: 1, note: SECRET }] };
    const { items } = await made('POST', `/quotas/${quotaId}/invitations`, body);
    return String((items as { id: string }[])[0]?.id);
  };
  const decision = (verb: string, status: string) => async (): Promise<AuditedCall> => {
    const id = await pendingMove();
    return {
      ...{ url: `/ops/moves/${id}/${verb}`, as: { userId: SECOND_OPERATOR, roles: 'ops:sale' } },
      ...{ target: { type: 'move', id }, before: { status: 'pending' }, after: expect.objectContaining({ status }) as object },
    };
  };

  const calls: Record<string, () => AuditedCall | Promise<AuditedCall>> = {
    'POST /ops/matches': () => ({
      url: '/ops/matches',
      body: {
        ...{ home: 'Hajduk', away: 'Dinamo', venue: 'Poljud', kickoff_at: '2027-06-01T18:00:00Z', currency: 'EUR' },
        ...{ max_tickets_per_fan: 4, queue_required: false },
        sectors: [{ name: 'A', kind: 'standing', price_cents: 1000, capacity: 3 }],
      },
      target: { type: 'match', id: expect.any(String) },
      before: null,
      after: expect.objectContaining({ home: 'Hajduk', kickoff_at: '2027-06-01T18:00:00.000Z', sectors: 1, places: 3 }) as object,
    }),
    'PATCH /ops/matches/:id': () => ({
      ...{ url: `/ops/matches/${matchId.toUpperCase()}`, body: { venue: 'Maksimir' }, target: match },
      ...{ before: { venue: 'Poljud' }, after: { venue: 'Maksimir' } },
    }),
    'POST /ops/matches/:id/sale': () => ({
      ...{ url: `/ops/matches/${matchId}/sale`, body: { action: 'pause', reason: SECRET }, target: match },
      before: { sale_status: 'open', pause_reason: null },
      after: { sale_status: 'paused', pause_reason: '[not recorded]' },
    }),
    'PUT /ops/matches/:id/queue': () => ({
      ...{
        url: `/ops/matches/${queueMatchId}/queue`,
        body: { processing_rate: 30 },
        target: { type: 'match', id: queueMatchId },
      },
      ...{ before: { processing_rate: 600 }, after: { processing_rate: 30 } },
    }),
    'GET /ops/orders': () => ({ url: `/ops/orders?match_id=${matchId}&q=${SECRET_EMAIL}`, target: match, ...read }),
    'POST /ops/orders/:id/refund': () => ({
      ...{ url: `/ops/orders/${orderId}/refund`, body: {}, target: { type: 'order', id: orderId } },
      before: { status: 'completed' },
      after: { status: 'refunded', refunded_tickets: [ticketId], amount_cents: 3000, currency: 'EUR' },
    }),
    'POST /ops/matches/:id/cancel': () => ({
      ...{ url: `/ops/matches/${queueMatchId}/cancel`, body: { reason: SECRET }, target: { type: 'match', id: queueMatchId } },
      before: expect.objectContaining({ sale_status: 'open', cancelled_at: null, cancel_reason: null }) as object,
      after: expect.objectContaining({ sale_status: 'closed', cancel_reason: '[not recorded]' }) as object,
    }),
    'POST /ops/blacklist': () => ({
      ...{ url: '/ops/blacklist', body: { user_id: LISTED_FAN, reason: SECRET }, target: fan },
      ...{ before: null, after: { reason: '[not recorded]', until: null } },
    }),
    'GET /ops/blacklist': () => ({ url: '/ops/blacklist', target: { type: 'fan', id: null }, ...read }),
    'GET /ops/blacklist/:user_id': () => ({ url: `/ops/blacklist/${LISTED_FAN}`, target: fan, ...read }),
    'DELETE /ops/blacklist/:user_id': () => ({
      ...{ url: `/ops/blacklist/${LISTED_FAN}`, target: fan },
      ...{ before: { reason: '[not recorded]', until: null }, after: null },
    }),
    'GET /ops/jobs': () => ({ url: '/ops/jobs?q=refund', target: { type: 'job', id: null }, ...read }),
    'POST /ops/jobs/:job_id/retry': async () => {
      const id = await failedJob();
      return {
        ...{ url: `/ops/jobs/${id}/retry`, target: { type: 'job', id } },
        ...{ before: { state: 'failed' }, after: { state: 'waiting' } },
      };
    },
    'POST /ops/jobs/retry': async () => {
      await failedJob();
      const body = { queue: 'jobs', template: 'refund_match' };
      return {
        url: '/ops/jobs/retry',
        body,
        target: { type: 'job', id: null },
        before: null,
        after: { ...body, retried: expect.any(Number) },
      };
    },
    'DELETE /ops/jobs/:job_id': async () => {
      const id = await failedJob();
      const before = { queue: 'jobs', template: 'refund_match', state: 'failed' };
      return { url: `/ops/jobs/${id}`, target: { type: 'job', id }, before, after: null };
    },
    'POST /ops/matches/:id/quotas': () => ({
      url: `/ops/matches/${matchId}/quotas`,
      body: { name: SECRET, kind: 'club', contact_email: SECRET_EMAIL, places: [{ sector_id: sectorId, quantity: 2 }] },
      target: { type: 'quota', id: expect.any(String) },
      before: null,
      after: expect.objectContaining({
        name: '[not recorded]',
        contact_email: '[not recorded]',
        kind: 'club',
        places: 2,
      }) as object,
    }),
    'PATCH /ops/quotas/:id': () => ({
      ...{ url: `/ops/quotas/${quotaId}`, body: { name: SECRET, max_per_invitation: 2 }, target: quota },
      before: { name: '[not recorded]', max_per_invitation: 4 },
      after: { name: '[not recorded]', max_per_invitation: 2 },
    }),
    'POST /ops/quotas/:id/moves': async () => {
      const id = String((await newQuota()).id);
      return {
        ...{ url: `/ops/quotas/${id}/moves`, body: { to: 'public', places: [{ quantity: 1 }], reason: SECRET } },
        ...{ target: { type: 'quota', id }, before: null },
        after: expect.objectContaining({
          from: id,
          to: 'public',
          quantity: 1,
          status: 'done',
          reason: '[not recorded]',
        }) as object,
      };
    },
    'POST /ops/moves/:id/approve': decision('approve', 'approved'),
    'POST /ops/moves/:id/reject': decision('reject', 'rejected'),
    'POST /quotas/:id/invitations': () => ({
      url: `/quotas/${quotaId}/invitations`,
      body: {
        list_key: SECRET,
        invitations: [
          { email: SECRET_EMAIL, name: SECRET, quantity: 1 },
          { email: SECRET, quantity: 1 },
        ],
      },
      ...{ as: partner, target: quota, before: null },
      after: { list_key: '[not recorded]', expires_at: null, invitation_ids: [expect.any(String)], duplicates: 0, refused: 1 },
    }),
    'GET /quotas/:id/invitations': () => ({ url: `/quotas/${quotaId}/invitations`, as: partner, target: quota, ...read }),
    'POST /invitations/:id/resend': async () => {
      const id = await invitation();
      return { url: `/invitations/${id}/resend`, as: partner, target: { type: 'invitation', id }, ...read };
    },
    'DELETE /invitations/:id': async () => {
      const id = await invitation();
      return {
        ...{ url: `/invitations/${id}`, as: partner, target: { type: 'invitation', id } },
        ...{ before: { status: 'open' }, after: { status: 'withdrawn' } },
      };
    },
    'POST /ops/webhooks': () => ({
      ...{ url: '/ops/webhooks', body: newWebhook, target: { type: 'webhook', id: expect.any(String) } },
      ...{ before: null, after: newWebhook },
    }),
    'DELETE /ops/webhooks/:id': async () => {
      const { id } = await made('POST', '/ops/webhooks', newWebhook);
      return { url: `/ops/webhooks/${String(id)}`, target: { type: 'webhook', id }, before: newWebhook, after: null };
    },
    'POST /ops/webhooks/:id/deliveries/:delivery_id/retry': async () => {
      const { id } = await made('POST', '/ops/webhooks', newWebhook);
      const deliveryId = randomUUID();
      await system.dataSource.query(
        `insert into webhook_deliveries (id, webhook_id, event_id, type, subject_id, body, created_at) values ($1, $2, $1, 'order.completed', $1, '{}', now())`,
        [deliveryId, id],
      );
      return {
        ...{ url: `/ops/webhooks/${String(id)}/deliveries/${deliveryId}/retry`, target: { type: 'webhook', id } },
        ...{ before: null, after: { delivery_id: deliveryId } },
      };
    },
    'GET /ops/audit': () => ({ url: '/ops/audit?action=refundOrder', target: { type: 'audit', id: null }, ...read }),
  };
  return Object.fromEntries(Object.entries(calls).map(([route, call]) => [route, () => Promise.resolve(call())]));
}

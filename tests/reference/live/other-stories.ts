import { randomUUID } from 'node:crypto';
import { INTERNAL_SECRET } from '../../bad-input/system.ts';
import { HOUR_MS, timeFromNow, ops, pause100Ms, type FanActions } from './fans.ts';

/** Calls all public reads of matches, and all actions of operators on matches. */
export async function matchStory(fans: FanActions): Promise<void> {
  const match = await fans.createMatch({ queue_required: true, max_open_windows: 0 });
  const direct = await fans.createMatch();
  for (const path of ['', '?limit=1', '?status=open', `/${match.id}`, `/${match.id}/sectors`, `/${match.id}/allocation`])
    await readTwice(fans, `/matches${path}`);
  const seats = `/matches/${match.id}/sectors/${match.sectors[0]}/seats`;
  const { version } = await fans.request('GET', seats);
  await fans.request('GET', `${seats}?since=${version}`);
  for (const path of [seats, `/matches/${match.id}/sectors/${match.sectors[1]}/seats`]) await readTwice(fans, path);
  await fans.client.readStreamStart('monolith', `/api/v1/matches/${match.id}/availability`);
  await fans.request('GET', '/ops/matches', ops);
  await fans.request('PATCH', `/ops/matches/${match.id}`, { ...ops, body: { venue: 'Maksimir' } });
  await fans.request('GET', `/ops/audit?action=changeMatch&target=${match.id}`, ops);
  await fans.buy(direct, randomUUID());
  for (const { id } of [match, direct]) {
    await fans.request('PUT', `/ops/matches/${id}/queue`, { ...ops, body: { processing_rate: 60 } });
    await fans.request('GET', `/ops/matches/${id}/report`, ops);
  }
  await jobActions(fans);
  for (const { id } of [direct, match])
    await fans.request('POST', `/ops/matches/${id}/cancel`, { ...ops, body: { reason: 'the pitch is under water' } });
  await fans.changeSale(direct.id, 'open');
  await fans.request('GET', `/matches/${direct.id}`);
}

/** Calls all actions of operators on webhooks. The delivery is inserted by SQL, because no partner listens here. */
export async function webhookStory(fans: FanActions): Promise<void> {
  const body = { url: 'https://partner.example/events', events: ['match.cancelled'] };
  const add = () => fans.request('POST', '/ops/webhooks', { ...ops, body });
  const { id } = await add();
  const deliveryId = randomUUID();
  await fans.rows(
    `insert into webhook_deliveries (id, webhook_id, event_id, type, subject_id, body, created_at, state)
     values ($1, $2, $1, 'match.cancelled', $1, '{}', now(), 'failed')`,
    [deliveryId, id],
  );
  await fans.request('GET', '/ops/webhooks', ops);
  await fans.request('GET', `/ops/webhooks/${id}/deliveries`, ops);
  for (const delivery of [deliveryId, randomUUID()])
    await fans.request('POST', `/ops/webhooks/${id}/deliveries/${delivery}/retry`, ops);
  const others: string[] = [];
  for (let webhooks = 2; webhooks <= 21; webhooks += 1) others.push((await add()).id);
  for (const webhook of [id, ...others]) if (webhook) await fans.request('DELETE', `/ops/webhooks/${webhook}`, ops);
  await fans.request('GET', `/ops/webhooks/${id}/deliveries`, ops);
}

/** Reads a path, and then again with the ETag of the first answer. The second answer must be 304. */
async function readTwice(fans: FanActions, path: string): Promise<void> {
  await fans.request('GET', path);
  const url = `http://127.0.0.1:${fans.system.monolith.port}/api/v1${path}`;
  const tag = await fetch(url).then(({ headers }) => headers.get('etag'));
  const { http } = await fans.request('GET', path, { headers: { 'if-none-match': tag ?? '' } });
  if (http !== 304) throw new Error(`${path} was answered ${http}`);
}

/**
 * Calls the operator actions on jobs. Retries a waiting job (refused) and a failed job (accepted). Deletes a failed job (accepted) and a
 * completed job (refused). The failed and completed jobs are inserted by SQL.
 */
async function jobActions(fans: FanActions): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const { items } = await fans.request('GET', '/ops/jobs', ops);
    if (items.length > 0) {
      await fans.request('POST', `/ops/jobs/${items[0].id}/retry`, ops);
      break;
    }
    if (attempt > 100) throw new Error('no job was written');
    await pause100Ms();
  }
  const id = randomUUID();
  const attempts = JSON.stringify([{ at: new Date().toISOString(), error: 'no answer', stack: '' }]);
  await fans.rows(
    `insert into jobs (id, class, message, attempts, transport, failed_at) values ($1, 'refund_match', '{}', $2, 'redis', now())`,
    [id, attempts],
  );
  await fans.request('GET', '/ops/jobs?state=failed', ops);
  await fans.request('GET', '/ops/jobs/counts', ops);
  await fans.request('POST', '/ops/jobs/retry', { ...ops, body: { queue: 'jobs', dry_run: true } });
  await fans.request('POST', `/ops/jobs/${id}/retry`, ops);
  const [failed, done] = [randomUUID(), randomUUID()];
  await fans.rows(
    `insert into jobs (id, class, message, attempts, transport, failed_at, done_at)
     values ($1, 'refund_match', '{}', $3, 'redis', now(), null), ($2, 'refund_match', '{}', '[]', 'redis', null, now())`,
    [failed, done, attempts],
  );
  for (const job of [failed, done]) await fans.request('DELETE', `/ops/jobs/${job}`, ops);
}

/** Calls the waiting room of a match in each state: before it opens, open, paused, sold out and closed. */
export async function lineStory(fans: FanActions): Promise<void> {
  const internal = { headers: { 'x-internal-auth': INTERNAL_SECRET } };
  const request = (method: string, path: string, options: object = {}) =>
    fans.client.request('queue', method, path, { key: null, ...options });
  const [ana, barbara, zora] = [randomUUID(), randomUUID(), randomUUID()];
  const queue = `/queue/${randomUUID()}`;
  const control = (body: object, of = queue) => request('PUT', `${of}/control`, { ...internal, body });
  const position = (as: string) => request('GET', `${queue}/position`, { as });
  const restore = (body: object, of = queue) => request('PUT', `${of}/restore`, { ...internal, body });
  await restore({ generation: 1, part: 1, complete: true });
  await restore({ generation: 1, complete: true });
  await control({ status: 'scheduled', opens_at: timeFromNow(HOUR_MS), max_open_windows: 0 });
  await request('POST', `${queue}/join`, { as: ana });
  await control({ status: 'active', opens_at: null });
  const { queue_token, receipt } = await request('POST', `${queue}/join`, { as: ana });
  await request('POST', `${queue}/join`, { as: ana, body: { receipt } });
  await request('POST', `${queue}/join`, { as: barbara, body: { receipt: 'r1' } });
  for (const as of [ana, barbara, zora]) await request('POST', `${queue}/join`, { as });
  await position(barbara);
  await fans.client.readStreamStart('queue', `/sse/${queue_token}`);
  await control({ status: 'paused', reason: 'floodlights' });
  await position(barbara);
  await request('DELETE', queue, { as: zora });
  await request('DELETE', `/queue-fans/${zora}`, internal);
  await position(zora);
  for (const options of [{}, internal]) await request('GET', `${queue}/status`, options);
  const remaining_sectors = [{ sector_id: randomUUID(), name: 'East', available: 3 }];
  await request('POST', `${queue}/sold-out`, { ...internal, body: { remaining_sectors } });
  await control({ status: 'active', max_open_windows: 1 });
  for (let attempt = 0; (await position(ana)).status !== 'granted' && attempt < 50; attempt += 1) await pause100Ms();
  await request('POST', `${queue}/windows/${ana}/complete`, { ...internal, body: {} });
  await position(ana);
  await request('POST', `${queue}/sold-out`, { ...internal, body: { remaining_sectors: [] } });
  await request('POST', `${queue}/join`, { as: zora });
  await position(barbara);
  const closed = `/queue/${randomUUID()}`;
  await restore({ complete: true }, closed);
  await control({ status: 'closed' }, closed);
  await request('POST', `${closed}/join`, { as: zora });
}

/** Calls the routes of a fan's profile and devices. */
export async function profileStory(fans: FanActions): Promise<void> {
  const as = randomUUID();
  await fans.request('PUT', '/me', { as, body: { email: 'ana@example.hr', name: 'Ana', locale: 'en' } });
  await fans.request('GET', '/me', { as });
  await fans.request('PUT', '/me/devices/phone', { as, body: { fcm_token: `token-${as}` } });
  await fans.request('GET', '/me/export', { as });
  await fans.request('DELETE', '/me/devices/phone', { as });
  await fans.request('DELETE', '/me', { as });
}

import { randomUUID } from 'node:crypto';
import { INTERNAL_SECRET } from '../../bad-input/system.ts';
import { HOUR_MS, later, ops, shortly, type Fans } from './fans.ts';

/** What anybody sees of matches, and what operators do with them. */
export async function matches(fans: Fans): Promise<void> {
  const match = await fans.match({ queue_required: true, max_open_windows: 0 });
  const direct = await fans.match();
  for (const path of ['', '?limit=1', '?status=open', `/${match.id}`, `/${match.id}/sectors`])
    await cached(fans, `/matches${path}`);
  const seats = `/matches/${match.id}/sectors/${match.sectors[0]}/seats`;
  const { version } = await fans.ask('GET', seats);
  await fans.ask('GET', `${seats}?since=${version}`);
  for (const path of [seats, `/matches/${match.id}/sectors/${match.sectors[1]}/seats`]) await cached(fans, path);
  await fans.listener.listen('monolith', `/api/v1/matches/${match.id}/availability`);
  await fans.ask('GET', '/ops/matches', ops);
  await fans.ask('PATCH', `/ops/matches/${match.id}`, { ...ops, body: { venue: 'Maksimir' } });
  await fans.order(direct, randomUUID());
  for (const { id } of [match, direct]) {
    await fans.ask('PUT', `/ops/matches/${id}/queue`, { ...ops, body: { processing_rate: 60 } });
    await fans.ask('GET', `/ops/matches/${id}/report`, ops);
  }
  await failedJob(fans);
  for (const { id } of [direct, match])
    await fans.ask('POST', `/ops/matches/${id}/cancel`, { ...ops, body: { reason: 'the pitch is under water' } });
  await fans.sale(direct.id, 'open');
  await fans.ask('GET', `/matches/${direct.id}`);
}

/** Read, and read again by its ETag. */
async function cached(fans: Fans, path: string): Promise<void> {
  await fans.ask('GET', path);
  const url = `http://127.0.0.1:${fans.system.monolith.port}/api/v1${path}`;
  const tag = await fetch(url).then(({ headers }) => headers.get('etag'));
  const { http } = await fans.ask('GET', path, { headers: { 'if-none-match': tag ?? '' } });
  if (http !== 304) throw new Error(`${path} was answered ${http}`);
}

/** One that waits, which nobody can retry; two that failed for good, of which one is dropped; one that is done, which nobody can drop. */
async function failedJob(fans: Fans): Promise<void> {
  for (let round = 0; ; round += 1) {
    const { items } = await fans.ask('GET', '/ops/jobs', ops);
    if (items.length > 0) {
      await fans.ask('POST', `/ops/jobs/${items[0].id}/retry`, ops);
      break;
    }
    if (round > 100) throw new Error('no job was written');
    await shortly();
  }
  const id = randomUUID();
  const attempts = JSON.stringify([{ at: new Date().toISOString(), error: 'no answer', stack: '' }]);
  await fans.rows(
    `insert into jobs (id, class, message, attempts, transport, failed_at) values ($1, 'refund_match', '{}', $2, 'redis', now())`,
    [id, attempts],
  );
  await fans.ask('GET', '/ops/jobs?state=failed', ops);
  await fans.ask('POST', `/ops/jobs/${id}/retry`, ops);
  const [failed, done] = [randomUUID(), randomUUID()];
  await fans.rows(
    `insert into jobs (id, class, message, attempts, transport, failed_at, done_at)
     values ($1, 'refund_match', '{}', $3, 'redis', now(), null), ($2, 'refund_match', '{}', '[]', 'redis', null, now())`,
    [failed, done, attempts],
  );
  for (const job of [failed, done]) await fans.ask('DELETE', `/ops/jobs/${job}`, ops);
}

/** The waiting room, from before it opens to its end. */
export async function line(fans: Fans): Promise<void> {
  const internal = { headers: { 'x-internal-auth': INTERNAL_SECRET } };
  const ask = (method: string, path: string, wish: object = {}) =>
    fans.listener.ask('queue', method, path, { key: null, ...wish });
  const [ana, barbara, zora] = [randomUUID(), randomUUID(), randomUUID()];
  const queue = `/queue/${randomUUID()}`;
  const control = (body: object, of = queue) => ask('PUT', `${of}/control`, { ...internal, body });
  const position = (as: string) => ask('GET', `${queue}/position`, { as });
  const restore = (body: object, of = queue) => ask('PUT', `${of}/restore`, { ...internal, body });
  await restore({ generation: 1, part: 1, complete: true });
  await restore({ generation: 1, complete: true });
  await control({ status: 'scheduled', opens_at: later(HOUR_MS), max_open_windows: 0 });
  await ask('POST', `${queue}/join`, { as: ana });
  await control({ status: 'active', opens_at: null });
  const { queue_token } = await ask('POST', `${queue}/join`, { as: ana });
  await ask('POST', `${queue}/join`, { as: barbara, body: { receipt: 'r1' } });
  for (const as of [ana, barbara, zora]) await ask('POST', `${queue}/join`, { as });
  await position(barbara);
  await fans.listener.listen('queue', `/sse/${queue_token}`);
  await control({ status: 'paused', reason: 'floodlights' });
  await position(barbara);
  await ask('DELETE', queue, { as: zora });
  await position(zora);
  for (const wish of [{}, internal]) await ask('GET', `${queue}/status`, wish);
  const remaining_sectors = [{ sector_id: randomUUID(), name: 'East', available: 3 }];
  await ask('POST', `${queue}/sold-out`, { ...internal, body: { remaining_sectors } });
  await control({ status: 'active', max_open_windows: 1 });
  for (let round = 0; (await position(ana)).status !== 'granted' && round < 50; round += 1) await shortly();
  await ask('POST', `${queue}/windows/${ana}/complete`, { ...internal, body: {} });
  await position(ana);
  await ask('POST', `${queue}/sold-out`, { ...internal, body: { remaining_sectors: [] } });
  await ask('POST', `${queue}/join`, { as: zora });
  await position(barbara);
  const closed = `/queue/${randomUUID()}`;
  await restore({ complete: true }, closed);
  await control({ status: 'closed' }, closed);
  await ask('POST', `${closed}/join`, { as: zora });
}

export async function profile(fans: Fans): Promise<void> {
  const as = randomUUID();
  await fans.ask('PUT', '/me', { as, body: { email: 'ana@example.hr', name: 'Ana', locale: 'en' } });
  await fans.ask('GET', '/me', { as });
  await fans.ask('PUT', '/me/devices/phone', { as, body: { fcm_token: `token-${as}` } });
  await fans.ask('DELETE', '/me/devices/phone', { as });
}

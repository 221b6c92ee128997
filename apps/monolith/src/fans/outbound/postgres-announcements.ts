import { MOST_DEVICES_A_JOB, type BroadcastJob } from '#contracts/queue-jobs';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import { inside } from '#platform/postgres/transaction';
import { Announcements, type Announced, type Announcement, type Locale } from '../fans.api.ts';

const LOCALES: readonly Locale[] = ['hr', 'en'];

/**
 * One notification to very many fans: their devices are written down once, language by language, and each job carries a range
 * of at most 500 of them. 100,000 devices are some 200 rows in the outbox and 200 jobs, not 100,000.
 */
export class PostgresAnnouncements extends Announcements {
  constructor(
    private readonly outbox: Outbox,
    private readonly now: () => Date = () => new Date(),
  ) {
    super();
  }

  async announce(tx: Transaction, announcement: Announcement): Promise<Announced> {
    const id = newId();
    const postgres = inside(tx);
    await postgres.rows('insert into broadcasts (id, template, devices) values ($1, $2, 0)', [id, announcement.template]);
    const jobs: OutboxMessage[] = [];
    let devices = 0;
    for (const locale of LOCALES) {
      const [written] = await postgres.rows<{ count: number }>(
        `with written as (
           insert into broadcast_devices (broadcast_id, ordinal, fcm_token)
           select $1, $2 - 1 + row_number() over (order by devices.user_id, device_id), fcm_token
           from devices left join fans on fans.user_id = devices.user_id
           where devices.user_id = any($3::uuid[]) and coalesce(fans.locale, 'hr') = $4
           returning 1
         ) select count(*)::int as count from written`,
        [id, devices, announcement.userIds, locale],
      );
      const end = devices + (written?.count ?? 0);
      for (let from = devices; from < end; from += MOST_DEVICES_A_JOB) {
        const range = { from, to: Math.min(end, from + MOST_DEVICES_A_JOB) };
        jobs.push(this.job(announcement, locale, { broadcast_id: id, range }));
      }
      devices = end;
    }
    await postgres.rows('update broadcasts set devices = $2 where id = $1', [id, devices]);
    await this.outbox.append(tx, jobs);
    return { id, devices, jobs: jobs.length };
  }

  private job(
    { template, texts, data, usefulUntil, event }: Announcement,
    locale: Locale,
    part: Pick<BroadcastJob, 'broadcast_id' | 'range'>,
  ): OutboxMessage {
    const id = newId();
    const body: BroadcastJob = {
      job_id: id,
      created_at: this.now().toISOString(),
      attempts: 0,
      max_attempts: 3,
      type: 'push',
      template,
      payload: { ...texts[locale], data: { ...data } },
      priority: 'normal',
      ...(usefulUntil ? { useful_until: usefulUntil.toISOString() } : {}),
      ...part,
    };
    return { id, destination: 'push', event, body };
  }
}

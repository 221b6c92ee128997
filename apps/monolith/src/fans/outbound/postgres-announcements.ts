import { MOST_DEVICES_A_JOB, type BroadcastJob } from '#contracts/queue-jobs';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import {
  Announcements,
  type Announced,
  type AnnouncedDevice,
  type Announcement,
  type DevicesByLocale,
  type Locale,
} from '../fans.api.ts';

const LOCALES: readonly Locale[] = ['hr', 'en'];

/**
 * One notification to very many fans: their devices are written down once, language by language, and each job carries a range
 * of at most 500 of them. 100,000 devices are some 200 rows in the outbox and 200 jobs, not 100,000.
 */
export class PostgresAnnouncements extends Announcements {
  constructor(
    private readonly dataSource: DataSource,
    private readonly outbox: Outbox,
    private readonly now: () => Date = () => new Date(),
  ) {
    super();
  }

  async devicesOf(userIds: readonly string[]): Promise<DevicesByLocale> {
    const rows = await this.dataSource.query<{ locale: Locale; tokens: string[] }[]>(
      `select coalesce(fans.locale, 'hr') as locale, array_agg(fcm_token order by devices.user_id, device_id) as tokens
       from devices left join fans on fans.user_id = devices.user_id where devices.user_id = any($1::uuid[]) group by 1`,
      [userIds],
    );
    const tokensIn = (locale: Locale): string[] => rows.find((row) => row.locale === locale)?.tokens ?? [];
    return { hr: tokensIn('hr'), en: tokensIn('en') };
  }

  /** A walk through a few hundred thousand tokens, for a person who asks: an index would cost every announcement. */
  devicesIn(userId: string): Promise<AnnouncedDevice[]> {
    return this.dataSource.query(
      `select broadcast_id as "broadcastId", ordinal from broadcast_devices
       where fcm_token in (select fcm_token from devices where user_id = $1)
         and broadcast_id in (select id from broadcasts where created_at > now() - interval '30 days')`,
      [userId],
    );
  }

  async announce(tx: Transaction, announcement: Announcement): Promise<Announced> {
    const id = newId();
    const postgres = inside(tx);
    const total = LOCALES.reduce((sum, locale) => sum + announcement.devices[locale].length, 0);
    if (total === 0) return { id, devices: 0, jobs: 0 };
    await postgres.rows('insert into broadcasts (id, template, devices) values ($1, $2, $3)', [id, announcement.template, total]);
    const jobs: OutboxMessage[] = [];
    let devices = 0;
    for (const locale of LOCALES) {
      const tokens = announcement.devices[locale];
      const series = newId();
      await postgres.rows(
        `insert into broadcast_devices (broadcast_id, ordinal, fcm_token)
         select $1, $2::int - 1 + place, token from unnest($3::text[]) with ordinality as asked (token, place)`,
        [id, devices, tokens],
      );
      const end = devices + tokens.length;
      for (let from = devices; from < end; from += MOST_DEVICES_A_JOB) {
        const range = { from, to: Math.min(end, from + MOST_DEVICES_A_JOB) };
        jobs.push({ ...this.job(announcement, locale, { broadcast_id: id, range }), series });
      }
      devices = end;
    }
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

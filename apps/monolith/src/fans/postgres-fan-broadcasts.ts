import { MAX_DEVICES_PER_JOB, type BroadcastJob } from '#contracts/queue-jobs';
import { Outbox, type OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import { inside } from '#platform/postgres/transaction';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import {
  FanBroadcasts,
  type CreatedBroadcast,
  type BroadcastDevice,
  type NewBroadcast,
  type DevicesByLocale,
  type Locale,
} from './fans.api.ts';

const LOCALES: readonly Locale[] = ['hr', 'en'];

/**
 * Stores broadcasts: one push to many fans. The devices of a broadcast are stored once, sorted by language, and each job covers a
 * range of at most 500 devices. So 100,000 devices need about 200 outbox rows and 200 jobs, not 100,000.
 */
@Injectable()
export class PostgresFanBroadcasts extends FanBroadcasts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly outbox: Outbox,
    @Inject(CONFIG) private readonly config: Pick<MonolithConfig, 'PUSH_PROVIDER'>,
  ) {
    super();
  }

  async devicesOf(userIds: readonly string[]): Promise<DevicesByLocale> {
    if (this.config.PUSH_PROVIDER === 'none') return { hr: [], en: [] };
    const rows = await this.dataSource.query<{ locale: Locale; tokens: string[] }[]>(
      `select coalesce(fans.locale, 'hr') as locale, array_agg(fcm_token order by devices.user_id, device_id) as tokens
       from devices left join fans on fans.user_id = devices.user_id where devices.user_id = any($1::uuid[]) group by 1`,
      [userIds],
    );
    const tokensIn = (locale: Locale): string[] => rows.find((row) => row.locale === locale)?.tokens ?? [];
    return { hr: tokensIn('hr'), en: tokensIn('en') };
  }

  /**
   * Scans a few hundred thousand rows. There is no index, because only operators use this query and every broadcast would have to
   * maintain the index.
   */
  devicesIn(userId: string): Promise<BroadcastDevice[]> {
    return this.dataSource.query(
      `select broadcast_id as "broadcastId", ordinal from broadcast_devices
       where fcm_token in (select fcm_token from devices where user_id = $1)
         and broadcast_id in (select id from broadcasts where created_at > now() - interval '30 days')`,
      [userId],
    );
  }

  async create(tx: Transaction, broadcast: NewBroadcast): Promise<CreatedBroadcast> {
    const id = newId();
    const postgres = inside(tx);
    const total = LOCALES.reduce((sum, locale) => sum + broadcast.devices[locale].length, 0);
    if (total === 0) return { id, devices: 0, jobs: 0 };
    await postgres.rows('insert into broadcasts (id, template, devices) values ($1, $2, $3)', [id, broadcast.template, total]);
    const jobs: OutboxMessage[] = [];
    let devices = 0;
    for (const locale of LOCALES) {
      const tokens = broadcast.devices[locale];
      const series = newId();
      await postgres.rows(
        `insert into broadcast_devices (broadcast_id, ordinal, fcm_token)
         select $1, $2::int - 1 + n, token from unnest($3::text[]) with ordinality as given (token, n)`,
        [id, devices, tokens],
      );
      const end = devices + tokens.length;
      for (let from = devices; from < end; from += MAX_DEVICES_PER_JOB) {
        const range = { from, to: Math.min(end, from + MAX_DEVICES_PER_JOB) };
        jobs.push({ ...this.job(broadcast, locale, { broadcast_id: id, range }), series });
      }
      devices = end;
    }
    await this.outbox.append(tx, jobs);
    return { id, devices, jobs: jobs.length };
  }

  private job(
    { template, texts, data, usefulUntil, event }: NewBroadcast,
    locale: Locale,
    devices: Pick<BroadcastJob, 'broadcast_id' | 'range'>,
  ): OutboxMessage {
    const id = newId();
    const body: BroadcastJob = {
      job_id: id,
      created_at: new Date().toISOString(),
      attempts: 0,
      max_attempts: 3,
      type: 'push',
      template,
      payload: { ...texts[locale], data: { ...data } },
      priority: 'normal',
      ...(usefulUntil ? { useful_until: usefulUntil.toISOString() } : {}),
      ...devices,
    };
    return { id, destination: 'push', event, body };
  }
}

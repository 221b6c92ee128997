import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Quota } from '../tree/quota.ts';
import * as sql from './messages.sql.ts';

/** A notice of a return to come. */
export interface DueNotice {
  readonly quotaId: string;
  readonly notice: 'week' | 'day';
}

/** The notices about returns of quotas: which are due, and which were planned. */
@Injectable()
export class PostgresNotices {
  constructor(private readonly dataSource: DataSource) {}

  async due(): Promise<readonly DueNotice[]> {
    return this.dataSource.query<DueNotice[]>(sql.DUE_NOTICES);
  }

  /** Marks a notice as planned. Returns its quota; undefined if it was planned before, or is not due any more. */
  async plan(tx: Transaction, notice: DueNotice): Promise<Quota | undefined> {
    return (await inside(tx).rows<Quota>(sql.PLAN_NOTICE.with(notice)))[0];
  }

  /** Marks the notice of a return as planned. False if it was planned before. */
  async planReturned(tx: Transaction, quotaId: string, returnAt: Date): Promise<boolean> {
    return (await inside(tx).rows(sql.PLAN_RETURNED_NOTICE.with({ quotaId, returnAt }))).length > 0;
  }
}

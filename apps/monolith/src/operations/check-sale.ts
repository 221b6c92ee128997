import type { SaleStatus } from '#domain/catalog/sale';
import { saleStatusAfterSeats } from '#domain/catalog/sale-changes';
import type { CatalogMatch } from '../catalog/catalog.api.ts';
import type { PurchaseApi, SeatsLeft } from '../purchase/purchase.api.ts';
import type { EndOrReopenSale } from './end-or-reopen-sale.ts';
import type { ReportRemainingSeats, SentReport } from './report-remaining-seats.ts';

/** What one check of a sale found, and what it told the waiting room. */
export interface SaleCheckResult {
  readonly status: SaleStatus;
  readonly remaining: SeatsLeft;
  /** What the waiting room knows now. Empty if the next check must tell it everything again. */
  readonly sent: SentReport;
  /** The error, if the waiting room could not be reached. */
  readonly failure?: unknown;
}

/** Checks one sale: ends it if it is sold out, reopens it if seats came back, and tells the waiting room which seats remain. */
export class CheckSale {
  constructor(
    private readonly purchase: PurchaseApi,
    private readonly endOrReopenSale: EndOrReopenSale,
    private readonly reportRemainingSeats: ReportRemainingSeats,
  ) {}

  /** `lastSent` is what the waiting room was told last. Undefined: do not call the waiting room this time. */
  async execute(match: CatalogMatch, lastSent: SentReport | undefined): Promise<SaleCheckResult> {
    const remaining = await this.purchase.seatsLeft(match.id);
    const hasSeats = remaining.free + remaining.held > 0;
    const isUpToDate = saleStatusAfterSeats(match.saleStatus, hasSeats) === match.saleStatus;
    const status = isUpToDate ? match.saleStatus : ((await this.endOrReopenSale.execute(match.id)) ?? match.saleStatus);
    if (!match.queueRequired || !lastSent || status === 'sold_out' || status === 'closed') return { status, remaining, sent: {} };
    try {
      return { status, remaining, sent: await this.reportRemainingSeats.execute(match.id, remaining, lastSent) };
    } catch (failure) {
      return { status, remaining, sent: {}, failure };
    }
  }
}

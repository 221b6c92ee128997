import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { EndOffers } from './end-offers.ts';

/** Writes the end of offers whose time is over. They cannot be accepted from that time on, whether this has run or not. */
@Injectable()
export class OfferDeadlines {
  constructor(endOffers: EndOffers, tasks: PeriodicTasks) {
    const does = 'Ends offers of tickets whose time is over, and tells their givers.';
    tasks.add({ name: 'offers of tickets', everyMs: 10_000, does }, () => endOffers.expireDue());
  }
}

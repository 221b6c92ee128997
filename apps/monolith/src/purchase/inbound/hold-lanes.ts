import { Lanes } from '#platform/limits/lanes';

/** Enough to keep 2 cores busy; the rest of a pool of 24 connections is for everybody else. Waiting: some 20 s of work. */
export class HoldLanes extends Lanes {
  constructor() {
    super(8, 2000);
  }
}

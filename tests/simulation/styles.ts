/** What kind of day it is: chance alone would rarely bring everybody to the same place at the same moment. */
export interface Style {
  readonly name: string;
  readonly mostFans: number;
  /** How often a fan wants seats. */
  readonly visits: readonly number[];
  /** That a fan waits with the next visit until the last one is over. */
  readonly oneByOne: number;
  readonly queue: number;
  /** That a fan comes back exactly when the hold ends, or a millisecond before or after. */
  readonly lastMoment: number;
  /** When they come back, counted from the end of the hold. */
  readonly backAt: readonly number[];
  /** That a fan goes for more seats while paying for the first, or as soon as their hold is over. */
  readonly greed: number;
  /** That a fan pays what was checked out. */
  readonly pays: number;
  /** That the clock moves between two steps, at most. */
  readonly clock: number;
  /** That of the things that happen around the fans one is a sweeper. */
  readonly sweeps: number;
  /** That it is a replica that stops for a moment. */
  readonly freezes: number;
  /** That the provider refuses an intent; where it may, the standing places cost nothing, too. */
  readonly refuses?: number;
}

const ANY = [-1, -1, 0, 1, 1000];

export const STYLES: readonly Style[] = [
  {
    name: 'any day',
    mostFans: 5,
    visits: [1, 1, 2],
    oneByOne: 0.6,
    queue: 0.5,
    lastMoment: 0.4,
    backAt: ANY,
    greed: 0.1,
    pays: 0.85,
    clock: 0.1,
    sweeps: 0.3,
    freezes: 0.08,
  },
  {
    name: 'everybody at once',
    mostFans: 6,
    visits: [1, 2],
    oneByOne: 0,
    queue: 0.3,
    lastMoment: 0,
    backAt: ANY,
    greed: 0.1,
    pays: 0.85,
    clock: 0.03,
    sweeps: 0.1,
    freezes: 0.08,
  },
  {
    name: 'the last millisecond',
    mostFans: 3,
    visits: [1],
    oneByOne: 0.5,
    queue: 0.1,
    lastMoment: 0.9,
    backAt: [-1, -1, -1, 0],
    greed: 0.8,
    pays: 0.75,
    clock: 0.25,
    sweeps: 0.5,
    freezes: 0.3,
  },
  {
    name: 'much in one turn',
    mostFans: 3,
    visits: [1, 2],
    oneByOne: 0.2,
    queue: 1,
    lastMoment: 0.3,
    backAt: ANY,
    greed: 0.8,
    pays: 0.85,
    clock: 0.1,
    sweeps: 0.3,
    freezes: 0.08,
  },
];

/** A day of its own, which chance does not choose: the provider refuses intents, and one sector costs nothing. */
export const REFUSED_AND_FREE: Style = {
  name: 'refused and free',
  mostFans: 4,
  visits: [1, 2],
  oneByOne: 0.3,
  queue: 0.5,
  lastMoment: 0.3,
  backAt: ANY,
  greed: 0.3,
  pays: 0.85,
  clock: 0.1,
  sweeps: 0.3,
  freezes: 0.08,
  refuses: 0.4,
};

/**
 * The behaviour of fans and replicas in a simulated sale. Each style makes some conflicts more likely, which pure chance would rarely
 * cause.
 */
export interface Style {
  readonly name: string;
  readonly maxFans: number;
  /** Possible numbers of purchases of a fan. One is chosen at random for each fan. */
  readonly visitCounts: readonly number[];
  /** Probability that a fan starts the next purchase only after the previous one is finished. */
  readonly waitsForPreviousVisit: number;
  /** Probability that the match has a waiting room. */
  readonly queue: number;
  /** Probability that a fan continues around the expiry of the hold, at one of `returnOffsetsMs`. */
  readonly lastMoment: number;
  /** The time at which a fan continues, relative to the expiry of the hold. */
  readonly returnOffsetsMs: readonly number[];
  /** Probability that a fan holds more seats while paying for the first hold, or as soon as the first hold expires. */
  readonly holdsMore: number;
  /** Probability that a fan pays the order. */
  readonly pays: number;
  /** Each sale chooses at random how probably the simulated clock moves between two steps: from 0 up to this probability. */
  readonly clock: number;
  /** Probability that a background event is a run of the expiry sweeper. */
  readonly sweeps: number;
  /** Probability that a background event is a replica that freezes for a moment. */
  readonly freezes: number;
  /** Probability that the provider refuses a payment intent. If set, the standing places are free of charge. */
  readonly refuses?: number;
  /** True if operators and partners divide the places into quotas, and fans claim invitations. */
  readonly quotas?: boolean;
}

const ANY_OFFSET_MS = [-1, -1, 0, 1, 1000];

/** The styles from which the seed of a simulated sale chooses. */
export const STYLES: readonly Style[] = [
  {
    name: 'any day',
    maxFans: 5,
    visitCounts: [1, 1, 2],
    waitsForPreviousVisit: 0.6,
    queue: 0.5,
    lastMoment: 0.4,
    returnOffsetsMs: ANY_OFFSET_MS,
    holdsMore: 0.1,
    pays: 0.85,
    clock: 0.1,
    sweeps: 0.3,
    freezes: 0.08,
  },
  {
    name: 'everybody at once',
    maxFans: 6,
    visitCounts: [1, 2],
    waitsForPreviousVisit: 0,
    queue: 0.3,
    lastMoment: 0,
    returnOffsetsMs: ANY_OFFSET_MS,
    holdsMore: 0.1,
    pays: 0.85,
    clock: 0.03,
    sweeps: 0.1,
    freezes: 0.08,
  },
  {
    name: 'the last millisecond',
    maxFans: 3,
    visitCounts: [1],
    waitsForPreviousVisit: 0.5,
    queue: 0.1,
    lastMoment: 0.9,
    returnOffsetsMs: [-1, -1, -1, 0],
    holdsMore: 0.8,
    pays: 0.75,
    clock: 0.25,
    sweeps: 0.5,
    freezes: 0.3,
  },
  {
    name: 'much in one turn',
    maxFans: 3,
    visitCounts: [1, 2],
    waitsForPreviousVisit: 0.2,
    queue: 1,
    lastMoment: 0.3,
    returnOffsetsMs: ANY_OFFSET_MS,
    holdsMore: 0.8,
    pays: 0.85,
    clock: 0.1,
    sweeps: 0.3,
    freezes: 0.08,
  },
];

/** A style that a seed never chooses, for refused-and-free.test.ts: the provider refuses intents, and one sector is free of charge. */
export const REFUSED_AND_FREE: Style = {
  name: 'refused and free',
  maxFans: 4,
  visitCounts: [1, 2],
  waitsForPreviousVisit: 0.3,
  queue: 0.5,
  lastMoment: 0.3,
  returnOffsetsMs: ANY_OFFSET_MS,
  holdsMore: 0.3,
  pays: 0.85,
  clock: 0.1,
  sweeps: 0.3,
  freezes: 0.08,
  refuses: 0.4,
};

/** A style that a seed never chooses, for hold-cooldown.test.ts: fans hold seats again and again and rarely pay. */
export const RARELY_PAID: Style = {
  name: 'rarely paid',
  maxFans: 3,
  visitCounts: [5, 8],
  waitsForPreviousVisit: 0.85,
  queue: 0,
  lastMoment: 0.9,
  returnOffsetsMs: [0, 0, 1],
  holdsMore: 0.1,
  pays: 0.1,
  clock: 0.3,
  sweeps: 0.5,
  freezes: 0.1,
};

/** A style that a seed never chooses, for quotas.test.ts: places belong to quotas, and fans claim invitations to them. */
export const QUOTAS: Style = {
  name: 'quotas',
  maxFans: 3,
  visitCounts: [1, 1, 2],
  waitsForPreviousVisit: 0.5,
  queue: 0.2,
  lastMoment: 0.4,
  returnOffsetsMs: ANY_OFFSET_MS,
  holdsMore: 0.1,
  pays: 0.75,
  clock: 0.12,
  sweeps: 0.15,
  freezes: 0.08,
  quotas: true,
};

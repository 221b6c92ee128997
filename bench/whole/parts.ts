// The parts of the started system whose processor time is measured, and the arithmetic with these times.

/** A part of the system: a process, or in PostgreSQL all backends of one kind of client. */
export const parts = [
  'monolith',
  'queue service',
  'worker',
  'PostgreSQL',
  'of it for the worker',
  'Redis',
  'mail server',
  'buyers',
] as const;
/** The name of one part. `of it for the worker` is contained in `PostgreSQL`. */
export type Part = (typeof parts)[number];

/** Microseconds of processor time by part. */
export type PartTimes = Readonly<Record<Part, number>>;

const mapParts = (value: (part: Part) => number): PartTimes =>
  Object.fromEntries(parts.map((part) => [part, value(part)])) as Record<Part, number>;

/** The processor time of each part between two readings, for one of `count` purchases or mails. */
export function timesPerPiece(before: PartTimes, after: PartTimes, count: number): PartTimes {
  return mapParts((part) => (after[part] - before[part]) / count);
}

/** The processor time of a mail: worker, PostgreSQL and Redis together. Everything else is idle while mails are drained. */
export function costOfMail(times: PartTimes): number {
  return times.worker + times.PostgreSQL + times.Redis;
}

/** The processor time of a purchase in all parts of the system, without the buyers and the mail server. */
export function costOfPurchase(times: PartTimes): number {
  return times.monolith + times['queue service'] + times.worker + times.PostgreSQL + times.Redis;
}

/** The median of several measurements, part by part. */
export function mergeTimes(times: readonly PartTimes[], merge: (values: number[]) => number): PartTimes {
  return mapParts((part) => merge(times.map((time) => time[part])));
}

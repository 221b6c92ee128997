import { median } from '../instruments/quantiles.ts';
import { markdownTable } from '../instruments/markdown-table.ts';

/** One figure of the report, with a value for each round. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  /** The lowest accepted value; the highest one if `isCost`. A figure without it is only reported. */
  readonly floor: number | undefined;
  /** True if less is better. */
  readonly isCost: boolean;
  readonly values: number[];
  /** What the last round measured, in full. */
  detail: string;
}

const atLeast = (what: string, unit: string, floor?: number): Figure => ({
  ...{ what, unit, floor, isCost: false, values: [], detail: '' },
});
const atMost = (what: string, unit: string, floor?: number): Figure => ({ ...atLeast(what, unit, floor), isCost: true });

/** The figures of bench:quotas. */
export const figures = {
  issued: atLeast('invitations issued/s, in lists of 500', '× pgbench', 0.15),
  issuedToCopy: atLeast('the same against COPY of the same rows', '× COPY'),
  claimed: atLeast('claims/s of 64 fans', '× pgbench', 0.1),
  returned: atMost('20 quotas of 400 places return at a deadline, under a sale', 's', 2),
  buyersAtReturn: atMost("buyers' p99 while they return", '× their p99 before', 1.5),
  toQuota: atMost('8,000 places move to another quota, under a sale', 's', 2),
  toPublic: atMost('8,000 places move to the public, under a sale', 's', 2),
  fromPublic: atMost('8,000 places move from the public to a new quota, under a sale', 's', 2),
  lockTimeouts: atMost('LOCK_TIMEOUT for buyers during these moves', '', 0),
};

export const short = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

/** True if the figure has no floor or its median meets it. */
export function meetsFloor({ floor, isCost, values }: Figure): boolean {
  return floor === undefined || (isCost ? median(values) <= floor : median(values) >= floor);
}

export function figureTable(measured: readonly Figure[]): string {
  const rows = measured.map((figure) => [
    ...[figure.what, `${short(median(figure.values))} ${figure.unit}`.trim(), figure.values.map(short).join(' ')],
    figure.floor === undefined ? '' : `${figure.isCost ? '≤' : '≥'} ${figure.floor}`,
    figure.floor === undefined ? '' : meetsFloor(figure) ? 'floor met' : 'BELOW FLOOR',
    figure.detail,
  ]);
  return markdownTable(['figure', 'measured', 'rounds', 'floor', '', 'last round'], rows);
}

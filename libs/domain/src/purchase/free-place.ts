/** A free place, as far as memory knows. */
export interface FreePlace {
  readonly seatId: string;
  readonly rowIndex: number;
  /** Null for standing. */
  readonly number: number | null;
  readonly rank: number;
}

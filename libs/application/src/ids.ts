/** Generates ids: UUID v7, so ids sort by creation time. */
export abstract class Ids {
  abstract next(): string;
}

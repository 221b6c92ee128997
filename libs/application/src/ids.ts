/** Generates ids for new rows: UUIDs of version 7, which sort by creation time. */
export abstract class Ids {
  abstract next(): string;
}

/** Where new identities come from: UUID v7, so that they sort by birth. */
export abstract class Ids {
  abstract next(): string;
}

/**
 * The text of a body in CSV, unparsed. A class of its own, so that no JSON body looks like it. The idempotency key compares all of
 * its text.
 */
export class CsvBody {
  constructor(readonly text: string) {}
}

/**
 * Receives the provider's payment events that the event loader fetched. An event that also arrives by webhook takes effect only
 * once.
 */
export abstract class PaymentReportsApi {
  /** `event` has the format of the provider's event list. Throws `RequestRefused` if it is not a valid event. */
  abstract apply(event: unknown): Promise<void>;
}

/** For who brings the provider's events another way than its webhook: the same event by both ways takes effect once. */
export abstract class PaymentReportsApi {
  /** An event as the provider's list of events has it. Throws `RequestRefused` for what is no event. */
  abstract hear(event: unknown): Promise<void>;
}

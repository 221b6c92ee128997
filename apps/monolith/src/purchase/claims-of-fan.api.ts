/** A reservation that a claim of an invitation made. */
export interface ClaimOfFan {
  /** Id of the reservation. */
  readonly id: string;
  readonly invitationId: string;
}

/** Lists the claims of invitations that a fan made, newest first, older than the reservation `before`. */
export abstract class ClaimsOfFan {
  abstract page(userId: string, before: string | undefined, limit: number): Promise<readonly ClaimOfFan[]>;
}

import { StateNeeded, type WaitingLines } from './ports.ts';

/** Takes a fan, who erases everything, out of the lines of all matches, and ends all turns of the fan. Safe to repeat. */
export class ForgetFan {
  constructor(private readonly lines: WaitingLines) {}

  /** Throws StateNeeded if Redis does not know the state of some match. The fan is out of all other lines then. */
  async execute(userId: string): Promise<void> {
    let withoutState: StateNeeded | undefined;
    for (const matchId of await this.lines.matches()) {
      try {
        await this.lines.forget(matchId, userId);
      } catch (error) {
        if (!(error instanceof StateNeeded)) throw error;
        withoutState = error;
      }
    }
    if (withoutState) throw withoutState;
  }
}

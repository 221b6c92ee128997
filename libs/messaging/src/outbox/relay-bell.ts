/**
 * Wakes the outbox relays of this process after a commit that wrote messages. Each listener gets the destinations of the
 * messages.
 */
export class RelayBell {
  private readonly listeners: ((destinations: ReadonlySet<string>) => void)[] = [];

  onRing(listener: (destinations: ReadonlySet<string>) => void): void {
    this.listeners.push(listener);
  }

  ring(destinations: ReadonlySet<string>): void {
    for (const listener of this.listeners) listener(destinations);
  }
}

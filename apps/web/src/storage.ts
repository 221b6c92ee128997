/** A browser may refuse storage (private mode, blocked cookies): the page then remembers until it is closed. */
class Store {
  private readonly memory = new Map<string, string>();

  constructor(private readonly backing: () => Storage) {}

  read(name: string): string | undefined {
    try {
      return this.backing().getItem(name) ?? undefined;
    } catch {
      return this.memory.get(name);
    }
  }

  write(name: string, value: string): void {
    try {
      this.backing().setItem(name, value);
    } catch {
      this.memory.set(name, value);
    }
  }

  remove(name: string): void {
    this.memory.delete(name);
    try {
      this.backing().removeItem(name);
    } catch {
      // Nothing was stored there.
    }
  }
}

export const storage = { local: new Store(() => localStorage), session: new Store(() => sessionStorage) };

/**
 * Browser storage that never throws. If the browser refuses storage (private mode, blocked cookies), values are kept in memory
 * until the page is closed.
 */
class SafeStorage {
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
      // The browser refuses storage, so there is nothing to remove from it.
    }
  }
}

/** Local storage (kept) and session storage (kept until the tab is closed) of the browser. */
export const storage = { local: new SafeStorage(() => localStorage), session: new SafeStorage(() => sessionStorage) };

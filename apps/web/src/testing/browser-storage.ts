/** A fake of the browser's storage with the methods that the page uses. */
class FakeStorage implements Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  private readonly items = new Map<string, string>();
  getItem = (name: string): string | null => this.items.get(name) ?? null;
  setItem = (name: string, value: string): void => void this.items.set(name, value);
  removeItem = (name: string): void => void this.items.delete(name);
}

/** Installs empty local and session storage. `newTab` empties the session storage, as in a newly opened tab. */
export function installFakeStorage(): { newTab(): void } {
  const set = (name: 'localStorage' | 'sessionStorage', value: FakeStorage) =>
    Object.defineProperty(globalThis, name, { value, configurable: true });
  set('localStorage', new FakeStorage());
  set('sessionStorage', new FakeStorage());
  return { newTab: () => set('sessionStorage', new FakeStorage()) };
}

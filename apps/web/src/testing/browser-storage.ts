/** What a browser keeps: enough of Storage for the page. */
class FakeStorage implements Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  private readonly items = new Map<string, string>();
  getItem = (name: string): string | null => this.items.get(name) ?? null;
  setItem = (name: string, value: string): void => void this.items.set(name, value);
  removeItem = (name: string): void => void this.items.delete(name);
}

/** A browser without anything remembered. A tab that is opened anew has an empty session storage. */
export function openBrowser(): { newTab(): void } {
  const set = (name: 'localStorage' | 'sessionStorage', value: FakeStorage) =>
    Object.defineProperty(globalThis, name, { value, configurable: true });
  set('localStorage', new FakeStorage());
  set('sessionStorage', new FakeStorage());
  return { newTab: () => set('sessionStorage', new FakeStorage()) };
}

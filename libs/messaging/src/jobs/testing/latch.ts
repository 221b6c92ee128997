/** Makes a promise that a job handler awaits until the test calls `release`. */
export function openLatch(): { released: Promise<void>; release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release };
}

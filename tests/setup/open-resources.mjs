// What keeps this process alive. Timers that are `unref`ed, and sockets of `fetch` that wait idle for the next request, do not.

/** How long a file's last sockets may take to close. A file that leaves nothing open does not wait. */
const PATIENCE_MS = 2_000;

/** How many there are of each type, such as TCPSocketWrap, TCPServerWrap, ProcessWrap and Timeout. */
export function openResources() {
  const counts = new Map();
  for (const type of process.getActiveResourcesInfo()) {
    // The wait below makes one itself.
    if (type !== 'Immediate') counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

/** What is open now and was not `before`, as text like `2 TCPSocketWrap`; empty as soon as nothing is. */
export async function leftOpen(before, patienceMs = PATIENCE_MS) {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const left = [...openResources()]
      .map(([type, count]) => [type, count - (before.get(type) ?? 0)])
      .filter(([, more]) => more > 0);
    if (left.length === 0 || performance.now() > giveUpAt) return left.map(([type, more]) => `${more} ${type}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // The timer counts as active until its callback has returned.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

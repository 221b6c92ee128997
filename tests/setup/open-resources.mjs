// What keeps this process alive. Timers that are `unref`ed, and sockets of `fetch` that wait idle for the next request, do not.

/**
 * A file's last sockets may take a moment to close, and ioredis keeps a timer of 2 s for a connection that a test closes while it
 * reconnects. We look this often, 20 ms apart, so at least three seconds, and longer on a busy machine. A file that leaves nothing
 * open does not wait.
 */
const LOOKS = 150;
const POLL_EVERY_MS = 20;

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
export async function leftOpen(before) {
  let left = openedSince(before);
  for (let look = 0; look < LOOKS && left.length > 0; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
    // The timer counts as active until its callback has returned.
    await new Promise((resolve) => setImmediate(resolve));
    left = openedSince(before);
  }
  return left;
}

function openedSince(before) {
  return [...openResources()]
    .map(([type, count]) => [type, count - (before.get(type) ?? 0)])
    .filter(([, more]) => more > 0)
    .map(([type, more]) => `${more} ${type}`);
}

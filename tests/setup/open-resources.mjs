// Counts the resources that keep this process alive. Timers with `unref` and idle keep-alive sockets of `fetch` do not count.

/**
 * How often we check for open resources. The last sockets of a test file may need a moment to close, and ioredis keeps a timer of 2 s for
 * a connection that a test closes while it reconnects. So we check up to 150 times, 20 ms apart: at least three seconds, more on a busy
 * machine. A test file that leaves no resource open does not wait.
 */
const MAX_CHECKS = 150;
const CHECK_INTERVAL_MS = 20;

/** Number of open resources of each type, such as TCPSocketWrap, TCPServerWrap, ProcessWrap and Timeout. */
export function openResources() {
  const counts = new Map();
  for (const type of process.getActiveResourcesInfo()) {
    // Immediates do not count, because waitForLeaksToClose itself creates one.
    if (type !== 'Immediate') counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

/** Waits for resources that were not open `before` to close. Returns those that stay open, as text like `2 TCPSocketWrap`. */
export async function waitForLeaksToClose(before) {
  let leaks = openedSince(before);
  for (let check = 0; check < MAX_CHECKS && leaks.length > 0; check += 1) {
    await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL_MS));
    // The timer of the pause counts as active until its callback has returned, so continue after the callback.
    await new Promise((resolve) => setImmediate(resolve));
    leaks = openedSince(before);
  }
  return leaks;
}

function openedSince(before) {
  return [...openResources()]
    .map(([type, count]) => [type, count - (before.get(type) ?? 0)])
    .filter(([, more]) => more > 0)
    .map(([type, more]) => `${more} ${type}`);
}

/**
 * Calls `wake` when the network returns or the page becomes visible, so that a connection need not wait for its next retry.
 * Returns a function that removes the listeners.
 */
export function onWake(wake: () => void): () => void {
  const wakeIfVisible = () => {
    if (document.visibilityState !== 'hidden') wake();
  };
  addEventListener('online', wakeIfVisible);
  document.addEventListener('visibilitychange', wakeIfVisible);
  return () => {
    removeEventListener('online', wakeIfVisible);
    document.removeEventListener('visibilitychange', wakeIfVisible);
  };
}

/** Calls back when the network has returned or the page is seen again: no reason to sit out a rest. */
export function onWake(wake: () => void): () => void {
  const look = () => {
    if (document.visibilityState !== 'hidden') wake();
  };
  addEventListener('online', look);
  document.addEventListener('visibilitychange', look);
  return () => {
    removeEventListener('online', look);
    document.removeEventListener('visibilitychange', look);
  };
}

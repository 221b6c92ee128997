/** Settles like `work`. If that takes longer than `timeoutMs`, resolves to what `whenLate` returns, or rejects if it throws. */
export function withinTime<T, L>(work: Promise<T>, timeoutMs: number, whenLate: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs))).then(whenLate);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

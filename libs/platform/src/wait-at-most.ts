/** Waits for `work`, at most `ms`. Resolves to `otherwise` when `work` takes longer; `work` goes on. */
export function waitAtMost<T, U>(ms: number, work: Promise<T>, otherwise: U): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<U>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

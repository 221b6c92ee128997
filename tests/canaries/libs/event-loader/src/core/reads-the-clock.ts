// rejected by house(no-clock): the core of the event loader reads the clock
export const now = (): number => performance.now();

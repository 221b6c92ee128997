// rejected by house(no-clock): a use case reads the clock
export const now = (): number => Date.now();

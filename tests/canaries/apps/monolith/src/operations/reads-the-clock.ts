// rejected by house(no-clock): a use case of a context without layers takes the time from the Clock
export const openedAt = (): Date => new Date();

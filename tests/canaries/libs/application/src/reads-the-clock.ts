// rejected by house(no-clock): libs/application reads the clock
export const now = (): Date => new Date();

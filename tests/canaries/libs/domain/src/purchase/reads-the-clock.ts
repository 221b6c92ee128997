// rejected by house(no-clock): libs/domain reads the clock
export const isOver = (until: number): boolean => new Date().getTime() > until;

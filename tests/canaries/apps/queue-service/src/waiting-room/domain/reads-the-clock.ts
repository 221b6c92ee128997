// rejected by house(no-clock): the rules of a context read the clock
export const isOver = (until: number): boolean => new Date().getTime() > until;

// rejected by house(no-clock): the domain folder of a context reads the clock
export const isOver = (until: number): boolean => new Date().getTime() > until;

// rejected by eslint(no-restricted-properties): the domain rolls dice
export const seat = (count: number): number => Math.floor(Math.random() * count);

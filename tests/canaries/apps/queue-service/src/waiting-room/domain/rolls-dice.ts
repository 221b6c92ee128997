// rejected by eslint(no-restricted-properties): the rules of a context roll dice
export const position = (count: number): number => Math.floor(Math.random() * count);

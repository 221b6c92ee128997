// rejected by eslint(no-restricted-properties): the domain folder of a context uses random numbers
export const position = (count: number): number => Math.floor(Math.random() * count);

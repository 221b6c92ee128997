// rejected by eslint(no-restricted-properties): the domain folder of a context uses random numbers
export const randomNumber = (): number => Math.random();

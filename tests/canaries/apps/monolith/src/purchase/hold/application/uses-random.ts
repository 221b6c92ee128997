// rejected by eslint(no-restricted-properties): a use case of a feature uses random numbers
export const randomNumber = (): number => Math.random();

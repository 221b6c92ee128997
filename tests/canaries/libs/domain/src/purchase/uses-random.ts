// rejected by eslint(no-restricted-properties): libs/domain uses random numbers
export const seat = (count: number): number => Math.floor(Math.random() * count);

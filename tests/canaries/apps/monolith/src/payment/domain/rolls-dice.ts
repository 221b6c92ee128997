// rejected by eslint(no-restricted-properties): the domain of one context rolls dice
export const dice = (): number => Math.random();

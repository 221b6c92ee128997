// rejected by eslint(no-restricted-properties): a use case of a context without layers takes chance as an argument
export const lot = (): number => Math.random();

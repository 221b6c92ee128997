// rejected by unicorn(filename-case): a file name that is not kebab-case
export const name = 1;

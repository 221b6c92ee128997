// rejected by unicorn(filename-case): one spelling of names
export const name = 1;

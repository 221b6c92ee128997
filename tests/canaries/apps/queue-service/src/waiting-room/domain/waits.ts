// rejected by eslint(no-restricted-globals): the rules of a context wait
export const wait = (done: () => void): unknown => setTimeout(done, 1);

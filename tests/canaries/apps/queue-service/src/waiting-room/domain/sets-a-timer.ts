// rejected by eslint(no-restricted-globals): the domain folder of a context sets a timer
export const wait = (done: () => void): unknown => setTimeout(done, 1);

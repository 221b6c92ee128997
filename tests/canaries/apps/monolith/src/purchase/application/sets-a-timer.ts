// rejected by eslint(no-restricted-globals): a use case sets a timer
export const schedule = (work: () => void): unknown => setTimeout(work, 1_000);

// rejected by eslint(no-restricted-globals): a use case waits
export const later = (work: () => void): unknown => setTimeout(work, 1_000);

// rejected by eslint(no-restricted-globals): a use case of a feature waits
export const later = (work: () => void): unknown => setTimeout(work, 1_000);

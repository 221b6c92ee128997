// rejected by eslint(no-restricted-globals): a use case of a context without layers does not wait
export const soon = (act: () => void): unknown => setTimeout(act, 1000);

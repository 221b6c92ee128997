// rejected by eslint(no-warning-comments): a TODO comment instead of an issue
// TODO: think
export const thought = 1;

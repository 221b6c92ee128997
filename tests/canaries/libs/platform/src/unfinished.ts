// rejected by eslint(no-warning-comments): what is to be done belongs into an issue
// TODO: think
export const thought = 1;

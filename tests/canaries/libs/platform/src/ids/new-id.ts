// legal
export const newId = 1;

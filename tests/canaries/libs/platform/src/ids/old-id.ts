// legal
export const oldId = 2;

// legal
export const now = (): Date => new Date(Date.now());

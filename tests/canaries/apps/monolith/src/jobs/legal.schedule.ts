// legal
export const startedAt = (): number => Date.now();
export const soon = (act: () => void): unknown => setTimeout(act, 1000);

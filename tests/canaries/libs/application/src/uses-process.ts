// rejected by eslint(no-restricted-globals): libs/application uses the global process
export const pid = (): number => process.pid;

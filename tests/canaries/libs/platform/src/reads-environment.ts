// rejected by node(no-process-env): an environment variable is read outside of config
export const port = process.env.PORT;

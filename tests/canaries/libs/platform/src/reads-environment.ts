// rejected by node(no-process-env): settings are read once, by config
export const port = process.env.PORT;

// rejected by eslint(no-restricted-globals): every outgoing call goes through callHttp
export const status = async (url: string): Promise<number> => (await fetch(url)).status;

// rejected by import(no-default-export): a default export, which every import may name differently
export default 1;

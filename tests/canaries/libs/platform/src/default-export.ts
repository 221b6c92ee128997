// rejected by import(no-default-export): an import may call it what it likes
export default 1;

// rejected by eslint(no-console): a message is written to the console instead of the logger
console.log('here');

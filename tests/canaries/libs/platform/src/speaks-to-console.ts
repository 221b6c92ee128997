// rejected by eslint(no-console): logs go through the logger
console.log('here');

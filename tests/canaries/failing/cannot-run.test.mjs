throw new Error('this file cannot run');

process.argv[2] = 'post';
await import('./action.js');

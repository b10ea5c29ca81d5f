import { runAction } from './action-program.js';
process.exit(await runAction(process, 'post', true));

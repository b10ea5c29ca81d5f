/**
 * `assert` for bundled packages. Node composes the message of a failed assertion by parsing the file that contains it, which
 * blocks the event loop for seconds if that file is a bundle.
 */
const assert = require('node:assert');

const plainly = (value, message = 'an internal check failed') => assert(value, message);

module.exports = Object.assign(plainly, assert, { ok: plainly });

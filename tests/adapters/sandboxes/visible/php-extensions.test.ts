import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { phpExtensions } from '../../../../src/adapters/sandboxes/visible/etc-folder.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';

test('commands see which extensions PHP loads, and no other setting of it', () => {
  const etc = tempFolder({
    'php/8.2/cli/php.ini': 'smtp_password = hunter2\n',
    'php/8.2/cli/conf.d/10-opcache.ini': 'zend_extension=opcache.so\nopcache.enable=1\n',
    'php/8.2/cli/conf.d/README': 'extension=readme.so\n',
    'php/8.2/mods-available/dom.ini': '; configuration\n; priority=20\nextension=dom.so\n',
    'php/8.2/mods-available/agent.ini': 'extension = "agent.so"\nagent.license = "0123456789abcdef"\n',
  });
  symlinkSync(join(etc, 'php/8.2/mods-available/dom.ini'), join(etc, 'php/8.2/cli/conf.d/20-dom.ini'));
  symlinkSync(join(etc, 'php/8.2/mods-available/agent.ini'), join(etc, 'php/8.2/cli/conf.d/20-agent.ini'));
  symlinkSync(join(etc, 'none'), join(etc, 'php/8.2/cli/conf.d/30-gone.ini'));
  expect(phpExtensions(etc).sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { name: 'php/8.2/cli/conf.d/10-opcache.ini', text: 'zend_extension=opcache.so\n' },
    { name: 'php/8.2/cli/conf.d/20-agent.ini', text: 'extension = "agent.so"\n' },
    { name: 'php/8.2/cli/conf.d/20-dom.ini', text: 'extension=dom.so\n' },
  ]);
  expect(phpExtensions(tempFolder({}))).toEqual([]);
});

import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { defaultText, settingEntries } from '../../src/config/schema.ts';
import { tempFolder } from '../support/files/temp-folder.ts';
import { sourcesHere } from '../support/runs/from-sources.ts';

test.each(COMMANDS.map((command) => [command.name, command] as const))(
  'help %s names every setting that it takes with its default, and no other',
  async (name, { settings, settingsWith = {}, switches, output }) => {
    const taken = [...settings, ...Object.values(settingsWith).flat()];
    const cwd = tempFolder();
    // Where words are not broken.
    const env = { COLUMNS: '110' };
    const page = await sourcesHere(['help', name], { cwd, env });
    expect({ ...page, stdout: '' }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    // Long defaults break onto several lines.
    const flat = page.stdout.replace(/\s+/g, ' ');
    for (const entry of settingEntries()) {
      const ofRun = { value: entry.value, help: entry.help, initial: defaultText(entry) };
      const { value, help, initial } = entry.key === 'output' && output ? output : ofRun;
      const from = flat.indexOf(`--${entry.flag} ${value ? `${value} ` : ''}${help}`);
      expect(from > 0, entry.flag).toBe(taken.includes(entry.key));
      if (from < 0) continue;
      const shown = flat.slice(from, from + 400);
      expect(shown).toContain(`[default: ${initial}]`);
    }
    for (const flag of Object.keys(switches)) expect(flat).toContain(`--${flag} `);
    expect(flat).toContain('124 deadline');
  },
);

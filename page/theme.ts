/** Light or dark: follows the system until the reader chooses. */

import { h } from './dom.ts';

const KEY = 'patchsmith-theme';

/** A button that switches between them. The choice is stored, if the browser stores anything for files. */
export function themeButton(): HTMLElement {
  const { documentElement: root } = document;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const stored = recall();
  if (stored !== null) root.dataset.theme = stored;
  const button = h('button', { type: 'button', class: 'theme' });
  const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const name = () => {
    button.textContent = isDark() ? 'Light theme' : 'Dark theme';
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    keep(root.dataset.theme);
    name();
  });
  system.addEventListener('change', name);
  name();
  return button;
}

function recall(): string | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'dark' || stored === 'light' ? stored : null;
  } catch {
    return null;
  }
}

function keep(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice lasts until the page is closed.
  }
}

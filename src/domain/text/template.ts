/** Fills `{{name}}` places of a prompt. */

/** Throws if a place has no value or a value has no place: both are our own bugs. Values are inserted unchanged. */
export function render(template: string, values: Readonly<Record<string, string>>): string {
  const used = new Set<string>();
  const text = template.replace(/\{\{([a-z_]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The prompt has a place {{${name}}} but no value for it.`);
    used.add(name);
    return value;
  });
  const unused = Object.keys(values).filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`The prompt has no place for: ${unused.join(', ')}.`);
  return text.trimEnd();
}

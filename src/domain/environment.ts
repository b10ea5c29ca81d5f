/** Variables by name, as a process has them in its environment. */
export type Environment = Readonly<Record<string, string | undefined>>;
